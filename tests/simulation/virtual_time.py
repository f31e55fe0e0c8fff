"""An event loop whose clock moves only when there is nothing else to do.

While a task talks to the database (any file descriptor is being watched) time stands still; when everybody
sleeps, the loop jumps to the next timer. Hours of a control plane's life pass in milliseconds, in the same
order every time, and no test waits for the wall clock.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

T = TypeVar("T")

START = datetime(2026, 1, 1, tzinfo=UTC)
_PATIENCE_S = 2.0
"""Real seconds without an answer after which somebody must be waiting for a lock, and time goes on."""
_STUCK = 100
"""So many times in a row without any answer is a deadlock."""


class _JumpingSelector(selectors.DefaultSelector):  # type: ignore[misc,valid-type]
    """Never sleeps: it waits for descriptors in real time, or moves the virtual clock at once."""

    now_s = 0.0
    own_descriptors = 0
    _unanswered = 0

    def select(self, timeout: float | None = None) -> Any:
        if len(self.get_map()) > self.own_descriptors:
            ready = super().select(0 if timeout == 0 else _PATIENCE_S)
            if ready:
                self._unanswered = 0
            elif timeout != 0:
                self._unanswered += 1
                self.now_s += timeout or 0
            if self._unanswered > _STUCK:
                raise TimeoutError("the database does not answer: a deadlock?")
            return ready
        if timeout is None:
            raise RuntimeError("nothing is left that could ever happen")
        ready = super().select(0)
        if not ready:
            self.now_s += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """`time()` is virtual and starts at zero."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)
        self._jumping.own_descriptors = len(self._jumping.get_map())

    def time(self) -> float:
        return self._jumping.now_s


class LoopClock:
    """The virtual loop's time as a `Clock`."""

    def now(self) -> datetime:
        return START + timedelta(seconds=asyncio.get_running_loop().time())


def simulate(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
