"""The result of a transfer, and the choices for files whose name is taken."""

from __future__ import annotations

from collections.abc import Callable

from carrel_client.errors import CarrelError
from carrel_client.workers import Meter, WorkerPool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Choice = Literal["refuse", "replace", "rename", "skip"]
    Clash = Choice | Callable[[str], Choice]

_MOST_SKIPPED = 1000


class Transfer:
    """The result of a transfer.

    unchanged: number of files that the target already had. skipped, failed: paths, with the reason.
    """

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.unchanged = 0
        self.skipped: list[tuple[str, str]] = []
        self.failed: list[tuple[str, CarrelError]] = []

    def skip(self, name: str, why: str) -> None:
        if len(self.skipped) < _MOST_SKIPPED:
            self.skipped.append((name, why))


class Bringing:
    """The worker pool of a transfer; its failures become those of the transfer."""

    def __init__(self, size: int, done: Transfer) -> None:
        self._pool = WorkerPool(size, done.meter)
        self._done = done

    def __enter__(self) -> WorkerPool:
        return self._pool.__enter__()

    def __exit__(self, kind: object, raised: BaseException | None, trace: object) -> None:
        if not raised:
            self._done.meter.complete = True
        try:
            self._pool.__exit__(kind, raised, trace)
        finally:
            self._done.failed = self._pool.failures


def taken(where: str) -> CarrelError:
    return CarrelError(
        "client.taken",
        f"{where} already exists and differs.",
        status=409,
        hint="Choose with --clash: replace, rename or skip.",
    )
