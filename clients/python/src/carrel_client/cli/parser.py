"""Argument parsing and help."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Mapping

from carrel_client.cli.commands import COMMANDS, GROUPS, OPERATOR, Command
from carrel_client.cli.context import Context
from carrel_client.cli.output import say, terminal_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from _typeshed import SupportsWrite

USAGE = 2
_WIDEST = 100
_NEAR = 0.75
"""Similarity (1 is equal) from which a word is suggested for a typo."""
EXIT_CODES = (
    (0, "success"),
    (1, "the server rejected the request, or a session did not reach the expected state"),
    (2, "usage error, or a terminal is required"),
    (3, "not signed in, or not permitted"),
    (4, "not found"),
    (5, "the server is unreachable, not ready, or timed out"),
    (130, "interrupted"),
)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal. Without a width, argparse imports four compression libraries to find it."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(terminal_width(), _WIDEST))


class Arguments(argparse.ArgumentParser):
    """The arguments of a command. --help and the reference show the explanation and examples."""

    def __init__(self, command: Command) -> None:
        super().__init__(
            prog=f"carrel {command.words}",
            allow_abbrev=False,
            add_help=False,
            formatter_class=_Formatter,
        )
        self.explanation = command.summary + "."
        self.examples: list[str] = []
        self.takes_output = True
        self.takes_command = False
        self.replaces_command: tuple[str, ...] = ()
        self.watched: tuple[str, ...] = ()
        self.kind_of: Callable[[Context, str], Mapping[str, Any]] | None = None
        """Of a command that takes the settings of a kind as options: the kind, from its first argument."""

    def explain(self, text: str) -> None:
        """Set the description, beyond the one-line summary."""
        self.explanation = text

    def example(self, *lines: str) -> None:
        """Add complete example command lines."""
        self.examples += lines

    def without_output(self) -> None:
        """The command prints raw output, so it has no -o option."""
        self.takes_output = False

    def watches(self, *kinds: str) -> None:
        """Add --watch. kinds: events that may change the list, such as "session"; without any it polls every few
        seconds.
        """
        self.watched = kinds
        self.add_argument(
            "-w",
            "--watch",
            action="store_true",
            help="print the list again whenever it changes, until Ctrl-C",
        )

    def followed_by_command(self, *unless: str) -> None:
        """A command with its own options follows after --: `args.command`. unless: arguments that replace it."""
        self.takes_command = True
        self.replaces_command = unless
        self.add_argument("command", metavar="-- CMD", nargs="*", help="the command and its arguments")

    def read(self, words: list[str]) -> argparse.Namespace:
        """Parse a command line with options and positional arguments in any order. Raises: SystemExit.

        argparse assigns to a list argument only the words before the next option, so options before -- are parsed
        first and positional arguments afterwards.
        """
        cut = words.index("--") if "--" in words else len(words)
        before, behind = words[:cut], words[cut + 1 :]
        options = [action for action in self._every if action.option_strings]
        args, others = self._read_only(options, before, None)
        if behind and not self.takes_command:
            others += ["--", *behind]
        positionals = [action for action in self._every if not action.option_strings]
        args, unknown = self._read_only(positionals, others, args)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        if self.takes_command:
            replaced = any(getattr(args, name, None) for name in self.replaces_command)
            if args.command or not (behind or replaced):
                self.error("the command must follow after --")
            args.command = behind
        return args

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """The full usage, also while only part of the arguments is parsed."""
        self._actions = self._every
        super().print_help(file)

    def _read_only(
        self, actions: list[argparse.Action], words: list[str], args: argparse.Namespace | None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse these arguments; returns the remaining words."""
        groups = self._mutually_exclusive_groups
        self._actions = actions
        if args is not None:
            self._mutually_exclusive_groups = []  # checked when the options were parsed
        try:
            return self.parse_known_args(words, args)
        finally:
            self._actions, self._mutually_exclusive_groups = self._every, groups

    def finish(self) -> None:
        """Add the common options and build the help."""
        if self.takes_output:
            self.add_argument(
                "-o",
                "--output",
                type=reading(_output_format),
                default="table",
                metavar="FORMAT",
                help="output format: table (default), json, yaml or jsonpath=TEMPLATE",
            )
        self.add_argument("--profile", help="the profile to use, see carrel login")
        self.add_argument("-h", "--help", action="help", help="show this help")
        self._every = self._actions
        self.description = self.explanation
        if self.examples:
            self.epilog = "examples:\n" + "\n".join(f"  {line}" for line in self.examples)

    def error(self, message: str) -> NoReturn:
        """Print a usage error and exit with its code."""
        say(f"error: {message} (usage)")
        say(f"hint: {self.prog} --help")
        raise SystemExit(USAGE)


