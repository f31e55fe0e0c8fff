"""`--watch`: prints a list again when events announce a change, or polls."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Callable

from carrel_client.cli.context import Context
from carrel_client.errors import CarrelError

_SETTLE_S = 0.2
"""Events within this time are handled together."""
_POLL_S = 2.0
_AWAY = (502, 503, 504)
_CLEAR = "\033[H\033[2J\033[3J"


def watch(
    args: argparse.Namespace,
    context: Context,
    run: Callable[[argparse.Namespace, Context], int],
    kinds: tuple[str, ...],
) -> int:
    """Run a command once, and again after each event of these kinds. Ends by Ctrl-C or an error.

    kinds: empty to poll every few seconds.
    Raises: CarrelError.
    """
    following = _Following(context, kinds) if kinds else _Polling()
    following.start()
    shown = _Changed(context)
    while True:
        following.wait()
        try:
            code = run(args, shown)
        except CarrelError as error:
            if error.status not in _AWAY:
                raise
            # The connection for events may be well all the while, so that nothing else asks again.
            following.again()
            time.sleep(_POLL_S)
            continue
        if code:
            return code
        time.sleep(_SETTLE_S)


class _Changed(Context):
    """Prints a response only if it differs from the last one."""

    def __init__(self, context: Context) -> None:
        super().__init__(profile=context.profile, output=context.output)
        self._client = context.client
        self._last: object = None

    def answer(self, answer: object, show: Callable[[], None]) -> None:
        """On a terminal it replaces the last one; otherwise it is appended. JSON is one line each."""
        if answer == self._last:
            return
        if not self.structured:
            sys.stdout.write(_CLEAR if sys.stdout.isatty() else "\n" if self._last is not None else "")
        self._last = answer
        self.stream(answer, show)


class _Following(threading.Thread):
    """Reads events in the background, so that none is missed during a run."""

    def __init__(self, context: Context, kinds: tuple[str, ...]) -> None:
        super().__init__(daemon=True)
        self._events = context.client.events
        self._kinds = kinds
        self._news = threading.Event()
        self._error: CarrelError | None = None

    def run(self) -> None:
        try:
            for event in self._events.follow():
                # Each connection starts with hello; events before it may have been missed.
                if event["kind"] == "hello" or event["kind"].partition(".")[0] in self._kinds:
                    self._news.set()
        except CarrelError as error:
            self._error = error
            self._news.set()

    def wait(self) -> None:
        """Wait for an event. Raises: CarrelError when the stream ends."""
        self._news.wait()
        self._news.clear()
        if self._error:
            raise self._error

    def again(self) -> None:
        """Let the next `wait` return at once."""
        self._news.set()


class _Polling:
    """Replaces `_Following` where there are no events."""

    def __init__(self) -> None:
        self._pause_s = 0.0

    def start(self) -> None: ...

    def again(self) -> None: ...

    def wait(self) -> None:
        time.sleep(self._pause_s)
        self._pause_s = _POLL_S
