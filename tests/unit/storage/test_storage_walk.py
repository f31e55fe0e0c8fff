"""Trees are walked, measured and removed by handles, whatever a session does to them meanwhile."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from deep_directory import deep_directory

from carrel.storage import pace
from carrel.storage.conformance_kit import as_session, deepen, plant, silent
from carrel.storage.port import WORK_UID, Advance
from carrel.storage.walk import (
    DirectoryEntered,
    DirectoryLeft,
    TreeChanged,
    TreeEntry,
    measure,
    remove_tree,
    walk,
)

DEEP = 2000
MOST_HANDLES = 120


@contextmanager
def handle(path: Path) -> Iterator[int]:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield handle
    finally:
        os.close(handle)


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    with deep_directory(tmp_path / "outside") as outside:
        (outside / "kept").write_text("kept")
        yield outside


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    with deep_directory(tmp_path / "tree") as tree:
        yield tree


def handles() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_a_walk_finds_enters_and_leaves_everything(tree: Path) -> None:
    (tree / "a" / "b").mkdir(parents=True)
    (tree / "a" / "b" / "file").write_text("x")
    (tree / "link").symlink_to("a")
    with handle(tree) as top:
        steps = list(walk(top))
    names = sorted(one.name for one in steps if isinstance(one, TreeEntry))
    assert names == ["a", "b", "file", "link"]
    assert [one.name for one in steps if isinstance(one, DirectoryEntered)] == ["a", "b"]
    assert sum(isinstance(one, DirectoryLeft) for one in steps) == 2


def test_a_deep_tree_takes_few_handles(tree: Path) -> None:
    deepen(tree, DEEP)
    before, most, count = handles(), 0, 0
    with handle(tree) as top:
        for _ in walk(top):
            count += 1
            if count % 50 == 0:
                most = max(most, handles() - before)
    assert count > 3 * DEEP
    assert most < MOST_HANDLES
    assert handles() == before


def test_a_walk_that_is_given_up_closes_its_handles(tree: Path) -> None:
    deepen(tree, 100)
    before = handles()
    with handle(tree) as top:
        steps = walk(top)
        for _ in range(150):
            next(steps)
        steps.close()
    assert handles() == before


def test_a_directory_that_was_moved_elsewhere_does_not_lead_out(tree: Path, outside: Path) -> None:
    """The way back up is by "..", which is another directory when the one that we are in was moved."""
    deepen(tree, 200)
    with handle(tree) as top:
        steps = walk(top)
        for step in steps:
            if isinstance(step, TreeEntry) and step.name == "end":
                break
        os.rename(tree / "/".join(["d"] * 100), outside / "moved")
        seen = set()
        with pytest.raises(TreeChanged):
            seen.update(step.name for step in steps if isinstance(step, TreeEntry))
        assert "kept" not in seen


def test_measure_counts_each_inode_once_and_no_holes_and_files_without_directories(
    tree: Path, outside: Path
) -> None:
    (tree / "file").write_bytes(bytes(100_000))
    os.link(tree / "file", tree / "again")
    (tree / "link").symlink_to(outside)
    with (tree / "holes").open("wb") as holes:
        holes.truncate(1 << 40)
    (tree / "deep" / "deeper").mkdir(parents=True)
    with handle(tree) as top:
        measured = measure(top)
    assert measured.files == 3
    assert 100_000 <= measured.used_bytes < 120_000


def test_remove_takes_anything_and_nothing_of_others(tree: Path, outside: Path) -> None:
    plant(tree, outside)
    (tree / "more").mkdir()
    deepen(tree / "more", DEEP)
    before, most = handles(), 0

    def tick(advance: Advance) -> None:
        nonlocal most
        most = max(most, handles() - before)

    with handle(tree.parent) as above:
        done = remove_tree(above, "tree", tick)
        assert done.done_files == 17
        assert remove_tree(above, "tree", silent) == Advance(0, 0)
    assert not tree.exists()
    assert most < MOST_HANDLES
    assert (outside / "kept").read_text() == "kept"


def test_remove_takes_a_link_or_a_pipe_by_name(tree: Path, outside: Path) -> None:
    (tree / "link").symlink_to(outside)
    os.mkfifo(tree / "pipe")
    with handle(tree) as top:
        remove_tree(top, "link", silent)
        remove_tree(top, "pipe", silent)
    assert os.listdir(tree) == []
    assert os.listdir(outside) == ["kept"]


@pytest.mark.parametrize("name", ["tree", "inner"])
def test_a_directory_that_becomes_a_link_at_the_last_moment_gets_nothing_deleted_there(
    tree: Path, outside: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tree / "inner").mkdir()
    (tree / "inner" / "file").touch()
    victim = tree if name == "tree" else tree / "inner"
    real, swapped = os.open, []

    def opening(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == name and not swapped:
            swapped.append(os.rename(victim, tree.parent / "was"))
            victim.symlink_to(outside)
        return real(path, flags, mode, dir_fd=dir_fd)

    with handle(tree.parent) as above:
        monkeypatch.setattr(os, "open", opening)
        remove_tree(above, "tree", silent)
    assert swapped
    assert not os.path.lexists(tree)
    assert (outside / "kept").read_text() == "kept"
    assert (outside.stat().st_uid, outside.stat().st_mode & 0o777) == (os.geteuid(), 0o755)


def test_nobody_adds_to_what_is_being_removed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may become somebody else")
    monkeypatch.setattr(pace, "EVERY_S", 0.0)
    (tree / "inner").mkdir()
    for file in (tree / "file", tree / "inner" / "file"):
        file.touch()
    for directory in (tree, tree / "inner"):
        os.chown(directory, WORK_UID, WORK_UID)
    added: list[int] = []

    with handle(tree.parent) as above, handle(tree) as top, handle(tree / "inner") as inner:

        def tick(advance: Advance) -> None:
            for number, held in ((1, top), (2, inner)):
                if advance.done_files == number:
                    added.append(as_session(Path(f"/proc/{os.getpid()}/fd/{held}"), "touch new").returncode)

        assert as_session(tree / "inner", "touch new && rm new").returncode == 0
        remove_tree(above, "tree", tick)
    assert added
    assert 0 not in added
    assert not tree.exists()


def test_what_is_to_be_stopped_stops_soon(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "EVERY_S", 0.0)
    for number in range(100):
        (tree / f"{number}").touch()

    def tick(advance: Advance) -> None:
        if advance.done_files == 10:
            raise InterruptedError

    with handle(tree.parent) as above, pytest.raises(InterruptedError):
        remove_tree(above, "tree", tick)
    assert len(os.listdir(tree)) == 90
