"""The conformance suite of storage back ends.

A test module subclasses `StorageConformance`, and the classes of `conformance_more` for optional capabilities, and
provides a fixture `harness`. pytest collects the methods; this module does not import it.
"""

import os
import shutil
import stat
import threading
from functools import partial
from pathlib import Path

from carrel.storage.conformance_kit import (
    MIB,
    StorageHarness,
    as_session,
    keeps_writing,
    killed,
    left_below,
    made,
    place,
    plant,
    refused,
    silent,
    written,
)
from carrel.storage.port import Advance, FolderLocation, StorageBackend, StorageUnavailable
from carrel.storage.walk import TreeChanged


class StorageConformance:
    """One test per statement of the port's docstrings."""

    # probe

    def test_probe_tells_how_much_room_there_is(self, harness: StorageHarness) -> None:
        room = harness.backend.probe()
        assert 0 < room.free_bytes <= room.total_bytes
        assert harness.backend.probe().total_bytes == room.total_bytes

    # create

    def test_a_new_folder_is_empty_and_a_session_can_write_in_it(self, harness: StorageHarness) -> None:
        here = made(harness)
        files, stage = harness.backend.files(here), harness.backend.stage(here)
        assert os.listdir(files) == os.listdir(stage) == []
        done = as_session(files, "mkdir a && echo hello >a/b && chmod 600 a/b")
        assert (done.returncode, done.stderr) == (0, b"")

    def test_this_process_can_write_there_and_a_session_can_change_it(self, harness: StorageHarness) -> None:
        files = harness.backend.files(made(harness))
        assert as_session(files, "mkdir theirs && touch theirs/file").returncode == 0
        (files / "theirs" / "ours").write_text("x")
        assert as_session(files, "rm -r theirs").returncode == 0
        assert os.listdir(files) == []

    def test_create_again_changes_nothing(self, harness: StorageHarness) -> None:
        here = made(harness)
        (harness.backend.files(here) / "kept").write_text("x")
        harness.backend.create(here)
        harness.another().create(here)
        assert os.listdir(harness.backend.files(here)) == ["kept"]
        assert list(harness.backend.places()) == [here]

    def test_create_at_the_same_time_makes_one_folder(self, harness: StorageHarness) -> None:
        here = place()
        errors: list[BaseException] = []

        def create(backend: StorageBackend) -> None:
            try:
                backend.create(here)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=create, args=(harness.another(),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == [], errors
        assert list(harness.backend.places()) == [here]

    def test_others_on_the_machine_do_not_get_through(self, harness: StorageHarness) -> None:
        folder = harness.backend.files(made(harness)).parent
        for directory in (folder, folder.parent):
            assert stat.S_IMODE(directory.stat().st_mode) == 0o700

    def test_between_stage_and_files_a_rename_is_enough(self, harness: StorageHarness) -> None:
        here = made(harness)
        (harness.backend.stage(here) / "upload").write_text("x")
        os.rename(harness.backend.stage(here) / "upload", harness.backend.files(here) / "done")
        assert (harness.backend.files(here) / "done").read_text() == "x"

    def test_names_that_lead_elsewhere_are_refused(self, harness: StorageHarness) -> None:
        good = made(harness)
        for name in ("..", ".", "", "a/b", "../x", "a\0b", ".going-x"):
            for bad in (
                FolderLocation(name, good.folder),
                FolderLocation(good.scope, type(good.folder)(name)),
            ):
                refused(ValueError, harness.backend.create, bad)
                refused(ValueError, harness.backend.remove, bad, silent)
                refused(ValueError, harness.backend.files, bad)

    # places

    def test_places_are_those_that_were_made(self, harness: StorageHarness) -> None:
        assert list(harness.backend.places()) == []
        first = made(harness)
        all_of_them = {first, made(harness, first.scope), made(harness)}
        assert set(harness.another().places()) == all_of_them

    # measure

    def test_measure_counts_bytes_of_files_and_stage_and_only_files(self, harness: StorageHarness) -> None:
        here = made(harness)
        before = harness.backend.measure(here)
        assert before.used_bytes <= 64 << 10
        (harness.backend.files(here) / "deep").mkdir()
        written(harness.backend.files(here) / "deep" / "file", 2)
        written(harness.backend.stage(here) / "upload", 1)
        harness.settle()
        after = harness.backend.measure(here)
        assert 3 * MIB <= after.used_bytes - before.used_bytes <= 3 * MIB + (64 << 10)
        assert (before.files, after.files) in ((0, 1), (None, None))

    def test_measure_counts_what_is_taken_and_each_file_once(self, harness: StorageHarness) -> None:
        here = made(harness)
        files = harness.backend.files(here)
        written(files / "file", 1)
        os.link(files / "file", files / "again")
        with (files / "holes").open("wb") as holes:
            holes.truncate(1 << 30)
        harness.settle()
        assert MIB <= harness.backend.measure(here).used_bytes <= MIB + (128 << 10)

    def test_measure_follows_no_links_and_reaches_all_that_is_deep(
        self, harness: StorageHarness, tmp_path: Path
    ) -> None:
        here, outside = made(harness), _outside(tmp_path)
        written(outside / "kept", 16)
        plant(harness.backend.files(here), outside)
        harness.settle()
        measured = harness.backend.measure(here)
        assert measured.used_bytes < 16 * MIB
        assert measured.files in (15, None)

    def test_what_is_not_there_cannot_be_measured(self, harness: StorageHarness) -> None:
        refused(StorageUnavailable, harness.backend.measure, place())

    # remove

    def test_remove_takes_everything_and_leaves_the_others(
        self, harness: StorageHarness, tmp_path: Path
    ) -> None:
        here, outside = made(harness), _outside(tmp_path)
        other = made(harness, here.scope)
        (harness.backend.files(other) / "kept").write_text("x")
        plant(harness.backend.files(here), outside)
        plant(harness.backend.stage(here), outside)
        harness.backend.remove(here, silent)
        assert list(harness.backend.places()) == [other]
        assert not harness.backend.files(here).parent.exists()
        assert (harness.backend.files(other) / "kept").read_text() == "x"
        assert (outside / "kept").read_text() == "kept"

    def test_remove_again_and_of_nothing_is_success(self, harness: StorageHarness) -> None:
        here = made(harness)
        harness.backend.remove(here, silent)
        harness.backend.remove(here, silent)
        harness.another().remove(place(), silent)

    def test_a_root_that_is_not_mounted_is_not_taken_for_an_empty_one(
        self, harness: StorageHarness, tmp_path: Path
    ) -> None:
        here = made(harness)
        root = harness.backend.root
        elsewhere = root.with_name("elsewhere")
        root.rename(elsewhere)
        root.mkdir(mode=0o700)
        try:
            refused(StorageUnavailable, harness.backend.remove, here, silent)
            refused(StorageUnavailable, harness.backend.create, place())
            refused(StorageUnavailable, harness.backend.recognise)
            assert os.listdir(root) == []
            harness.backend.claim()
            harness.backend.recognise()
            harness.backend.remove(here, silent)  # absent: success
        finally:
            shutil.rmtree(root)
            elsewhere.rename(root)
        harness.backend.remove(here, silent)

    def test_a_folder_can_be_made_again_after_its_removal(self, harness: StorageHarness) -> None:
        here = made(harness)
        (harness.backend.files(here) / "old").write_text("x")
        harness.backend.remove(here, silent)
        harness.backend.create(here)
        assert os.listdir(harness.backend.files(here)) == []

    def test_a_removal_that_is_stopped_goes_on_when_it_is_called_again(self, harness: StorageHarness) -> None:
        here = made(harness)
        (harness.backend.files(here) / "file").write_text("x")
        refused(InterruptedError, harness.backend.remove, here, _stop)
        harness.another().remove(here, silent)
        assert list(harness.backend.places()) == []
        assert not harness.backend.files(here).parent.exists()

    def test_a_killed_removal_leaves_all_or_nothing(self, harness: StorageHarness) -> None:
        scope = place().scope
        for after in range(1000):
            here = made(harness, scope)
            for number in range(5):
                (harness.backend.files(here) / f"{number}").mkdir()
                (harness.backend.files(here) / f"{number}" / "file").write_text("x")
            was_killed = killed(partial(harness.backend.remove, here), after)
            if here in harness.backend.places():
                assert len(os.listdir(harness.backend.files(here))) == 5
            harness.another().remove(here, silent)
            assert list(harness.backend.places()) == []
            if not was_killed:
                return
        raise AssertionError("it was killed however late")

    def test_removal_wins_over_a_session_that_keeps_writing(self, harness: StorageHarness) -> None:
        here = made(harness)
        with keeps_writing(harness.backend.files(here)):
            try:
                harness.backend.remove(here, silent)
            except TreeChanged:
                assert os.geteuid() != 0  # only root can revoke access to open directories
            assert list(harness.backend.places()) == []
        harness.backend.remove(here, silent)
        assert left_below(harness.backend.root) == []

    def test_folders_come_and_go_in_one_scope_at_the_same_time(self, harness: StorageHarness) -> None:
        scope, errors = place().scope, []

        def come_and_go(backend: StorageBackend) -> None:
            try:
                for _ in range(20):
                    here = place(scope)
                    backend.create(here)
                    (backend.files(here) / "file").write_text("x")
                    backend.remove(here, silent)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=come_and_go, args=(harness.another(),)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == [], errors
        assert list(harness.backend.places()) == []


def _outside(folder: Path) -> Path:
    made = folder / "outside"
    made.mkdir()
    (made / "kept").write_text("kept")
    return made


def _stop(advance: Advance) -> None:
    raise InterruptedError
