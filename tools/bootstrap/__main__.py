"""The first command: prepares this checkout, then executes the real `carrel`.

Standard library only, and Python 3.9, because nothing is installed yet. If everything is up to date, it only compares a
few checksums.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import commands
from debian import Authorities
from environment import Environment
from page import Page
from screen import SetupError, ask, has_terminal, say

ROOT = Path(__file__).resolve().parents[2]


class Part(Protocol):
    """A required component. sentence: what `make` installs, for users."""

    @property
    def sentence(self) -> str: ...

    def is_new(self) -> bool:
        """True if it was never installed: then the user is asked first."""
        ...

    def is_current(self) -> bool: ...

    def make(self) -> None: ...


def main(arguments: list[str]) -> int:
    command = arguments[0] if arguments else "--help"
    # 1. Commands without installation: help, and rejecting invalid ones.
    commands.check(ROOT, command, arguments[1:])
    if not (ROOT / ".venv").exists() and (code := commands.answer_from_sources(ROOT, arguments)) is not None:
        return code
    # 2. Components that the command needs.
    parts = required_parts(command, arguments)
    if not all(part.is_current() for part in parts):
        with alone():
            # Another process may have installed them while this one waited for the lock.
            missing = [part for part in parts if not part.is_current()]
            agree(missing, arguments)
            for part in missing:
                part.make()
    return hand_over(command, arguments)


def required_parts(command: str, arguments: Sequence[str]) -> list[Part]:
    """In installation order."""
    environment = Environment(ROOT, with_tests=command in ("test", "bench"))
    parts: list[Part] = [environment]
    if command in ("up", "serve", "bench") or (command == "test" and tests_need_page(arguments)):
        parts.append(Page(ROOT))
    if not all(part.is_current() for part in parts):
        parts.insert(0, Authorities(ROOT))
    return parts


def tests_need_page(arguments: Sequence[str]) -> bool:
    """False if `--only` names only parts that do not use the page."""
    words = " ".join(arguments).replace("=", " ").split()
    if "--only" not in words[:-1]:
        return True
    parts = words[words.index("--only") + 1].split(",")
    return not set(parts) <= {"lint", "sizes", "unit", "store", "simulation", "conformance"}


def agree(missing: Sequence[Part], arguments: Sequence[str]) -> None:
    """Show what will be installed and ask; what was confirmed before is only shown.

    Raises: SetupError, exit code 2, without a terminal or when the user declines.
    """
    if not missing:
        return
    lines = "\n".join(f"  - {part.sentence}" for part in missing)
    needs_consent = any(part.is_new() for part in missing) and "--yes" not in arguments
    say(f"{'the following will be installed' if needs_consent else 'setting up'}:\n{lines}")
    if not needs_consent:
        return
    if not has_terminal():
        words = " ".join(arguments)
        command = f"./carrel {words} --yes" if arguments[:1] in (["up"], ["test"]) else "./carrel up --yes"
        raise SetupError(
            "nothing was installed: there is no terminal to ask for confirmation.",
            hint=f"Run: {command}",
            code=2,
        )
    if not ask("continue?"):
        raise SetupError("nothing was installed.", code=2)


@contextmanager
def alone() -> Iterator[None]:
    """Lock the checkout: a second first command waits."""
    folder = ROOT / ".tools"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        os.set_inheritable(lock.fileno(), True)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another ./carrel is setting up this checkout; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def hand_over(command: str, arguments: Sequence[str]) -> int:
    """Execute the real command; returns only if it cannot be started."""
    programs = ROOT / ".venv" / "bin"
    python = str(programs / "python")
    if command == "test":
        # The checks call npm, so they need the Node.js that was found or installed.
        words = [python, str(ROOT / "tools" / "checks"), *arguments[1:]]
        os.execve(python, words, Page(ROOT).variables())
    if command == "bench":
        os.chdir(ROOT)
        os.execv(python, [python, "-m", "bench", *arguments[1:]])
    os.execv(programs / "carrel", ["carrel", *arguments])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except SetupError as error:
        say(str(error))
        if error.hint:
            say(error.hint)
        sys.exit(error.code)
    except KeyboardInterrupt:
        say("interrupted; run the command again to continue")
        sys.exit(130)
