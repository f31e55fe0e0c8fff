"""Questions before something is removed, and what happens where nobody can be asked."""

from __future__ import annotations

import argparse
import sys

from carrel_client.cli.output import counted, printable, say
from carrel_client.cli.parser import Arguments
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def no_terminal(detail: str, hint: str) -> CarrelError:
    """The error of every command that needs a terminal and has none. Its exit code is 2."""
    return CarrelError("client.no_terminal", detail, status=422, hint=hint)


def require_terminal(hint: str = "Give --yes to go on without being asked.") -> None:
    """Raises: CarrelError unless a person reads standard error and types on standard input."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise no_terminal("This asks before it goes on, and there is no terminal to ask on.", hint)


def yes_argument(parser: Arguments) -> None:
    """The option of every command that removes or ends something."""
    parser.add_argument("--yes", action="store_true", help="do not ask; needed where there is no terminal")


def confirmed(question: str, *, yes: bool) -> bool:
    """Whether somebody answers yes, or --yes did. Raises: CarrelError without a terminal."""
    if yes:
        return True
    require_terminal()
    return _answer(f"{printable(question)} [y/N] ").lower() in ("y", "yes")


def retyped(expected: str, *, yes: bool) -> bool:
    """Whether somebody types these words, before what cannot be undone. Raises: CarrelError without a terminal."""
    if yes:
        return True
    require_terminal()
    return _answer(f"This cannot be undone. Type {printable(expected)} to go on: ") == expected


def removal_confirmed(args: argparse.Namespace, kind: str, refs: Sequence[str]) -> bool:
    """Whether these shall be removed. kind: what one of them is called, "policy"."""
    if confirmed(f"Remove {_these(kind, refs)}?", yes=args.yes):
        return True
    say("Nothing is removed.")
    return False


def agreed(args: argparse.Namespace, question: str, kind: str, refs: Sequence[str]) -> bool:
    """Whether that shall be done to these. question: with a place for them, "Put {} in the trash?"."""
    if confirmed(question.format(_these(kind, refs)), yes=args.yes):
        return True
    say("Nothing is changed.")
    return False


def _these(kind: str, refs: Sequence[str]) -> str:
    return f"{kind} {refs[0]}" if len(refs) == 1 else counted(len(refs), kind)


def _answer(question: str) -> str:
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip()
