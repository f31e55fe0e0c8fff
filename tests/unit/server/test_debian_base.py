"""What a build of the Debian base leaves behind if it is killed, with a stand-in for mmdebstrap."""

import asyncio
import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from people import eventually, wait_until

from carrel.server.bootstrap import debian
from carrel.server.bootstrap.progress import ProgressLines

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="others neither mount here nor give files away")

# As the real one: what it mounts in a directory of its own, it removes when it is asked to end.
MMDEBSTRAP = """#!/bin/bash
root=$(mktemp -d -t mmdebstrap.XXXXXXXXXX)
mkdir $root/proc
mount -t tmpfs carrel-stand-in $root/proc
touch $root/proc/mounted
trap 'umount $root/proc; rm -r $root; kill %1; exit 1' TERM
sleep 600 &
echo $$ > $PID_FILE.new
mv $PID_FILE.new $PID_FILE
wait
"""
BUILD = """
import asyncio, io
from carrel.server.bootstrap import debian
from carrel.server.bootstrap.progress import ProgressLines
asyncio.run(debian.write_build_context(io.BytesIO(), mirror="http://x", shown=ProgressLines(print, "")))
"""


class Build:
    def __init__(self, folder: Path) -> None:
        self.folder = folder / "tmp"
        self.folder.mkdir()
        programs = folder / "bin"
        programs.mkdir()
        (programs / "mmdebstrap").write_text(MMDEBSTRAP)
        (programs / "mmdebstrap").chmod(0o755)
        pid_file = folder / "pid"
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "TMPDIR": str(self.folder), "PID_FILE": str(pid_file)}
        self._process = subprocess.Popen(
            [sys.executable, "-c", BUILD], env=environment, stdout=subprocess.DEVNULL
        )
        wait_until(pid_file.exists)
        self.mmdebstrap = psutil.Process(int(pid_file.read_text()))

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def left(self) -> list[Path]:
        debian.remove_leftovers(self.folder)
        return list(self.folder.iterdir())

    def end(self) -> None:
        self.kill()
        wait_until(lambda: not self.mmdebstrap.is_running())


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    build = Build(tmp_path)
    yield build
    build.end()


@only_root
def test_a_build_that_runs_is_not_touched(build: Build) -> None:
    [folder] = build.left()
    assert folder.name.startswith("carrel-debian-")
    assert list(folder.glob("mmdebstrap.*/proc"))


@only_root
def test_a_killed_build_has_its_program_clean_up(build: Build) -> None:
    [folder] = build.folder.iterdir()
    build.kill()
    wait_until(lambda: not build.mmdebstrap.is_running())
    assert not list(folder.glob("mmdebstrap.*"))
    assert build.left() == []


@only_root
def test_nothing_stays_mounted_if_everything_is_killed(build: Build) -> None:
    [root] = build.folder.glob("carrel-debian-*/mmdebstrap.*")
    children = build.mmdebstrap.children()
    for process in (build.mmdebstrap, *children):
        process.kill()
    build.kill()
    assert "carrel-stand-in" not in Path("/proc/mounts").read_text()
    assert root.exists()
    wait_until(lambda: build.left() == [])


@only_root
def test_directories_of_others_are_not_touched(tmp_path: Path) -> None:
    for name in ("mmdebstrap.abcdefghij", "carrel-debian-of-another-user"):
        (tmp_path / name).mkdir()
    os.chown(tmp_path / "carrel-debian-of-another-user", 1000, 1000)
    (tmp_path / "carrel-debian-link").symlink_to(tmp_path / "mmdebstrap.abcdefghij")
    debian.remove_leftovers(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


async def test_a_cancelled_build_ends_though_its_program_complains_a_lot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = tmp_path / "begun"
    program = tmp_path / "mmdebstrap"
    program.write_text(
        "#!/bin/bash\ntrap 'yes | head -c 1000000 >&2; kill %1; exit 1' TERM\n"
        f"sleep 600 2>&- & touch {begun}; wait\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    lines = ProgressLines(print, "")
    writing = asyncio.create_task(debian.write_build_context(io.BytesIO(), mirror="http://x", shown=lines))
    await eventually(begun.exists)
    writing.cancel()
    async with asyncio.timeout(20):
        await asyncio.wait([writing])
    assert writing.cancelled()


def test_a_directory_that_another_process_deletes_meanwhile_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "carrel-debian-killed").mkdir()
    monkeypatch.setattr(
        Path, "glob", lambda *_: (tmp_path / f"carrel-debian-{end}" for end in ("gone", "killed"))
    )
    debian.remove_leftovers(tmp_path)
    assert list(tmp_path.iterdir()) == []
