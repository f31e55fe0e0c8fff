"""A data directory that was copied or moved, started on the engine of the original: `carrel up` on real containers."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from carrel.db.embedded import Embedded
from e2e.running import CARREL, UP_S, keypair, purge, two_free_ports

SMALL = ("--image", "starter", "--cpu", "0.1", "--mem", "256m")


class Place:
    """One data directory, and the command line in it. Nothing but the directory says which installation it is."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.port = two_free_ports()
        self._environment = {n: v for n, v in os.environ.items() if not n.startswith("CARREL_")}
        self._environment |= {
            "XDG_CONFIG_HOME": str(data_dir.parent / "config"),
            "CARREL_APP_LAYER": "false",
        }

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(CARREL), *words],
            env=self._environment,
            text=True,
            capture_output=True,
            timeout=UP_S,
            check=False,
        )

    def command(self, name: str, *options: str) -> "subprocess.CompletedProcess[str]":
        return self.run(name, "--data-dir", str(self.data_dir), *options)

    def up(self, *options: str) -> "subprocess.CompletedProcess[str]":
        return self.command("up", "--port", str(self.port), "--detach", "--yes", *options)

    def sign_in(self) -> None:
        url = f"http://localhost:{self.port}"
        self._environment |= {
            "CARREL_URL": url,
            **keypair(url, (self.data_dir / "admin-password").read_text()),
        }

    def states(self) -> dict[str, str]:
        """Name -> state of every session, ended ones too; of several with one name, the newest."""
        listed = self.run("session", "ls", "--all", "-o", "json")
        assert listed.returncode == 0, listed.stderr
        return {one["name"]: one["state"] for one in reversed(json.loads(listed.stdout)["items"])}

    def inside(self, session: str, script: str) -> str:
        done = self.run("session", "exec", session, "--", "sh", "-c", script)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def label(self) -> str:
        embedded = Embedded(self.data_dir / "postgres")
        embedded.start()
        with psycopg.connect(embedded.url) as connection:
            row = connection.execute("SELECT label FROM site").fetchone()
        assert row is not None
        return str(row[0])


@pytest.fixture
def original() -> Iterator[Place]:
    """An installation that runs; it, its copies beside it and their labels are taken away afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="carrel-copies-"))
    folder.chmod(0o711)
    place = Place(folder / "original")
    try:
        assert_well(place.up())
        place.sign_in()
        yield place
    finally:
        labels = set()
        for each in (one.parent for one in folder.glob("*/postgres")):
            left = Place(each)
            labels.add(left.label())
            left.command("down")
            Embedded(each / "postgres").stop()
        for label in labels:
            purge(label)
        shutil.rmtree(folder, ignore_errors=True)


def assert_well(done: "subprocess.CompletedProcess[str]") -> None:
    assert done.returncode == 0, done.stdout + done.stderr


def copied(original: Place, name: str) -> Place:
    """A copy of the whole data directory, made while the control plane is stopped and its sessions run."""
    stopped = original.command("down")
    assert_well(stopped)
    assert "1 session goes on" in stopped.stdout
    copy = Place(original.data_dir.with_name(name))
    subprocess.run(["cp", "-a", original.data_dir, copy.data_dir], check=True)
    return copy


def test_a_copy_touches_nothing_of_the_original(original: Place) -> None:
    assert_well(original.run("session", "create", "--name", "live", *SMALL, "--wait"))
    original.inside("live", "echo mine > kept; nohup sleep 1000 >/dev/null 2>&1 &")
    copy = copied(original, "copy")

    # 1. Neither a plain start nor one that says that it was moved is let in, whether the original runs or not.
    refused = copy.up()
    assert refused.returncode == 2
    assert "setup.claimed" in refused.stderr
    assert f"{original.data_dir} on" in refused.stderr
    assert "--as-copy" in refused.stderr
    assert_well(original.up())
    adopting = copy.up("--adopt")
    assert adopting.returncode == 2
    assert "setup.original_runs" in adopting.stderr

    # 2. As a copy it runs beside it, and holds the session no more.
    assert_well(copy.up("--as-copy"))
    copy.sign_in()
    assert copy.states() == {"live": "TERMINATED"}
    assert_well(copy.run("session", "create", "--name", "live", *SMALL, "--wait"))
    assert copy.inside("live", "ls") == ""
    assert copy.label() != original.label()
    assert copy.states() == {"live": "RUNNING"}

    # 3. It ends, with all that it had; the original's session never noticed.
    assert_well(copy.run("session", "rm", "live", "--wait", "--yes"))
    assert "are removed too" in copy.command("down").stdout
    assert original.states() == {"live": "RUNNING"}
    assert original.inside("live", "cat kept; pgrep -c sleep") == "mine\n1"


def test_an_installation_that_was_moved_takes_its_sessions_over(original: Place) -> None:
    assert_well(original.run("session", "create", "--name", "live", *SMALL, "--wait"))
    assert_well(original.run("vfolder", "create", "papers"))
    original.inside("live", "echo mine > kept")
    stopped = original.command("down")
    assert_well(stopped)
    moved = Place(original.data_dir.with_name("moved"))
    original.data_dir.rename(moved.data_dir)
    assert "setup.claimed" in moved.up().stderr
    assert_well(moved.up("--adopt"))
    moved.sign_in()
    assert moved.states() == {"live": "RUNNING"}
    assert moved.inside("live", "cat kept") == "mine"
    # Its folders moved along.
    (moved.data_dir / "page").write_text("text")
    assert_well(moved.run("vfolder", "upload", "papers", str(moved.data_dir / "page")))
    assert_well(moved.run("session", "rm", "live", "--wait", "--yes"))
    assert_well(moved.command("down"))
    assert_well(moved.up())


def test_what_is_restored_runs_beside_the_original_or_takes_its_place(original: Place) -> None:
    assert_well(original.run("session", "create", "--name", "live", *SMALL, "--wait"))
    original.inside("live", "echo mine > kept")
    backup = original.data_dir.with_name("backup")
    assert_well(original.command("backup", str(backup)))
    copy, heir = (Place(original.data_dir.with_name(name)) for name in ("copy", "heir"))
    for place in (copy, heir):
        assert_well(place.command("restore", str(backup)))

    # 1. Beside the original, which goes on: nothing of it is touched.
    assert_well(copy.up("--as-copy"))
    copy.sign_in()
    assert copy.states() == {"live": "TERMINATED"}
    assert_well(copy.command("down"))
    assert original.inside("live", "cat kept") == "mine"

    # 2. In its place, once it is stopped.
    assert_well(original.command("down"))
    assert_well(heir.up("--adopt"))
    heir.sign_in()
    assert heir.states() == {"live": "RUNNING"}
    assert heir.inside("live", "cat kept") == "mine"
    assert_well(heir.run("session", "rm", "live", "--wait", "--yes"))
