"""Throttled progress reports of long calls."""

import time
from dataclasses import replace

from carrel.storage.port import Advance, Tick

EVERY_S = 0.1


class Pace:
    """Counts and ticks: at the start, about ten times per second, and at the end. total: bytes and files, if known."""

    def __init__(self, tick: Tick, total: Advance | None = None) -> None:
        self._tick = tick
        self._bytes = 0
        self._files = 0
        self._of = Advance(0, 0)
        if total is not None:
            self._of = Advance(0, 0, total_bytes=total.done_bytes, total_files=total.done_files)
        self._next = 0.0
        self.look()

    def bytes(self, count: int) -> None:
        self._bytes += count
        self.look()

    def file(self) -> None:
        self._files += 1
        self.look()

    def look(self) -> None:
        """Tick if due. Raises: exceptions of the tick."""
        if (now := time.monotonic()) >= self._next:
            self._next = now + EVERY_S
            self._tick(self.advance)

    def end(self) -> Advance:
        """Tick for the last time."""
        self._tick(self.advance)
        return self.advance

    @property
    def advance(self) -> Advance:
        return replace(self._of, done_bytes=self._bytes, done_files=self._files)
