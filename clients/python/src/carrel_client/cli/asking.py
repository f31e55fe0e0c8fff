"""Confirmation prompts, and the error when there is no terminal."""

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


def require_terminal(hint: str = "Use --yes to skip the confirmation.") -> None:
    """Raises: CarrelError unless standard error and standard input are terminals."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise no_terminal("This command asks for confirmation, but there is no terminal.", hint)


def yes_argument(parser: Arguments) -> None:
    """The option of every command that removes or ends something."""
    parser.add_argument(
        "--yes", action="store_true", help="skip the confirmation; required without a terminal"
    )


def confirmed(question: str, *, yes: bool) -> bool:
    """True if the user confirms or --yes is set. Raises: CarrelError without a terminal."""
    if yes:
        return True
    require_terminal()
    return answered(f"{printable(question)} [y/N] ").lower() in ("y", "yes")


def retyped(expected: str, *, yes: bool) -> bool:
    """True if the user types the expected text, for actions that cannot be undone.

    Raises: CarrelError without a terminal.
    """
    if yes:
        return True
    require_terminal()
    return answered(f"This cannot be undone. Type {printable(expected)} to continue: ") == expected


def removal_confirmed(args: argparse.Namespace, kind: str, refs: Sequence[str]) -> bool:
    """Confirm a removal. kind: the noun, such as "policy"."""
    if confirmed(f"Remove {_these(kind, refs)}?", yes=args.yes):
        return True
    say("Nothing was removed.")
    return False


def agreed(args: argparse.Namespace, question: str, kind: str, refs: Sequence[str]) -> bool:
    """Confirm an action. question: with a placeholder, "Put {} in the trash?"."""
    if confirmed(question.format(_these(kind, refs)), yes=args.yes):
        return True
    say("Nothing was changed.")
    return False


def _these(kind: str, refs: Sequence[str]) -> str:
    return f"{kind} {refs[0]}" if len(refs) == 1 else counted(len(refs), kind)


def answered(question: str) -> str:
    """The line that the user types."""
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip()
