"""Terminal output of the first command: the plan, a question, one line per step."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_REPEAT_S = 5.0
_SILENT_S = 2.0
_FRAME_S = 0.2


class SetupError(Exception):
    """Ends the first command. hint: what to do. code: the exit code."""

    def __init__(self, message: str, *, hint: str = "", code: int = 1) -> None:
        super().__init__(message)
        self.hint = hint
        self.code = code


def say(text: str) -> None:
    print(f"carrel: {text}", file=sys.stderr, flush=True)


def ask(question: str) -> bool:
    """True if the user agrees. Only for a terminal."""
    try:
        return input(f"carrel: {question} [Y/n] ").strip().lower() in ("", "y", "yes")
    except EOFError:
        return False


def has_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


@contextmanager
def step(title: str) -> Iterator[None]:
    """Show the title and elapsed seconds: a running counter on a terminal, otherwise a line every five seconds."""
    began = time.monotonic()
    ended = threading.Event()
    show = _count_on_terminal if sys.stderr.isatty() else _count_in_lines
    counter = threading.Thread(target=show, args=(title, ended), daemon=True)
    counter.start()
    try:
        yield
    except BaseException:
        ended.set()
        counter.join()
        raise
    ended.set()
    counter.join()
    if sys.stderr.isatty() or time.monotonic() - began > _SILENT_S:
        say(f"{title}: done in {time.monotonic() - began:.1f} s")


def run(
    title: str, command: Sequence[str | Path], *, log: Path, cwd: Path, env: Mapping[str, str] | None = None
) -> None:
    """Run a command as a step; its output goes to the log.

    Raises: SetupError with the end of the output on failure.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with step(title):
        with log.open("wb") as output:
            process = subprocess.run(
                [str(word) for word in command],
                cwd=cwd,
                env={**(os.environ if env is None else env), "NO_COLOR": "1"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # The child inherits the lock on this checkout, in case this process is killed before it ends.
                close_fds=False,
                check=False,
            )
        if process.returncode != 0:
            raise SetupError(
                f"{title} failed:\n{_end_of(log)}", hint=f"The complete output is in {os.path.relpath(log)}"
            )


def _end_of(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return "\n".join(f"  {line}" for line in lines[-15:])


def _count_on_terminal(title: str, ended: threading.Event) -> None:
    began = time.monotonic()
    frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
    turn = 0
    while not ended.wait(_FRAME_S):
        turn += 1
        sys.stderr.write(f"\r\x1b[K{frames[turn % len(frames)]} {title} {time.monotonic() - began:.0f} s")
        sys.stderr.flush()
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()


def _count_in_lines(title: str, ended: threading.Event) -> None:
    began = time.monotonic()
    say(f"{title} ...")
    while not ended.wait(_REPEAT_S):
        say(f"{title} ... {time.monotonic() - began:.0f} s")
