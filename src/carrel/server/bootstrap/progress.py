"""Progress lines for long steps."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

from carrel.server.bootstrap import Say

_REPEAT_S = 5.0


class ProgressLines:
    """Shows the current step. `show` starts a new one; a step that takes long is repeated with its elapsed seconds."""

    def __init__(self, say: Say, title: str) -> None:
        self._say = say
        self._title = title
        self._text = ""
        self._since = time.monotonic()

    def show(self, text: str) -> None:
        """Show a step. Twice with the same text: shown once."""
        if text != self._text:
            self._text = text
            self._since = time.monotonic()
            self._say(f"{self._title}: {text}")

    async def repeat(self) -> None:
        """Repeat the current step until cancelled."""
        while True:
            await asyncio.sleep(_REPEAT_S)
            elapsed = time.monotonic() - self._since
            if self._text and elapsed >= _REPEAT_S:
                self._say(f"{self._title}: {self._text} ({elapsed:.0f} s)")


@contextlib.asynccontextmanager
async def progress(say: Say, title: str) -> AsyncIterator[ProgressLines]:
    """A `ProgressLines` that repeats its step while the block runs."""
    shown = ProgressLines(say, title)
    repeating = asyncio.create_task(shown.repeat())
    try:
        yield shown
    finally:
        repeating.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await repeating
