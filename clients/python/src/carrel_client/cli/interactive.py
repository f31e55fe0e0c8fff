"""Commands that connect this terminal to a program in a session."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from typing import Protocol

from carrel_client.channel import Broken
from carrel_client.cli.asking import no_terminal
from carrel_client.cli.context import Context
from carrel_client.cli.escape import Escape
from carrel_client.cli.output import say, write_bytes
from carrel_client.cli.parser import Arguments, container_argument
from carrel_client.errors import CarrelError
from carrel_client.execution import STDERR, STDOUT, Output, Terminal

_BLOCK = 65536
_BACKLOG_LIMIT = 1 << 20
# The server keeps a terminal for five minutes after its connection broke.
_REJOIN_FOR_S = 300.0
_CTRL_C = b"\x03"
_ENDINGS = (signal.SIGTERM, signal.SIGHUP)


def execute_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique beginning of it, or name")
    parser.add_argument("-i", "--stdin", action="store_true", help="pass standard input to the command")
    parser.add_argument(
        "-t", "--tty", action="store_true", help="give the command a terminal; with -i, this one"
    )
    parser.add_argument("--env", action="append", default=[], metavar="K=V", help="environment variable, K=V")
    container_argument(parser)
    parser.followed_by_command()
    parser.explain(
        "Run a command in a session. Its output and errors go to standard output and error, and its exit code is the\n"
        "exit code. Standard input is read only with -i; without it the command's input is empty, so that a loop in a\n"
        "script keeps its own. With -it, Enter ~ . leaves a command that hangs. What goes wrong before the command\n"
        "starts has the exit codes of carrel."
    )
    parser.example(
        "carrel session exec train-3 -- nproc",
        "tar c data | carrel session exec -i train-3 -- tar x",
        "carrel session exec -it train-3 -- htop",
    )


def execute(args: argparse.Namespace, context: Context) -> int:
    """Run a command; its exit code is ours."""
    env = dict(variable.partition("=")[::2] for variable in args.env)
    if args.tty:
        env.setdefault("TERM", os.environ.get("TERM", "xterm-256color"))
    tty = _size() if args.tty else None
    if args.tty and args.stdin and not sys.stdin.isatty():
        raise no_terminal(
            "-it needs a terminal, and standard input is none.", "Give -i alone to pass a pipe."
        )
    with (
        context.client.sessions.exec(
            args.id, args.command, env=env, tty=tty, container=args.container
        ) as execution,
        Keyboard(raw=args.tty and args.stdin, used=args.stdin) as keys,
    ):
        if not args.stdin:
            execution.end_input()
        code = _shuttle(execution, keys)
    return 0 if code is None else code


def terminal_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique beginning of it, or name")
    parser.add_argument("--attach", metavar="TERMINAL", help="come back to a terminal that was left")
    container_argument(parser)
    parser.without_output()
    parser.explain(
        "Work in a session. The terminal follows the size of yours, and comes back by itself after a break of the\n"
        "network. Enter ~ . leaves it; the shell goes on for five minutes, in which --attach finds it again.\n"
        "Enter ~ ~ types a tilde. The exit code is the shell's, and 0 when you leave."
    )
    parser.example("carrel session terminal train-3")


def terminal(args: argparse.Namespace, context: Context) -> int:
    """Work in a session until the shell ends or the person leaves."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise no_terminal(
            "A shell needs a terminal, and this is none.",
            f"For a script: carrel session exec {args.id} -- CMD",
        )
    cols, rows = _size()
    shell = context.client.sessions.terminal(
        args.id, cols=cols, rows=rows, terminal_id=args.attach, container=args.container
    )
    code = None
    try:
        with Keyboard(raw=True) as keys:
            code = _work(shell, keys)
    finally:
        shell.close()
    if code is None:
        where = f" --container {args.container}" if args.container else ""
        say(f"\nLeft. For five minutes: carrel session terminal {args.id}{where} --attach {shell.id}")
    return code or 0


class Peer(Protocol):
    """A program at the other end."""

    exit_code: int | None

    @property
    def backlog(self) -> int: ...

    def send(self, content: bytes) -> None: ...

    def end_input(self) -> None: ...

    def resize(self, cols: int, rows: int) -> None: ...

    def step(
        self, watched: tuple[int, ...] = (), *, timeout_s: float | None = None
    ) -> tuple[list[Output], set[int]]: ...


