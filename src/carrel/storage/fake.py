"""Storage for tests and simulations: real directories with fault injection."""

import errno
import os
import threading
from collections.abc import Sequence
from pathlib import Path

from carrel.storage.port import Capacity, FolderLocation, Measure, Tick
from carrel.storage.posix import PosixBackend


class FakeBackend(PosixBackend):
    """Every blocking method checks the faults first; `files` and `stage` never block.

    full: no space left. away: the host is unavailable and fails immediately. capacity: overrides the real one.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.full = False
        self.away = False
        self.capacity: Capacity | None = None
        self.calls: list[str] = []
        self._answers = threading.Event()
        self._answers.set()

    def hang(self) -> None:
        """Block every call until `answer`."""
        self._answers.clear()

    def answer(self) -> None:
        """Unblock all calls."""
        self._answers.set()

    def probe(self) -> Capacity:
        self._look("probe")
        real = super().probe()
        return self.capacity or real

    def create(self, place: FolderLocation) -> None:
        self._look("create")
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().create(place)

    def remove(self, place: FolderLocation, tick: Tick) -> None:
        self._look("remove")
        super().remove(place, tick)

    def measure(self, place: FolderLocation) -> Measure:
        self._look("measure")
        return super().measure(place)

    def places(self) -> Sequence[FolderLocation]:
        self._look("places")
        return super().places()

    def _look(self, call: str) -> None:
        self.calls.append(call)
        self._answers.wait()
        if self.away:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))


class FakeQuotaBackend(FakeBackend):
    """Also accepts quotas. limits: by scope; not enforced."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.limits: dict[str, int] = {}

    def set_quota(self, scope: str, limit_bytes: int | None) -> None:
        self._look("set_quota")
        if limit_bytes is None:
            self.limits.pop(scope, None)
        else:
            self.limits[scope] = limit_bytes
