"""Lines that tell a waiting person that a long step still moves."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

from carrel.server.bootstrap import Say

_REPEAT_S = 5.0


class ProgressLines:
    """The step that runs now. `show` says a new one; a step that stays is repeated with its seconds."""

    def __init__(self, say: Say, title: str) -> None:
        self._say = say
        self._title = title
        self._text = ""
        self._since = time.monotonic()

    def show(self, text: str) -> None:
        """Twice with the same text: said once."""
        if text != self._text:
            self._text = text
            self._since = time.monotonic()
            self._say(f"{self._title}: {text}")

    async def repeat(self) -> None:
        """Never ends."""
        while True:
            await asyncio.sleep(_REPEAT_S)
            elapsed = time.monotonic() - self._since
            if self._text and elapsed >= _REPEAT_S:
                self._say(f"{self._title}: {self._text} ({elapsed:.0f} s)")


@contextlib.asynccontextmanager
async def progress(say: Say, title: str) -> AsyncIterator[ProgressLines]:
    """A `ProgressLines` that repeats itself while the block runs."""
    shown = ProgressLines(say, title)
    repeating = asyncio.create_task(shown.repeat())
    try:
        yield shown
    finally:
        repeating.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await repeating
