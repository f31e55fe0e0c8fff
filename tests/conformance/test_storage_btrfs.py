"""Btrfs does what every storage does, and enforces quotas, clones and keeps snapshots."""

import errno
import itertools
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from btrfs_disk import btrfs_disk
from people import wait_until
from storage_kit import OfRoot

from carrel.core.errors import Conflict
from carrel.storage import btrfs_ioctls as ioctls
from carrel.storage import staged, tree
from carrel.storage.btrfs import BtrfsBackend
from carrel.storage.conformance import StorageConformance
from carrel.storage.conformance_kit import MIB, as_session, left_below, made, place, refused, silent, written
from carrel.storage.conformance_more import (
    CloneConformance,
    HardQuotaConformance,
    RescopeConformance,
    SnapshotConformance,
)
from carrel.storage.port import FastUsage, FolderLocation, StorageUnavailable, StorageUnusable
from carrel.storage.tree import Clash

T = TypeVar("T")
_serial = itertools.count()


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with btrfs_disk(tmp_path_factory.mktemp("disk")) as disk:
        yield disk


class BtrfsHarness(OfRoot):
    backend: BtrfsBackend

    def eventually(self, work: Callable[[], T]) -> T:
        """What it gives once the kernel has counted anew."""

        def given() -> list[T]:
            try:
                return [work()]
            except StorageUnavailable:
                return []

        return wait_until(given)[0]


@pytest.fixture
def harness(disk: Path) -> BtrfsHarness:
    return BtrfsHarness(BtrfsBackend, disk / f"root{next(_serial)}")


class TestBtrfsStorage(
    StorageConformance, RescopeConformance, HardQuotaConformance, CloneConformance, SnapshotConformance
):
    pass


def test_usage_is_fast(harness: BtrfsHarness) -> None:
    assert isinstance(harness.backend, FastUsage)


def test_subvolumes_that_a_session_nests_come_under_the_quota(harness: BtrfsHarness) -> None:
    here = made(harness)
    files = harness.backend.files(here)
    harness.backend.set_quota(here.scope, 8 * MIB)
    done = as_session(files, "btrfs subvolume create nested && btrfs subvolume create nested/more")
    assert done.returncode == 0
    written(files / "nested" / "more" / "file", 12)
    harness.settle()
    assert harness.eventually(lambda: harness.backend.measure(here)).used_bytes > 12 * MIB
    assert as_session(files, "echo more >nested/more/again && sync nested/more/again").returncode != 0


def test_what_cannot_cross_into_a_nested_subvolume_is_said_or_done_where_it_is(harness: BtrfsHarness) -> None:
    here = made(harness)
    files, stage = harness.backend.files(here), harness.backend.stage(here)
    done = as_session(
        files, "btrfs subvolume create nested && mkdir nested/full && echo x | tee nested/full/a nested/b"
    )
    assert done.returncode == 0
    for crossing in (
        lambda: tree.move(files, "nested/b", "b", Clash.REFUSE),
        lambda: tree.move(files, "nested/b", "b", Clash.REPLACE),
        lambda: staged.bring(files, stage, "written-1", [b"x"], "nested/new", Clash.REFUSE),
        lambda: tree.copy(files, ["nested/b"], files, stage, "copy-1", "nested/full", Clash.REFUSE, silent),
    ):
        assert refused(Conflict, crossing).code == "file.subvolume"
    tree.remove(files, stage, "nested/full", "removed-1")
    assert os.listdir(files / "nested") == ["b"]
    assert tree.move(files, "nested", "elsewhere", Clash.REFUSE) == "elsewhere"
    tree.remove(files, stage, "elsewhere", "removed-2")
    for entry in tree.removed(stage):
        tree.discard(stage, entry, silent)
    assert left_below(files) == []


def test_a_clone_holds_what_is_in_nested_subvolumes(harness: BtrfsHarness) -> None:
    source, target = made(harness), place()
    files = harness.backend.files(source)
    assert as_session(files, "btrfs subvolume create nested && echo x >nested/file").returncode == 0
    harness.backend.clone(source, target)
    assert (harness.backend.files(target) / "nested" / "file").read_text() == "x\n"
    harness.backend.remove(source, silent)
    harness.backend.remove(target, silent)
    assert left_below(harness.backend.root) == []


