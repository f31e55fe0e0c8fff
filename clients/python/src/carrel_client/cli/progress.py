"""What a person sees while something takes its time."""

from __future__ import annotations

import sys
import threading
import time

from carrel_client.cli.output import display_width, printable, terminal_width

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_BAR_WIDTH = 24


class Progress:
    """One moving line on a terminal's stderr; elsewhere a plain line for each change.

    Use as a context manager. quiet: show nothing at all.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._moving = sys.stderr.isatty() and not quiet
        self._quiet = quiet
        self._text = ""
        self._fraction: float | None = None
        self._began = time.monotonic()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def update(self, text: str, fraction: float | None = None) -> None:
        """Show this from now on. fraction: how much of it is done, None when nobody knows."""
        changed = text != self._text
        self._text, self._fraction = printable(text), fraction
        if changed and not self._moving and not self._quiet:
            sys.stderr.write(f"{self._text}\n")
            sys.stderr.flush()

    def __enter__(self) -> Progress:
        if self._moving:
            self._thread = threading.Thread(target=self._spin, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        if self._thread:
            self._thread.join()
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def _spin(self) -> None:
        turn = 0
        while not self._over.wait(0.1):
            if self._text:
                sys.stderr.write(f"\r{self._line(turn)}\033[K")
                sys.stderr.flush()
            turn += 1

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
