"""Commands that connect this terminal to a program in a session."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from typing import Protocol

from carrel_client.channel import ChannelBroken
from carrel_client.cli.asking import no_terminal
from carrel_client.cli.context import Context
from carrel_client.cli.escape import Escape
from carrel_client.cli.output import say, write_bytes
from carrel_client.cli.parser import Arguments, container_argument
from carrel_client.errors import CarrelError
from carrel_client.execution import STDERR, STDOUT, Output, RemoteTerminal

_BLOCK = 65536
_BACKLOG_LIMIT = 1 << 20
# The server keeps a disconnected terminal for five minutes.
_REJOIN_FOR_S = 300.0
_CTRL_C = b"\x03"
_ENDINGS = (signal.SIGTERM, signal.SIGHUP)


def execute_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.add_argument("-i", "--stdin", action="store_true", help="forward standard input to the command")
    parser.add_argument(
        "-t", "--tty", action="store_true", help="allocate a terminal; with -i, attach this one"
    )
    parser.add_argument("--env", action="append", default=[], metavar="K=V", help="environment variable, K=V")
    container_argument(parser)
    parser.followed_by_command()
    parser.without_output()
    parser.explain(
        "Run a command in a session. Its output and errors go to standard output and error, and its exit code\n"
        "is returned. Standard input is forwarded only with -i, so that a command in a shell loop does not\n"
        "consume the loop's input. With -it, Enter ~ . leaves a command that hangs. Errors before the command\n"
        "starts use the exit codes of carrel."
    )
    parser.example(
        "carrel session exec train-3 -- nproc",
        "tar c data | carrel session exec -i train-3 -- tar x",
        "carrel session exec -it train-3 -- htop",
    )


def execute(args: argparse.Namespace, context: Context) -> int:
    """Run a command and return its exit code."""
    env = dict(variable.partition("=")[::2] for variable in args.env)
    if args.tty:
        env.setdefault("TERM", os.environ.get("TERM", "xterm-256color"))
    tty = _size() if args.tty else None
    if args.tty and args.stdin and not sys.stdin.isatty():
        raise no_terminal("-it needs a terminal, but standard input is not one.", "Use -i alone for a pipe.")
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
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.add_argument("--attach", metavar="TERMINAL", help="reattach to a terminal")
    container_argument(parser)
    parser.without_output()
    parser.explain(
        "Open a terminal in a session. It follows the size of your terminal and reconnects after a network\n"
        "failure. Enter ~ . leaves it; the shell keeps running for five minutes, in which --attach\n"
        "reconnects. Enter ~ ~ types a tilde. The exit code is the shell's, or 0 when you leave."
    )
    parser.example("carrel session terminal train-3")


def terminal(args: argparse.Namespace, context: Context) -> int:
    """Run a terminal until the shell ends or the user leaves."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise no_terminal(
            "This command needs a terminal.",
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
    """A remote process."""

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

    resized: a descriptor that becomes readable when the window is resized. used: read standard input at all.
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
            tty.setraw(0, termios.TCSADRAIN)  # keeps input typed while connecting
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
        """Descriptors to wait for; no input while too much of it is unsent."""
        reads = self.open and backlog < _BACKLOG_LIMIT
        return (0, self.resized) if reads else (self.resized,)

    def _note_size(self, *_: object) -> None:
        os.write(self._wake, b"w")

    def read(self) -> bytes:
        """Read input; empty at the end, which closes the source."""
        try:
            content = os.read(0, _BLOCK)
        except OSError:
            content = b""
        self.open = bool(content)
        return content


def _shuttle(peer: Peer, keys: Keyboard) -> int | None:
    """Forward bytes both ways until the process ends. Returns its exit code, or None if the user leaves first.

    Raises: ChannelBroken, CarrelError.
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


def _work(shell: RemoteTerminal, keys: Keyboard) -> int | None:
    """Like `_shuttle`, with reconnects."""
    while True:
        try:
            return _shuttle(shell, keys)
        except ChannelBroken:
            _note("connection lost, trying again; Ctrl-C or Enter ~ . leaves")
        if not _rejoined(shell, keys):
            return None


def _rejoined(shell: RemoteTerminal, keys: Keyboard) -> bool:
    """Reconnect the terminal; False if the user leaves meanwhile."""
    began = time.monotonic()
    pause_s = 0.5
    while True:
        try:
            shell.rejoin()
        except (CarrelError, ChannelBroken) as error:
            passing = isinstance(error, ChannelBroken) or error.status in (502, 503, 504)
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
    """Wait; True if the user gave up. Other input is discarded."""
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
    """Exit through `finally`, so that the terminal is reset."""
    raise SystemExit(128 + number)


def _note(text: str) -> None:
    """Print a message on a raw terminal."""
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