def test_a_folder_counts_in_the_scope_that_it_went_to(harness: BtrfsHarness) -> None:
    old = made(harness)
    new = FolderLocation(place().scope, old.folder)
    written(harness.backend.files(old) / "file", 4)
    harness.settle()
    harness.backend.set_quota(old.scope, 8 * MIB)
    harness.backend.rescope(old, new)
    assert harness.eventually(lambda: harness.backend.measure(new)).used_bytes >= 4 * MIB
    written(harness.backend.files(made(harness, old.scope)) / "file", 6)
    harness.backend.set_quota(new.scope, 5 * MIB)
    assert refused(OSError, written, harness.backend.files(new) / "more", 2)


def test_limits_are_exact_again_after_a_clone_that_nobody_measures(harness: BtrfsHarness) -> None:
    source, target = made(harness), place()
    written(harness.backend.files(source) / "file", 4)
    harness.settle()
    harness.backend.clone(source, target)
    with _handle(harness.backend.root) as handle:
        inconsistent = Path("/sys/fs/btrfs") / str(ioctls.file_system(handle)) / "qgroups" / "inconsistent"
    wait_until(lambda: inconsistent.read_text().strip() == "0")


def test_a_half_made_clone_is_forgotten(harness: BtrfsHarness) -> None:
    source, target = made(harness), place()
    (harness.backend.files(source) / "file").write_text("x")
    leftover = harness.backend.root / source.scope / f".making-{target.folder}"
    subprocess.run(["btrfs", "subvolume", "create", str(leftover)], check=True, capture_output=True)
    harness.backend.clone(source, FolderLocation(source.scope, target.folder))
    assert not leftover.exists()


def test_scopes_keep_their_group_and_do_not_take_each_others(harness: BtrfsHarness) -> None:
    here, other = made(harness), made(harness)
    numbers = [_group(harness, one) for one in (here, other)]
    assert numbers[0] != numbers[1]
    twin = BtrfsHarness(BtrfsBackend, harness.backend.root.with_name(harness.backend.root.name + "-twin"))
    assert _group(twin, made(twin, here.scope)) not in numbers
    made(harness, here.scope)
    assert _group(harness, here) == numbers[0]


def test_deleted_folders_leave_no_groups_behind(harness: BtrfsHarness) -> None:
    here = made(harness)
    kept = made(harness, here.scope)
    harness.backend.remove(here, silent)
    subprocess.run(["btrfs", "subvolume", "sync", str(harness.backend.root)], check=True, capture_output=True)
    harness.backend.remove(place(here.scope), silent)
    with _handle(harness.backend.files(kept)) as handle:
        assert ioctls.members(handle, int(_group(harness, here))) == {ioctls.subvolume(handle)}


def test_only_btrfs_will_do(tmp_path: Path) -> None:
    assert "not on Btrfs" in refused(StorageUnusable, BtrfsBackend(tmp_path / "root").probe).message


def test_without_its_command_it_says_what_to_install(
    harness: BtrfsHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "btrfs-progs" in refused(StorageUnusable, harness.backend.probe).message
    assert "btrfs-progs" in refused(StorageUnusable, harness.backend.create, place()).message


def test_folders_that_wrongly_anybody_may_enter_are_closed(harness: BtrfsHarness) -> None:
    here = made(harness)
    harness.backend.files(here).parent.chmod(
        0o755
    )  # as it is when the server was killed just after it was made
    harness.backend.create(here)
    assert harness.backend.files(here).parent.stat().st_mode & 0o777 == 0o700


def test_directories_can_be_deleted_when_the_quota_is_used_up(harness: BtrfsHarness) -> None:
    here = made(harness)
    files, stage = harness.backend.files(here), harness.backend.stage(here)
    as_session(files, "mkdir -p full/inner && echo x >full/inner/small")
    harness.settle()
    harness.backend.set_quota(here.scope, 4 * MIB)
    assert as_session(files, "dd if=/dev/urandom of=full/big bs=1M count=8 conv=fsync").returncode != 0
    assert refused(OSError, os.rename, files / "full", stage / "full").errno == errno.EDQUOT
    tree.remove(files, stage, "full", "removed-x")
    assert os.listdir(files) == []


def _group(harness: BtrfsHarness, here: FolderLocation) -> bytes:
    return os.getxattr(harness.backend.root / here.scope, "user.carrel.qgroup")


class _handle:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> int:
        self._handle = os.open(self._path, os.O_RDONLY)
        return self._handle

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)
