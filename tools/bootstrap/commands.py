"""Command lines handled before anything is installed: help and invalid commands."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

_OPERATOR = ("up", "down", "status", "serve", "backup", "restore", "uninstall")
_GREETING = """\
Carrel is not set up in this directory yet. Start with:

  ./carrel up              set up and start Carrel, and print its URL; asks before it installs anything
  ./carrel up --yes        the same without questions
  ./carrel test            run all checks of the project
  ./carrel up --help       list the options

"""
_FURTHER = "More commands (./carrel --help) are available after the setup.\n"


def check(root: Path, command: str, arguments: Sequence[str]) -> None:
    """Print the requested help, or reject an invalid option. Raises: SystemExit after printing."""
    if command in _OPERATOR:
        _module(root / "src" / "carrel" / "server" / "grammar.py").parse([command, *arguments])
    elif command == "test":
        _module(root / "tools" / "checks" / "options.py").parse(arguments)
    elif command == "bench":
        _module(root / "bench" / "options.py").parse(arguments)


def answer_from_sources(root: Path, arguments: Sequence[str]) -> int | None:
    """The exit code of help or of an unknown command, handled by the client's code; otherwise None.

    The client needs only Python, but a newer version than this file.
    """
    asks_for_help = not arguments or arguments[0] in ("-h", "--help", "help")
    if asks_for_help and len(arguments) < 2:
        print(_GREETING, end="", flush=True)
    if sys.version_info < (3, 11):  # noqa: UP036 - this file runs before that is installed
        if asks_for_help:
            print(_FURTHER, end="")
        return 0 if asks_for_help else None
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root / "clients" / "python" / "src"))
    from carrel_client.cli import main
    from carrel_client.cli.commands import COMMANDS, OPERATOR

    words = list(arguments)
    is_known = bool(words) and (" ".join(words[:2]) in COMMANDS or words[0] in {*COMMANDS, *OPERATOR})
    before_dashes = words[: words.index("--")] if "--" in words else words
    wants_help = asks_for_help or {"-h", "--help"} & {*before_dashes}
    is_operator = bool(words) and words[0] in OPERATOR
    is_option = bool(words) and words[0].startswith("-") and not asks_for_help
    if is_operator or is_option or (is_known and not wants_help):
        return None
    code: int = main.main(words)
    return code


def _module(file: Path) -> ModuleType:
    """Load a file of the checkout as a module, without its package."""
    spec = importlib.util.spec_from_file_location(f"carrel_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
