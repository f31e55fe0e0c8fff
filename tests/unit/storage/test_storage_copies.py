"""Copies are what they were made from, of nothing outside, and end whole or nowhere to be seen."""

import errno
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from crash.small_disk import small_tmpfs
from deep_directory import deep_directory

from carrel.storage import extents, pace
from carrel.storage.conformance_kit import deepen, killed, plant, silent
from carrel.storage.copies import copy_entry, copy_tree
from carrel.storage.port import WORK_UID, Advance, StorageError

MIB = 1 << 20


@contextmanager
def handles(*paths: Path) -> Iterator[tuple[int, ...]]:
    opened = tuple(os.open(path, os.O_RDONLY | os.O_DIRECTORY) for path in paths)
    try:
        yield opened
    finally:
        for handle in opened:
            os.close(handle)


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Path]:
    with deep_directory(tmp_path / "source") as source:
        yield source


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Path]:
    with deep_directory(tmp_path / "stage") as stage:
        yield stage


def copied(source: Path, stage: Path) -> Path:
    with handles(source, stage) as (inner, above):
        copy_tree(inner, above, "copy", silent)
    return stage / "copy"


def test_a_copy_has_bytes_modes_times_attributes_and_links(source: Path, stage: Path) -> None:
    (source / "a" / "b").mkdir(parents=True)
    (source / "a" / "run").write_text("#!/bin/sh\n")
    (source / "a" / "run").chmod(0o750)
    os.setxattr(source / "a" / "run", "user.note", b"mine")
    os.link(source / "a" / "run", source / "a" / "b" / "again")
    os.link(source / "a" / "run", source / "third")
    (source / "away").symlink_to("/etc/passwd")
    (source / "empty").touch()
    os.utime(source / "a" / "run", ns=(5_000_000_001, 7_000_000_003))
    os.utime(source / "away", ns=(1, 9_000_000_009), follow_symlinks=False)
    (source / "a").chmod(0o711)
    os.utime(source / "a", ns=(1, 8_000_000_008))
    copy = copied(source, stage)
    assert sorted(os.listdir(copy)) == ["a", "away", "empty", "third"]
    run = (copy / "a" / "run").stat()
    assert (copy / "a" / "run").read_text() == "#!/bin/sh\n"
    assert (stat.S_IMODE(run.st_mode), run.st_mtime_ns, run.st_nlink) == (0o750, 7_000_000_003, 3)
    assert os.getxattr(copy / "a" / "run", "user.note") == b"mine"
    assert {(copy / "a" / "b" / "again").stat().st_ino, (copy / "third").stat().st_ino} == {run.st_ino}
    assert os.readlink(copy / "away") == "/etc/passwd"
    assert (copy / "away").lstat().st_mtime_ns == 9_000_000_009
    assert (stat.S_IMODE((copy / "a").stat().st_mode), (copy / "a").stat().st_mtime_ns) == (
        0o711,
        8_000_000_008,
    )
    if os.geteuid() == 0:
        owners = {os.lstat(path).st_uid for path in (copy, copy / "a", copy / "a" / "run", copy / "away")}
        assert owners == {WORK_UID}


def test_a_copy_is_nobodys_way_to_more_rights(source: Path, stage: Path) -> None:
    (source / "suid").touch()
    (source / "suid").chmod(0o6755)
    assert stat.S_IMODE((copied(source, stage) / "suid").stat().st_mode) == 0o755


def test_holes_stay_holes(source: Path, stage: Path) -> None:
    with (source / "sparse").open("wb") as file:
        file.truncate(1 << 30)
        file.seek(512 * MIB)
        file.write(b"middle")
    copy = copied(source, stage) / "sparse"
    assert copy.stat().st_size == 1 << 30
    assert copy.stat().st_blocks * 512 < MIB
    with copy.open("rb") as file:
        file.seek(512 * MIB)
        assert file.read(6) == b"middle"


@pytest.mark.parametrize("lacks", ["nothing", "ranges", "holes"])
def test_bytes_come_over_whatever_the_file_system_can(
    source: Path, stage: Path, monkeypatch: pytest.MonkeyPatch, lacks: str
) -> None:
    def cannot(*_: object) -> int:
        raise OSError(errno.EXDEV if lacks == "ranges" else errno.EINVAL, "cannot")

    monkeypatch.setattr(extents, "_CHUNK", 70_000)
    if lacks == "ranges":
        monkeypatch.setattr(os, "copy_file_range", cannot)
    if lacks == "holes":
        monkeypatch.setattr(os, "lseek", _lseek_without_holes)
    content = os.urandom(300_001)
    (source / "file").write_bytes(content)
    assert (copied(source, stage) / "file").read_bytes() == content


_lseek = os.lseek


def _lseek_without_holes(handle: int, offset: int, whence: int) -> int:
    if whence in (os.SEEK_DATA, os.SEEK_HOLE):
        raise OSError(errno.EINVAL, "no holes here")
    return _lseek(handle, offset, whence)


def test_nasty_things_are_left_out_or_copied_as_they_are(source: Path, stage: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    plant(source, outside)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(source / "socket"))
    copy = copied(source, stage)
    kept = set(os.listdir(os.fsencode(source))) - {b"pipe", b"socket"}
    assert set(os.listdir(os.fsencode(copy))) == kept
    assert os.readlink(copy / "to-directory") == str(outside)
    assert (copy / "one more name").stat().st_nlink == 2


