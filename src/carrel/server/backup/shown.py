"""Progress output and interruption of backup and restore."""

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_QUIET_S = 2.0
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


class Shown:
    """Prints progress to standard error, first after two seconds and then every two seconds."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._bytes = 0
        self._began = time.monotonic()
        self._next = self._began + _QUIET_S

    def advance(self, name: str, count: int) -> None:
        self._bytes += count
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _QUIET_S
            sys.stderr.write(f"{self._title}: {name}, {size(self._bytes)}, {now - self._began:.0f} s\n")
            sys.stderr.flush()


def size(count: float) -> str:
    """Bytes for people."""
    for unit in _UNITS[:-1]:
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} {_UNITS[-1]}"


@contextmanager
def interruptible() -> Iterator[None]:
    """Make SIGTERM and SIGHUP end the block like Ctrl-C, so that it cleans up."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