def arguments_of(command: Command) -> tuple[Arguments, Callable[[argparse.Namespace, Context], int]]:
    """The parser of a command, and the function that runs it."""
    module = importlib.import_module(f"carrel_client.cli.{command.module}")
    parser = Arguments(command)
    getattr(module, f"{command.function}_arguments")(parser)
    parser.finish()
    run: Callable[[argparse.Namespace, Context], int] = getattr(module, command.function)
    return parser, run


def reading(parse: Callable[[str], object]) -> Callable[[str], object]:
    """A value parser for argparse whose own error message is shown."""

    def read(text: str) -> object:
        try:
            return parse(text)
        except ValueError as wrong:
            raise argparse.ArgumentTypeError(str(wrong)) from None

    return read


def _output_format(text: str) -> str:
    if text in ("table", "json"):
        return text
    from carrel_client.cli.formats import output_format  # which most commands never need

    return output_format(text)


def whole_number(text: str) -> int:
    """A number of at least 0. Raises: ValueError."""
    if not text.isdigit():
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def overview() -> str:
    """The help of `carrel` itself."""
    singles = {words: command.summary for words, command in COMMANDS.items() if " " not in words}
    return "\n".join(
        [
            "usage: carrel COMMAND ...",
            "",
            "Run and manage compute sessions on shared machines.",
            "",
            *_section("commands", {**{f"{name} ...": text for name, text in GROUPS.items()}, **singles}),
            "",
            *_section("server administration", OPERATOR),
            "",
            *_section("exit codes", {str(code): meaning for code, meaning in EXIT_CODES}),
            "",
            "carrel COMMAND --help explains a command and gives examples.",
            "",
        ]
    )


def group_overview(group: str) -> str:
    """The help of a group of commands."""
    members = {words: command.summary for words, command in COMMANDS.items() if words.startswith(f"{group} ")}
    lines = [
        f"usage: carrel {group} COMMAND ...",
        "",
        f"{GROUPS[group]}.",
        "",
        *_section("commands", members),
    ]
    return "\n".join([*lines, "", f"carrel {group} COMMAND --help explains one.", ""])


def _section(title: str, entries: dict[str, str]) -> list[str]:
    width = max(map(len, entries))
    return [f"{title}:", *(f"  {name:<{width}}  {text}" for name, text in entries.items())]


def fail_unknown(words: list[str]) -> int:
    """Report an unknown command and suggest a similar one."""
    from difflib import get_close_matches

    tried = " ".join(words[:2]) if words[0] in GROUPS else words[0]
    group = f"{words[0]} " if words[0] in GROUPS else ""
    members = [known.removeprefix(group) for known in COMMANDS if known.startswith(group)]
    known = members if group else [*members, *GROUPS, *OPERATOR]
    # A subcommand, such as ls, in the wrong place.
    near = [] if group else [known for known in COMMANDS if known.endswith(f" {tried}")]
    near += [group + word for word in get_close_matches(tried.removeprefix(group), known, n=1, cutoff=_NEAR)]
    say(f"error: there is no command {tried!r} (usage)")
    say(f"hint: did you mean: carrel {near[0]}" if near else f"hint: carrel {group}--help")
    return USAGE


def container_argument(parser: Arguments) -> None:
    """Add --container."""
    parser.add_argument(
        "--container", metavar="NAME", help="container of the session, such as sub1; default: main"
    )
