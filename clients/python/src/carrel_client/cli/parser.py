"""From a command's words to its arguments, and the help that says which there are."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable

from carrel_client.cli.commands import COMMANDS, GROUPS, OPERATOR, Command
from carrel_client.cli.context import Context
from carrel_client.cli.output import say, terminal_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from _typeshed import SupportsWrite

USAGE = 2
_WIDEST = 100
_NEAR = 0.75
"""How alike two words are (1 is the same) when one may be a slip for the other."""
EXIT_CODES = (
    (0, "it worked"),
    (1, "the server said no, or a session did not become what was waited for"),
    (2, "the command was not understood, or it needs a terminal and there is none"),
    (3, "you are not signed in, or may not"),
    (4, "there is no such thing"),
    (5, "the server cannot be reached, is not ready, or took too long"),
    (130, "interrupted"),
)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal. Without a width, argparse imports four compression libraries to find it."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(terminal_width(), _WIDEST))


class Arguments(argparse.ArgumentParser):
    """What may follow a command's words. Examples and explanation are shown by --help and in the reference."""

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
        self.watched: tuple[str, ...] = ()

    def explain(self, text: str) -> None:
        """More than the one line of the table."""
        self.explanation = text

    def example(self, *lines: str) -> None:
        """Command lines that work as they stand."""
        self.examples += lines

    def without_output(self) -> None:
        """This command prints what another program writes, so that -o means nothing to it."""
        self.takes_output = False

    def watches(self, *kinds: str) -> None:
        """Let this list be followed. kinds: of the events after which it may look different, "session".

        Without any it is asked for every few seconds.
        """
        self.watched = kinds
        self.add_argument(
            "-w", "--watch", action="store_true", help="show the list again whenever it changes, until Ctrl-C"
        )

    def followed_by_command(self) -> None:
        """Behind a -- comes a command with options of its own, which are none of ours: `args.command`."""
        self.takes_command = True
        self.add_argument("command", metavar="-- CMD", nargs="*", help="the command and its arguments")
        self.without_output()

    def read(self, words: list[str]) -> argparse.Namespace:
        """The arguments of a command line, in whatever order options and other words stand. Raises: SystemExit.

        argparse gives a list such as SETTING... the words before the next option and no others, so options are read
        first, from what stands before a --, and the other words afterwards.
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
            if args.command or not behind:
                self.error("the command comes behind a --")
            args.command = behind
        return args

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """All of it, also while only a part of the arguments is read."""
        self._actions = self._every
        super().print_help(file)

    def _read_only(
        self, actions: list[argparse.Action], words: list[str], args: argparse.Namespace | None
    ) -> tuple[argparse.Namespace, list[str]]:
        """What these arguments take of the words, and the words that they leave."""
        groups = self._mutually_exclusive_groups
        self._actions = actions
        if args is not None:
            self._mutually_exclusive_groups = []  # they were looked at when the options were read
        try:
            return self.parse_known_args(words, args)
        finally:
            self._actions, self._mutually_exclusive_groups = self._every, groups

    def finish(self) -> None:
        """Add what every command has, and put the help together."""
        if self.takes_output:
            self.add_argument(
                "-o",
                "--output",
                type=reading(_output_format),
                default="table",
                metavar="FORMAT",
                help="how to print the answer: table (default), json, yaml or jsonpath=TEMPLATE",
            )
        self.add_argument("--profile", help="the profile to use, see carrel login")
        self.add_argument("-h", "--help", action="help", help="show this and stop")
        self._every = self._actions
        self.description = self.explanation
        if self.examples:
            self.epilog = "examples:\n" + "\n".join(f"  {line}" for line in self.examples)

    def error(self, message: str) -> NoReturn:
        """Say what was not understood, and stop with the exit code for it."""
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
    """A parser of values for argparse whose own words are shown when it refuses one."""

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
    """A number from 0 up. Raises: ValueError."""
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
            "Sessions on shared machines: ask for one, work in it, leave it.",
            "",
            *_section("commands", {**{f"{name} ...": text for name, text in GROUPS.items()}, **singles}),
            "",
            *_section("for the one who runs the server", OPERATOR),
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
    """Say that there is no such command, and which there is that looks like it."""
    from difflib import get_close_matches

    tried = " ".join(words[:2]) if words[0] in GROUPS else words[0]
    group = f"{words[0]} " if words[0] in GROUPS else ""
    members = [known.removeprefix(group) for known in COMMANDS if known.startswith(group)]
    known = members if group else [*members, *GROUPS, *OPERATOR]
    # A word of a group, such as ls, is known although it stands in the wrong place.
    near = [] if group else [known for known in COMMANDS if known.endswith(f" {tried}")]
    near += [group + word for word in get_close_matches(tried.removeprefix(group), known, n=1, cutoff=_NEAR)]
    say(f"error: there is no command {tried!r} (usage)")
    say(f"hint: did you mean: carrel {near[0]}" if near else f"hint: carrel {group}--help")
    return USAGE


def container_argument(parser: Arguments) -> None:
    """Which of several is meant."""
    parser.add_argument(
        "--container", metavar="NAME", help="container of the session, such as sub1; default: main"
    )
