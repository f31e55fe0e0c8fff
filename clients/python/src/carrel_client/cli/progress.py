"""Progress display on stderr."""

from __future__ import annotations

import sys
import threading
import time

from carrel_client.cli.output import display_width, printable, terminal_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_BAR_WIDTH = 24
_PLAIN_EVERY_S = 5.0


class ProgressLine:
    """A live line on a terminal; otherwise a plain line per stage, with occasional updates.

    Use as a context manager; nested inside another one it shows nothing.
    after_s: show nothing before that, and no plain lines; for mostly fast operations.
    """

    _in_use = False

    def __init__(self, *, after_s: float = 0.0) -> None:
        self._moving = sys.stderr.isatty() and not ProgressLine._in_use
        self._after_s = after_s
        self._text = ""
        self._stage = ""
        self._reported_at = 0.0
        self._fraction: float | None = None
        self._began = time.monotonic()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._drawing = threading.Lock()

    def update(self, text: str, fraction: float | None = None, *, stage: str = "") -> None:
        """Update the display. fraction: completed, None if unknown."""
        changed, next_stage = printable(text) != self._text, stage != self._stage or not self._text
        self._text, self._fraction, self._stage = printable(text), fraction, stage
        now = time.monotonic()
        begun = not self._after_s or now - self._began > _PLAIN_EVERY_S
        worth_it = (changed and now - self._reported_at > _PLAIN_EVERY_S) or (
            next_stage and not self._after_s
        )
        if begun and worth_it and not sys.stderr.isatty():
            self._reported_at = now
            sys.stderr.write(f"{self._text}\n")
            sys.stderr.flush()

    def silent(self) -> AbstractContextManager[None]:
        """Hide the line in the block, for a prompt."""
        return _Silent(self)

    def __enter__(self) -> ProgressLine:
        if self._moving:
            ProgressLine._in_use = True
            self._thread = threading.Thread(target=self._spin, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        if self._thread:
            self._thread.join()
            ProgressLine._in_use = False

    def _spin(self) -> None:
        if self._over.wait(self._after_s):
            return
        turn = 0
        while not self._over.wait(0.1):
            with self._drawing:
                if self._text:
                    sys.stderr.write(f"\r{self._line(turn)}\033[K")
                    sys.stderr.flush()
            turn += 1
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()

    def _line(self, turn: int) -> str:
        unicode = (sys.stderr.encoding or "").lower().startswith("utf")
        sign = _SPINNER[turn % len(_SPINNER)] if unicode else "|/-\\"[turn % 4]
        seconds = int(time.monotonic() - self._began)
        bar = ""
        if self._fraction is not None:
            done = round(max(0.0, min(1.0, self._fraction)) * _BAR_WIDTH)
            bar = f" [{'#' * done}{'.' * (_BAR_WIDTH - done)}]"
        rest = f"{bar} {seconds}s"
        room = terminal_width() - 4 - len(rest)
        text = self._text
        while text and display_width(text) > room:
            text = text[:-1]
        return f"{sign} {text}{rest}"


class _Silent:
    def __init__(self, progress: ProgressLine) -> None:
        self._progress = progress

    def __enter__(self) -> None:
        self._progress._drawing.acquire()
        if self._progress._moving:
            sys.stderr.write("\r\033[K")

    def __exit__(self, *raised: object) -> None:
        self._progress._drawing.release()
