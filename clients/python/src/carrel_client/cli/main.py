"""The entry point of `carrel`: finds the command, runs it, and maps the result to an exit code."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client.errors import CarrelError

_BEFORE = ("-o", "--output", "--profile")
_INTERRUPTED = 130
_PIPE_CLOSED = 141


def main(argv: list[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    _occupy_standard_streams()
    try:
        code = _dispatch(words)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader of the pipe is gone; the interpreter must not fail when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED


def _occupy_standard_streams() -> None:
    """Open closed standard descriptors, so that no socket becomes standard input, output or error."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    names = ("stdin", "stdout", "stderr")
    for descriptor, name in enumerate(names):
        if getattr(sys, name) is None:
            mode = "w" if descriptor else "r"
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - stays open


def exit_code(error: CarrelError) -> int:
    """The exit code for an error, as documented."""
    if error.code in ("usage", "client.no_terminal"):
        return 2
    by_status = {401: 3, 403: 3, 404: 4, 408: 5}
    return by_status.get(error.status, 5 if error.status >= 500 else 1)


def _dispatch(words: list[str]) -> int:
    from carrel_client.cli.commands import OPERATOR

    if words and words[0] in OPERATOR:
        return _operate(words)
    words, moved = _options_in_front(words)
    if moved:
        words = _with_options(words, moved)
    if not words or words[0] in ("-h", "--help", "help"):
        return _help(words[1:])
    if words[0] in ("-V", "--version"):
        sys.stdout.write(f"carrel {_version()}\n")
        return 0
    if words[0] == "__complete":
        from carrel_client.cli.completion import complete

        return complete(words[1:])
    return _run(words)


def _version() -> str:
    """The client's; with the server's code beside it, that code's revision too."""
    from carrel_client import __version__

    try:
        from carrel import version
    except ImportError:
        return __version__
    full: str = version.full()
    return full


def _run(words: list[str]) -> int:
    from carrel_client.cli.commands import COMMANDS, GROUPS

    command = COMMANDS.get(" ".join(words[:2])) or COMMANDS.get(words[0])
    if command is None:
        return (
            _help(words)
            if words[0] in GROUPS and len(words) > 1 and words[1] in ("-h", "--help")
            else _lost(words)
        )
    from carrel_client.cli.context import Context
    from carrel_client.cli.output import report
    from carrel_client.cli.parser import arguments_of
    from carrel_client.errors import CarrelError

    parser, run = arguments_of(command)
    try:
        given = words[len(command.words.split()) :]
        if parser.kind_of:
            from carrel_client.cli.kinds import add_options

            add_options(parser, given, Context(profile=_profile(given), output="table"))
        args = parser.read(given)
        context = Context(profile=args.profile, output=getattr(args, "output", "table"))
        if getattr(args, "watch", False):
            from carrel_client.cli.watching import watch

            return watch(args, context, run, parser.watched)
        return run(args, context)
    except CarrelError as error:
        sys.stdout.flush()
        report(error)
        return exit_code(error)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0


def _profile(words: list[str]) -> str | None:
    """The profile that the words name, before they are read as a whole."""
    for at, word in enumerate(words):
        if word.startswith("--profile="):
            return word.partition("=")[2]
        if word == "--profile" and at + 1 < len(words):
            return words[at + 1]
    return None


def _operate(words: list[str]) -> int:
    """Run a command of the server's package, before heavy imports."""
    try:
        from carrel.server.command import main as operate
    except ModuleNotFoundError as missing:
        if missing.name not in ("carrel", "carrel.server", "carrel.server.command"):
            raise
        sys.stderr.write(
            f"error: `carrel {words[0]}` is a server command, but only the client is installed (usage)\n"
            "hint: on the server's machine, install it from a checkout: ./carrel up\n"
        )
        return 2
    code: int = operate(words)
    return code


def _help(words: list[str]) -> int:
    from carrel_client.cli.commands import COMMANDS, GROUPS
    from carrel_client.cli.parser import arguments_of, group_overview, overview

    command = COMMANDS.get(" ".join(words[:2])) or COMMANDS.get(words[0] if words else "")
    if command:
        arguments_of(command)[0].print_help()
    else:
        sys.stdout.write(group_overview(words[0]) if words and words[0] in GROUPS else overview())
    return 0


def _lost(words: list[str]) -> int:
    from carrel_client.cli.commands import GROUPS
    from carrel_client.cli.parser import USAGE, fail_unknown, group_overview

    if words[0] in GROUPS and len(words) == 1:
        sys.stderr.write(group_overview(words[0]))
        return USAGE
    return fail_unknown(words)


def _options_in_front(words: list[str]) -> tuple[list[str], list[str]]:
    """The words from the command on, and the options before it."""
    at = 0
    while at < len(words) and words[at].split("=")[0] in _BEFORE:
        at += 1 if "=" in words[at] else 2
    return words[at:], words[:at]


def _with_options(words: list[str], moved: list[str]) -> list[str]:
    """`carrel -o json session ls` means what `carrel session ls -o json` means."""
    from carrel_client.cli.commands import GROUPS

    if not words:
        return moved  # no command; report the option
    # Directly after the command, because everything after -- belongs to another program.
    depth = 2 if words[0] in GROUPS else 1
    return [*words[:depth], *moved, *words[depth:]]


if __name__ == "__main__":
    raise SystemExit(main())
