"""Plain directories do what every storage does also for a server that is not root, beside sessions of another user."""

import os
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import pytest
from storage_kit import OfRoot

from carrel.storage.conformance import StorageConformance
from carrel.storage.conformance_kit import as_session, made, refused, rooted, silent
from carrel.storage.conformance_more import RescopeConformance
from carrel.storage.port import StorageUnusable
from carrel.storage.posix import PosixBackend
from carrel.storage.zips import write_zip

SERVER = 4321
STRANGER = 5555


@contextmanager
def not_root() -> Iterator[None]:
    """Be the server's user, without a group or a capability of root's."""
    if os.geteuid() != 0:
        pytest.skip("only root may become somebody else")
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(SERVER)
    os.seteuid(SERVER)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


@pytest.fixture
def tmp_path(open_dir: Path) -> Iterator[Path]:
    """A directory of the server's user (pytest's own cannot be entered by others)."""
    folder = open_dir / "unprivileged"
    folder.mkdir()
    os.chown(folder, SERVER, SERVER)
    yield folder
    subprocess.run(["rm", "-rf", folder], check=True)


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[OfRoot]:
    with not_root():
        yield OfRoot(PosixBackend, tmp_path / "root")


class TestUnprivilegedStorage(StorageConformance, RescopeConformance):
    pass


def test_a_session_and_the_server_share_what_either_makes(harness: OfRoot) -> None:
    here = made(harness)
    files, stage = harness.backend.files(here), harness.backend.stage(here)
    assert as_session(files, "umask 022; mkdir -p a/b && echo theirs >a/b/file").returncode == 0
    (files / "a" / "b" / "ours").write_text((files / "a" / "b" / "file").read_text())
    assert as_session(files, "cat a/b/ours && echo more >>a/b/ours && rm a/b/ours").stdout == b"theirs\n"
    (stage / "upload").write_text("up")
    os.rename(stage / "upload", files / "upload")
    assert as_session(files, "echo down >>upload && cat upload").stdout == b"updown\n"
    harness.backend.remove(here, silent)
    assert list(harness.backend.places()) == []


def test_nobody_else_gets_in(harness: OfRoot) -> None:
    files = harness.backend.files(made(harness))
    as_session(files, "umask 0; echo x >file; mkdir open")
    with rooted():
        done = subprocess.run(
            ["sh", "-c", "cat file; ls; touch new; ls open"],
            cwd=files,
            user=STRANGER,
            group=STRANGER,
            extra_groups=[],
            capture_output=True,
            check=False,
        )
    assert done.stdout == b""
    assert done.stderr.count(b"Permission denied") == 4


def test_what_a_session_made_private_is_named(harness: OfRoot) -> None:
    here = made(harness)
    as_session(harness.backend.files(here), "mkdir -m 700 'my secrets' && echo x >'my secrets/key'")
    for error in (
        refused(StorageUnusable, harness.backend.measure, here),
        refused(StorageUnusable, harness.backend.remove, here, silent),
    ):
        assert "'my secrets'" in error.message
        assert "chmod -R ug+rwX" in error.message


def test_what_a_session_made_private_is_missing_from_a_zip_and_nothing_else(harness: OfRoot) -> None:
    files = harness.backend.files(made(harness))
    names = [f"top/d{number}" for number in range(6)]
    as_session(
        files,
        f"mkdir -p {' '.join(names)} top/d1/inner && for d in top/* top/d1/inner; do echo x >$d/file; done",
    )
    as_session(files, "chmod 700 top/d3 top/d1/inner")
    pieces: list[bytes] = []
    write_zip(files, ["top"], "folder", pieces.append)
    with rooted(), zipfile.ZipFile(BytesIO(b"".join(pieces))) as file:
        there = {name for name in file.namelist() if name.endswith("file")}
        errors = file.read("ERRORS.txt").decode().splitlines()
    assert there == {f"{name}/file" for name in names} - {"top/d3/file"}
    assert sorted(line.split(":")[0] for line in errors) == ["top/d1/inner", "top/d3"]


def test_without_acls_it_says_so_at_once(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "ramfs", "none", disk], check=True)
    try:
        os.chown(disk, SERVER, SERVER)
        disk.chmod(0o700)
        with not_root():
            assert "POSIX ACLs" in refused(StorageUnusable, PosixBackend(disk).probe).message
        assert os.listdir(disk) == []
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_root_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir(mode=0o700)
    with not_root():
        assert "may not enter" in refused(StorageUnusable, PosixBackend(tmp_path / "root").probe).message
    (tmp_path / "root").chmod(0o755)
    with not_root():
        assert "may not write" in refused(StorageUnusable, PosixBackend(tmp_path / "root").probe).message
        assert "cannot be created" in refused(StorageUnusable, PosixBackend(Path("/new")).probe).message