class Keyboard:
    """Standard input as a source: raw while in use when a terminal asks for it, and aware of its size.

    resized: a descriptor that becomes readable when the window has another size. used: whether it is read at all.
    """

    def __init__(self, *, raw: bool, used: bool = True) -> None:
        self._raw = raw and sys.stdin.isatty()
        self.escape = Escape() if self._raw else None
        self.open = used
        self.resized, self._wake = os.pipe()

    def __enter__(self) -> Keyboard:
        if self._raw:
            import termios
            import tty

            self._before = termios.tcgetattr(0)
            self._handlers = [(number, signal.getsignal(number)) for number in (signal.SIGWINCH, *_ENDINGS)]
            signal.signal(signal.SIGWINCH, self._note_size)
            for number in _ENDINGS:
                signal.signal(number, _end)
            tty.setraw(0, termios.TCSADRAIN)  # keeps what was typed while we connected
        return self

    def __exit__(self, *raised: object) -> None:
        if self._raw:
            import termios

            termios.tcsetattr(0, termios.TCSADRAIN, self._before)
            for number, handler in self._handlers:
                signal.signal(number, handler)
        os.close(self.resized)
        os.close(self._wake)

    def watched(self, backlog: int) -> tuple[int, ...]:
        """What to wait for: no more input while too much of it is still unsent."""
        reads = self.open and backlog < _BACKLOG_LIMIT
        return (0, self.resized) if reads else (self.resized,)

    def _note_size(self, *_: object) -> None:
        os.write(self._wake, b"w")

    def read(self) -> bytes:
        """What was typed or piped; nothing at its end, which also closes the source."""
        try:
            content = os.read(0, _BLOCK)
        except OSError:
            content = b""
        self.open = bool(content)
        return content


def _shuttle(peer: Peer, keys: Keyboard) -> int | None:
    """Carry bytes both ways until the program ends: its exit code; None when the person leaves first.

    Raises: Broken, CarrelError.
    """
    while peer.exit_code is None:
        outputs, readable = peer.step(keys.watched(peer.backlog))
        for output in outputs:
            write_bytes(output.content, STDERR if output.stream == STDERR else STDOUT)
        if keys.resized in readable:
            os.read(keys.resized, _BLOCK)
            peer.resize(*_size())
        if 0 in readable:
            typed = keys.read()
            if not typed:
                peer.end_input()
            elif keys.escape is None:
                peer.send(typed)
            else:
                passed, leaves = keys.escape.feed(typed)
                peer.send(passed)
                if leaves:
                    return None
    return peer.exit_code


def _work(shell: Terminal, keys: Keyboard) -> int | None:
    """Like `_shuttle`, across breaks of the network."""
    while True:
        try:
            return _shuttle(shell, keys)
        except Broken:
            _note("connection lost, trying again; Ctrl-C or Enter ~ . leaves")
        if not _rejoined(shell, keys):
            return None


def _rejoined(shell: Terminal, keys: Keyboard) -> bool:
    """Whether the terminal is connected again; no when the person leaves meanwhile."""
    began = time.monotonic()
    pause_s = 0.5
    while True:
        try:
            shell.rejoin()
        except (CarrelError, Broken) as error:
            passing = isinstance(error, Broken) or error.status in (502, 503, 504)
            if not passing or time.monotonic() - began > _REJOIN_FOR_S:
                raise
        else:
            _note("connected again")
            shell.resize(*_size())
            return True
        if _leaves_within(pause_s, keys):
            return False
        pause_s = min(5.0, pause_s * 1.5)


def _leaves_within(pause_s: float, keys: Keyboard) -> bool:
    """Wait, and say whether the person gave up. What else is typed meanwhile has nowhere to go."""
    import select

    ends_at = time.monotonic() + pause_s
    while (left_s := ends_at - time.monotonic()) > 0:
        if not select.select([0], [], [], left_s)[0]:
            return False
        typed = keys.read()
        if not typed or _CTRL_C in typed or (keys.escape and keys.escape.feed(typed)[1]):
            return True
    return False


def _end(number: int, _: object) -> None:
    """Leave by way of `finally`, so that the terminal is not left raw."""
    raise SystemExit(128 + number)


def _note(text: str) -> None:
    """A line from carrel itself on a raw terminal."""
    os.write(STDERR, f"\r\n[carrel: {text}]\r\n".encode())


def _size() -> tuple[int, int]:
    """Columns and rows of this terminal."""
    for descriptor in (STDOUT, 0, STDERR):
        try:
            columns, lines = os.get_terminal_size(descriptor)
        except OSError:
            continue
        if columns and lines:
            return columns, lines
    return 80, 24
