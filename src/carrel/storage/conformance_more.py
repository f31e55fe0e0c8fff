"""Conformance tests of optional capabilities, one class each; see `conformance`."""

import errno
import os
from collections.abc import Callable
from typing import Protocol, TypeVar

from carrel.storage.conformance_kit import (
    MIB,
    StorageHarness,
    as_session,
    left_below,
    made,
    place,
    refused,
    silent,
    written,
)
from carrel.storage.port import (
    Clone,
    FolderLocation,
    HardQuota,
    Snapshots,
    StorageUnavailable,
)

T = TypeVar("T")


class SettlingHarness(StorageHarness, Protocol):
    """Harness of a storage that may have to recount usage."""

    def eventually(self, work: Callable[[], T]) -> T:
        """The result of the work, retried while it raises StorageUnavailable."""
        ...


class RescopeConformance:
    def test_a_folder_goes_into_another_scope_as_it_is(self, harness: StorageHarness) -> None:
        old = made(harness)
        new = FolderLocation(place().scope, old.folder)
        (harness.backend.files(old) / "file").write_text("x")
        (harness.backend.stage(old) / "upload").write_text("y")
        harness.backend.rescope(old, new)
        harness.backend.rescope(old, new)
        assert list(harness.backend.places()) == [new]
        assert (harness.backend.files(new) / "file").read_text() == "x"
        assert (harness.backend.stage(new) / "upload").read_text() == "y"

    def test_what_is_not_there_goes_nowhere(self, harness: StorageHarness) -> None:
        old = place()
        refused(StorageUnavailable, harness.backend.rescope, old, FolderLocation(place().scope, old.folder))
        assert list(harness.backend.places()) == []


class HardQuotaConformance:
    def test_writing_past_the_quota_fails_in_a_session(self, harness: StorageHarness) -> None:
        here = made(harness)
        _limit(harness, here, 8 * MIB)
        files = harness.backend.files(here)
        assert "quota exceeded" in _fill(harness, here, 20)
        assert 6 * MIB < (files / "big").stat().st_size <= 8 * MIB
        assert refused(OSError, written, files / "ours", 1).errno == errno.EDQUOT

    def test_all_folders_of_a_scope_count_and_no_others(self, harness: StorageHarness) -> None:
        here = made(harness)
        there, other = made(harness, here.scope), made(harness)
        _limit(harness, here, 8 * MIB)
        written(harness.backend.files(here) / "file", 5)
        written(harness.backend.stage(here) / "upload", 1)
        assert "quota exceeded" in _fill(harness, there, 5)
        assert _fill(harness, other, 20) == ""

    def test_a_quota_can_be_changed_and_lifted_while_people_work(self, harness: StorageHarness) -> None:
        here = made(harness)
        _limit(harness, here, 4 * MIB)
        _limit(harness, here, 4 * MIB)
        assert "quota exceeded" in _fill(harness, here, 8)
        _limit(harness, here, 16 * MIB)
        assert _fill(harness, here, 8) == ""
        _limit(harness, here, None)
        _limit(harness, here, None)
        assert _fill(harness, here, 24) == ""

    def test_a_quota_comes_before_the_first_folder_and_stays_after_the_last(
        self, harness: StorageHarness
    ) -> None:
        scope = place().scope
        _limiter(harness).set_quota(scope, 4 * MIB)
        harness.backend.remove(made(harness, scope), silent)
        assert "quota exceeded" in _fill(harness, made(harness, scope), 8)

    def test_whoever_is_over_the_quota_can_delete(self, harness: StorageHarness) -> None:
        here = made(harness)
        _limit(harness, here, 4 * MIB)
        _fill(harness, here, 8)
        assert as_session(harness.backend.files(here), "rm big").returncode == 0
        harness.settle()
        assert _fill(harness, here, 2) == ""

    def test_a_full_folder_can_be_removed(self, harness: StorageHarness) -> None:
        here = made(harness)
        _limit(harness, here, 4 * MIB)
        _fill(harness, here, 8)
        harness.backend.remove(here, silent)
        harness.settle()
        assert _fill(harness, made(harness, here.scope), 2) == ""


