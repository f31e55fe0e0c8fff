"""Plain directories do what every storage does."""

import ctypes
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from people import eventually
from storage_kit import OfRoot, rooted_at

from carrel.storage.conformance import StorageConformance
from carrel.storage.conformance_kit import place, refused, silent
from carrel.storage.conformance_more import RescopeConformance
from carrel.storage.port import FolderLocation, StorageUnavailable, StorageUnusable
from carrel.storage.posix import PosixBackend
from carrel.storage.threads import Threads


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[OfRoot]:
    with rooted_at(tmp_path / "root", PosixBackend) as harness:
        yield harness


class TestPosixStorage(StorageConformance, RescopeConformance):
    pass


def test_a_scope_that_goes_while_a_folder_is_made_in_it_is_made_again(tmp_path: Path) -> None:
    class Unlucky(PosixBackend):
        """The last other folder of the scope is removed at the worst moment."""

        times = 0

        def _make_folder(self, scope: int, place: FolderLocation) -> None:
            if self.times < 2:
                self.times += 1
                (self.root / place.scope).rmdir()
            super()._make_folder(scope, place)

    backend, here = Unlucky(tmp_path / "root"), place()
    backend.probe()
    backend.claim()
    backend.create(here)
    assert (backend.times, list(backend.places())) == (2, [here])


def test_a_root_that_cannot_be_used_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    for name, message in (
        ("none/root", "There is no directory"),
        ("file", "not a directory"),
        ("open", "Everybody"),
    ):
        assert message in refused(StorageUnusable, PosixBackend(tmp_path / name).probe).message
    gone = PosixBackend(tmp_path / "gone")
    assert "There is no directory" in refused(StorageUnusable, gone.create, place()).message
    assert "There is no directory" in refused(StorageUnusable, gone.remove, place(), silent).message


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """Where a file system is mounted that answers nothing, ever; and what ends it."""
    root = tmp_path / "stopped"
    root.mkdir()
    try:
        channel = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        pytest.skip(f"needs /dev/fuse: {error.strerror}")
    options = f"fd={channel},rootmode=40000,user_id=0,group_id=0".encode()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"stopped", os.fsencode(root), b"fuse", 0, options):
        os.close(channel)
        pytest.skip(f"needs the right to mount: {os.strerror(ctypes.get_errno())}")
    ended = []

    def end() -> None:
        if not ended:
            ended.append(True)
            os.close(channel)

    try:
        yield root, end
    finally:
        end()
        libc.umount2(os.fsencode(root), 2)


async def test_a_file_system_that_has_stopped_blocks_its_own_host_alone(
    stopped: tuple[Path, Callable[[], None]], tmp_path: Path
):
    root, end = stopped
    hung, well = Threads("hung"), Threads("well")
    for _ in range(8):
        with pytest.raises(StorageUnavailable, match="within"):
            await hung.call(PosixBackend(root).probe, deadline_s=0.05)

    async def all_late() -> bool:
        return hung.stuck == 8

    assert await eventually(all_late)
    with pytest.raises(StorageUnavailable, match="does not respond"):  # as is known: nobody waits for it
        await hung.call(PosixBackend(root).probe)
    here = place()
    await well.call(PosixBackend(tmp_path / "well").probe)
    await well.call(PosixBackend(tmp_path / "well").claim)
    await well.call(PosixBackend(tmp_path / "well").create, here)
    end()

    async def over() -> bool:
        return hung.stuck == 0

    assert await eventually(over), "who hung in it is free when it is gone"
    with pytest.raises(StorageUnavailable, match="does not respond"):
        await hung.call(os.listdir, root)