def test_a_file_with_as_many_names_as_may_be(source: Path, stage: Path) -> None:
    (source / "first").write_text("x")
    made = 1
    with suppress(OSError):
        while made < 65_100:
            os.link(source / "first", source / f"{made}")
            made += 1
    assert made > 1000
    copy = copied(source, stage)
    assert len(os.listdir(copy)) == made
    assert len({entry.inode() for entry in os.scandir(copy)}) <= 2


def test_a_deep_tree_is_copied_with_few_handles(source: Path, stage: Path) -> None:
    deepen(source, 1000)
    before, most = len(os.listdir("/proc/self/fd")), 0

    def tick(advance: Advance) -> None:
        nonlocal most
        most = max(most, len(os.listdir("/proc/self/fd")) - before)

    with handles(source, stage) as (inner, above):
        done = copy_tree(inner, above, "copy", tick)
    assert done.done_files == 1
    assert most < 120


@pytest.mark.parametrize("name", ["a", "file"])
def test_what_becomes_a_link_at_the_last_moment_is_not_followed(
    source: Path, stage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("secret")
    (source / "a").mkdir()
    (source / "a" / "inside").write_text("mine")
    (source / "file").write_text("mine")
    real, swapped = os.open, []

    def opening(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == name and not swapped and not flags & os.O_CREAT:
            swapped.append(os.rename(source / name, source / "was"))
            (source / name).symlink_to(outside if name == "a" else outside / "file")
        return real(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", opening)
    copy = copied(source, stage)
    assert swapped
    # The link itself may be copied, as links are.
    assert (copy / "a").is_symlink() or not (copy / "a" / "file").exists()
    assert not (copy / "file").exists() or (copy / "file").read_text() == "mine"


def test_the_total_is_known_from_the_beginning_and_reached(source: Path, stage: Path) -> None:
    (source / "big").write_bytes(os.urandom(3 * MIB))
    os.link(source / "big", source / "again")
    (source / "sub").mkdir()
    seen: list[Advance] = []
    with handles(source, stage) as (inner, above):
        done = copy_tree(inner, above, "copy", seen.append)
    assert done == Advance(6 * MIB, 2, total_bytes=6 * MIB, total_files=2)
    assert seen[-1] == done
    assert {one.total_files for one in seen} <= {None, 2}


def test_a_stopped_copy_is_made_anew(source: Path, stage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "EVERY_S", 0.0)
    for number in range(10):
        (source / f"{number}").write_text("x")

    def tick(advance: Advance) -> None:
        if advance.done_files == 5:
            raise InterruptedError

    with handles(source, stage) as (inner, above), pytest.raises(InterruptedError):
        copy_tree(inner, above, "copy", tick)
    assert len(os.listdir(stage / "copy")) < 10
    (source / "0").unlink()
    assert sorted(os.listdir(copied(source, stage))) == [f"{number}" for number in range(1, 10)]


def test_a_killed_copy_is_made_anew(source: Path, stage: Path) -> None:
    (source / "a").mkdir()
    (source / "a" / "file").write_text("x")
    os.link(source / "a" / "file", source / "again")
    for after in range(100):
        with handles(source, stage) as (inner, above):
            was_killed = killed(lambda tick, at=(inner, above): copy_tree(*at, "copy", tick), after)
        copy = copied(source, stage)
        assert sorted(os.listdir(copy)) == ["a", "again"]
        assert (copy / "again").stat().st_nlink == 2
        if not was_killed:
            return
    raise AssertionError("it was killed however late")


def test_a_full_disk_is_said_and_can_be_cleaned(source: Path, tmp_path: Path) -> None:
    with small_tmpfs(tmp_path / "disk", "1m") as disk:
        (source / "big").write_bytes(os.urandom(2 * MIB))
        with pytest.raises(OSError, match="No space left") as refused:
            copied(source, disk)
        assert refused.value.errno == errno.ENOSPC
        (source / "big").write_bytes(os.urandom(MIB // 2))
        assert (copied(source, disk) / "big").stat().st_size == MIB // 2


def test_one_entry_is_copied_by_name(source: Path, stage: Path) -> None:
    (source / "file").write_text("x")
    (source / "link").symlink_to("/etc/passwd")
    (source / "tree").mkdir()
    (source / "tree" / "inside").write_text("y")
    os.mkfifo(source / "pipe")
    with handles(source, stage) as (inner, above):
        for name in ("file", "link", "tree"):
            copy_entry(inner, name, above, f"{name} (1)", silent)
            copy_entry(inner, name, above, f"{name} (1)", silent)
        with pytest.raises(StorageError):
            copy_entry(inner, "pipe", above, "pipe", silent)
        with pytest.raises(FileNotFoundError):
            copy_entry(inner, "nothing", above, "nothing", silent)
    assert (stage / "file (1)").read_text() == "x"
    assert os.readlink(stage / "link (1)") == "/etc/passwd"
    assert (stage / "tree (1)" / "inside").read_text() == "y"
    assert sorted(os.listdir(stage)) == ["file (1)", "link (1)", "tree (1)"]