class CloneConformance:
    def test_a_clone_has_the_files_and_an_empty_stage(self, harness: StorageHarness) -> None:
        source = made(harness)
        files = harness.backend.files(source)
        as_session(files, "mkdir a && echo one >a/b && ln -s a/b link && ln a/b hard && chmod 700 a")
        (harness.backend.stage(source) / "upload").write_text("x")
        for target in (place(source.scope), place()):
            _cloner(harness).clone(source, target)
            copy = harness.backend.files(target)
            assert sorted(os.listdir(copy)) == ["a", "hard", "link"]
            assert (copy / "a" / "b").read_text() == "one\n"
            assert os.readlink(copy / "link") == "a/b"
            assert (copy / "hard").stat().st_nlink == 2
            assert os.listdir(harness.backend.stage(target)) == []
            assert as_session(copy, "echo two >a/b").returncode == 0
        assert (files / "a" / "b").read_text() == "one\n"
        assert os.listdir(harness.backend.stage(source)) == ["upload"]

    def test_clone_again_leaves_the_target_as_it_is(self, harness: StorageHarness) -> None:
        source, target = made(harness), place()
        cloner = _cloner(harness)
        cloner.clone(source, target)
        (harness.backend.files(target) / "since").write_text("x")
        cloner.clone(source, target)
        assert os.listdir(harness.backend.files(target)) == ["since"]

    def test_a_clone_of_nothing_fails_and_leaves_nothing(self, harness: StorageHarness) -> None:
        target = place()
        refused(StorageUnavailable, _cloner(harness).clone, place(), target)
        assert list(harness.backend.places()) == []
        assert left_below(harness.backend.root) == []

    def test_a_clone_counts_where_it_is(self, harness: SettlingHarness) -> None:
        source, target = made(harness), place()
        written(harness.backend.files(source) / "file", 4)
        harness.settle()
        _cloner(harness).clone(source, target)
        assert harness.eventually(lambda: harness.backend.measure(target)).used_bytes >= 4 * MIB
        _limit(harness, target, 8 * MIB)
        assert "quota exceeded" in _fill(harness, target, 8)


class SnapshotConformance:
    def test_a_snapshot_keeps_what_was(self, harness: StorageHarness) -> None:
        here = made(harness)
        keeper = _keeper(harness)
        keeper.snapshot(here, "monday")
        (harness.backend.files(here) / "since").write_text("x")
        keeper.snapshot(here, "monday")
        keeper.snapshot(here, "tuesday")
        assert list(keeper.snapshots(here)) == ["monday", "tuesday"]
        assert list(keeper.snapshots(made(harness, here.scope))) == []

    def test_a_snapshot_is_removed_once_and_for_all(self, harness: StorageHarness) -> None:
        here = made(harness)
        keeper = _keeper(harness)
        keeper.snapshot(here, "monday")
        keeper.remove_snapshot(here, "monday")
        keeper.remove_snapshot(here, "monday")
        keeper.remove_snapshot(here, "never")
        assert list(keeper.snapshots(here)) == []

    def test_names_that_lead_elsewhere_are_refused(self, harness: StorageHarness) -> None:
        here = made(harness)
        for name in ("..", ".", "", "a/b", "-x", "a\nb"):
            refused(ValueError, _keeper(harness).snapshot, here, name)

    def test_snapshots_go_with_their_folder(self, harness: StorageHarness) -> None:
        here = made(harness)
        _keeper(harness).snapshot(here, "monday")
        harness.backend.remove(here, silent)
        assert left_below(harness.backend.root) == []

    def test_snapshots_move_with_their_folder(self, harness: StorageHarness) -> None:
        old = made(harness)
        new = FolderLocation(place().scope, old.folder)
        keeper = _keeper(harness)
        keeper.snapshot(old, "monday")
        harness.backend.rescope(old, new)
        assert list(keeper.snapshots(new)) == ["monday"]


def _cloner(harness: StorageHarness) -> Clone:
    assert isinstance(harness.backend, Clone)
    return harness.backend


def _keeper(harness: StorageHarness) -> Snapshots:
    assert isinstance(harness.backend, Snapshots)
    return harness.backend


def _limiter(harness: StorageHarness) -> HardQuota:
    assert isinstance(harness.backend, HardQuota)
    return harness.backend


def _limit(harness: StorageHarness, here: FolderLocation, limit_bytes: int | None) -> None:
    harness.settle()
    _limiter(harness).set_quota(here.scope, limit_bytes)


def _fill(harness: StorageHarness, here: FolderLocation, mib: int) -> str:
    """The error of `dd` when a session writes a file of this size; empty on success. Replaces the previous file."""
    command = f"rm -f big; dd if=/dev/urandom of=big bs=1M count={mib} conv=fsync status=none"
    return as_session(harness.backend.files(here), command).stderr.decode()
