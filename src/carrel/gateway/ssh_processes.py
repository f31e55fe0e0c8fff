"""Processes of SSH channels: shells, commands and the SFTP server, by `Engine.exec`."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import asyncssh

from carrel.apps.container_ports import SHELLS
from carrel.apps.denials import of_engine
from carrel.apps.terminals import SHELL
from carrel.core.errors import CarrelError
from carrel.engines.port import Engine, EngineError, ExecStream, TerminalSize
from carrel.gateway.ssh_access import Entrance

SFTP = "sftp"
_STDERR = asyncssh.EXTENDED_DATA_STDERR
_BACKLOG_BYTES = 1 << 20
"""Input that waits for the process, before the client must wait."""
_BATCH_BYTES = 256 << 10
_FAILED = 255
_NOT_STARTED = (126, 127)
_LONGEST_FIRST_LINE = 16
_LONGEST_REFUSAL = 64 << 10
_PROGRAM = re.compile(r"\s*([\w./+-]+)(?:\s|$)")
"""Of a command that does not begin with an assignment, whose value may be a secret."""
_SIGNALS = (
    "ABRT",
    "ALRM",
    "FPE",
    "HUP",
    "ILL",
    "INT",
    "KILL",
    "PIPE",
    "QUIT",
    "SEGV",
    "TERM",
    "USR1",
    "USR2",
)
_ENVIRONMENT = ("LANG", "LANGUAGE", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TZ")

# All print their process id first; see `SHELL`.
_COMMAND = (
    "-c",
    'echo $$; liked=$CARREL_SHELL; unset CARREL_SHELL; for shell in "$liked" bash; do '
    '[ -n "$shell" ] && command -v "$shell" >/dev/null 2>&1 && exec "$shell" -c "$1"; done; exec sh -c "$1"',
    "sh",
)
_SFTP_SERVER = (
    "-c",
    "echo $$; for server in /usr/lib/openssh/sftp-server /usr/libexec/openssh/sftp-server /usr/lib/ssh/sftp-server "
    "/usr/libexec/sftp-server /opt/carrel/bin/sftp-server; do "
    '[ -x "$server" ] && exec "$server"; done; '
    'echo "The image of this session has no sftp-server, so sftp and scp do not work. Use scp -O or rsync, '
    'or an image with the package openssh-sftp-server." >&2; exit 127',
)


class Visit(Protocol):
    """A connection, as its channels use it. room: set while its client receives what is sent."""

    room: asyncio.Event

    @property
    def client(self) -> str:
        """The client's address and port, the server's port: as in SSH_CONNECTION."""
        ...

    async def entrance(self) -> Entrance:
        """Raises: CarrelError."""
        ...

    async def engine(self, entrance: Entrance) -> Engine:
        """Raises: EngineError, Unavailable."""
        ...

    async def note(self, entrance: Entrance, details: dict[str, object]) -> None:
        """Add an audit entry. Raises: Unavailable."""
        ...

    def record_activity(self) -> None: ...

    def take_room(self) -> None:
        """Count a channel to a port. Raises: ChannelOpenError."""
        ...

    def leave(self, session: object) -> None:
        """A channel with this session has closed."""
        ...


@dataclass(frozen=True)
class _Start:
    """What to run. noted: for the audit trail."""

    arguments: tuple[str, ...]
    noted: dict[str, object]


class ProcessSession(asyncssh.SSHServerSession[bytes]):
    """One channel: a process with input, output, signals and an exit code."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._start: _Start | None = None
        self._terminal: TerminalSize | None = None
        self._input: list[bytes] = []
        self._backlog = 0
        self._input_ended = False
        self._output: list[bytes] = []
        self._output_bytes = 0
        self._news = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._stream: ExecStream | None = None
        self._begun = asyncio.Event()
        self._pid: int | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._opened = False
        self._channel: asyncssh.SSHServerChannel[bytes]

    # What the client requests

    def connection_made(self, chan: asyncssh.SSHServerChannel[bytes]) -> None:
        self._channel = chan
        self._opened = True
        chan.set_write_buffer_limits(high=_BACKLOG_BYTES, low=_BACKLOG_BYTES // 4)

    def pty_requested(
        self, term_type: str, term_size: tuple[int, int, int, int], term_modes: Mapping[int, int]
    ) -> bool:
        self._terminal = _size(term_size[0], term_size[1])
        return True

    def shell_requested(self) -> bool:
        self._start = _Start(SHELL[1:], {"ssh": "shell"})
        return True

    def exec_requested(self, command: str) -> bool:
        program = _PROGRAM.match(command)
        noted = program[1][:100] if program else ""
        self._start = _Start((*_COMMAND, command), {"ssh": "command", "command": noted})
        return "\0" not in command

    def subsystem_requested(self, subsystem: str) -> bool:
        self._start = _Start(_SFTP_SERVER, {"ssh": SFTP})
        return subsystem == SFTP

    def session_started(self) -> None:
        self._begin(self._run())

    def data_received(self, data: bytes, datatype: int | None) -> None:
        self._input.append(data)
        self._backlog += len(data)
        if self._backlog > _BACKLOG_BYTES:
            self._channel.pause_reading()
        self._news.set()

    def eof_received(self) -> bool:
        self._input_ended = True
        self._news.set()
        return True

    def terminal_size_changed(self, width: int, height: int, pixwidth: int, pixheight: int) -> None:
        if self._terminal and self._stream:
            self._begin(self._stream.resize(_size(width, height)))
        if self._terminal:
            self._terminal = _size(width, height)

    def signal_received(self, signal: str) -> None:
        if signal in _SIGNALS and self._pid:
            self._begin(self._signal(signal))

    def break_received(self, msec: int) -> bool:
        return False

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._visit.leave(self)
        for task in self._tasks:
            task.cancel()

    def end(self, sentence: str) -> None:
        """End it early, with a sentence for the user."""
        for task in self._tasks:
            task.cancel()
        if not self._opened:
            return
        with suppress(OSError):
            self._say(b"%bcarrel: %b\n" % (b"\n" if self._terminal else b"", sentence.encode()))
            self._channel.exit(_FAILED)

    # The process

    async def _run(self) -> None:
        assert self._start
        try:
            entrance = await self._visit.entrance()
            await self._visit.note(entrance, self._start.noted)
            engine = await self._visit.engine(entrance)
            for shell in SHELLS:
                code, refusal = await self._attempt(engine, entrance, (shell, *self._start.arguments))
                if not refusal:
                    break
            if refusal:
                self._say(refusal)
            self._channel.exit(code)
        except (CarrelError, EngineError) as error:
            shown = of_engine(error) if isinstance(error, EngineError) else error
            self._say(f"carrel: {shown.message}{' ' + shown.hint if shown.hint else ''}\n".encode())
            self._channel.exit(_FAILED)
        except OSError:
            pass  # the client has closed the channel

    async def _attempt(
        self, engine: Engine, entrance: Entrance, command: tuple[str, ...]
    ) -> tuple[int, bytes]:
        """Run it; its exit code, and the engine's sentence if it could not be started. Raises: EngineError."""
        env = self._environment(entrance.shell)
        async with engine.exec(entrance.container, command, env=env, terminal=self._terminal) as stream:
            self._stream = stream
            feeding = asyncio.create_task(self._feed(stream))
            try:
                refusal = await self._show(stream)
                code = await stream.exit_code()
            except asyncio.CancelledError:
                # An engine hangs up what has no terminal.
                if self._terminal and self._pid:
                    await self._signal("HUP")
                raise
            finally:
                feeding.cancel()
                await asyncio.wait([feeding])
        return code, refusal if code in _NOT_STARTED else b""

    async def _show(self, stream: ExecStream) -> bytes:
        """Send the output; returns it instead if the shell never printed its first line."""
        first: bytes | None = b""
        refusal = b""
        async for number, piece in stream.output():
            if first is not None:
                if len(refusal) > _LONGEST_REFUSAL:
                    raise EngineError("The session's shell does not start.", retriable=False)
                if number != 1:
                    refusal += piece
                    continue
                first += piece
                line, newline, piece = first.partition(b"\n")
                if not newline and len(first) <= _LONGEST_FIRST_LINE:
                    continue
                if not line.strip().isdigit():
                    refusal += first
                    first = b""
                    continue
                self._pid, first = int(line), None
                self._begun.set()
                if refusal:  # it was only faster than the first line
                    self._channel.write(refusal, _STDERR)
                    refusal = b""
            if not piece:
                continue
            self._visit.record_activity()
            if number == 1:
                self._collect(piece)
            else:
                self._send()
                self._channel.write(piece, _STDERR)
            await self._writable.wait()
            await self._visit.room.wait()
        self._send()
        return refusal + (first or b"")

    def _collect(self, piece: bytes) -> None:
        """Send the piece together with those that arrive at the same time: fewer packets, and full ones."""
        if not self._output:
            asyncio.get_running_loop().call_soon(self._send)
        self._output.append(piece)
        self._output_bytes += len(piece)
        if self._output_bytes >= _BATCH_BYTES:
            self._send()

    def _send(self) -> None:
        if self._output:
            output, self._output, self._output_bytes = self._output, [], 0
            with suppress(OSError):  # the client has closed the channel
                self._channel.write(output[0] if len(output) == 1 else b"".join(output))

    async def _feed(self, stream: ExecStream) -> None:
        """Pass the input on, with back pressure, once the shell cannot mistake it for its own."""
        await self._begun.wait()
        while True:
            while not self._input and not self._input_ended:
                self._news.clear()
                await self._news.wait()
            if not self._input:
                await stream.close_stdin()
                return
            async for batch in self._batches():
                self._visit.record_activity()
                await stream.write(batch)

    async def _batches(self) -> AsyncIterator[bytes]:
        """All input that waits, few large pieces."""
        while self._input:
            taken, size = 0, 0
            while taken < len(self._input) and size < _BATCH_BYTES:
                size += len(self._input[taken])
                taken += 1
            batch = self._input[0] if taken == 1 else b"".join(self._input[:taken])
            del self._input[:taken]
            self._backlog -= size
            yield batch
            if self._backlog <= _BACKLOG_BYTES // 2:
                self._channel.resume_reading()

    def _environment(self, shell: str) -> dict[str, str]:
        sent = {
            name: value
            for name, value in self._channel.get_environment().items()
            if name in _ENVIRONMENT or name.startswith("LC_")
        }
        own = {"CARREL_SHELL": shell, "SSH_CONNECTION": self._visit.client}
        if agent := self._channel.get_agent_path():
            own["SSH_AUTH_SOCK"] = agent
        if self._terminal:
            own["TERM"] = self._channel.get_terminal_type() or "xterm-256color"
        return {"LANG": "C.UTF-8", **sent, **own}

    async def _signal(self, name: str) -> None:
        with suppress(CarrelError, EngineError):
            entrance = await self._visit.entrance()
            engine = await self._visit.engine(entrance)
            command = ("sh", "-c", f"kill -{name} -{self._pid} 2>/dev/null || kill -{name} {self._pid}")
            async with engine.exec(entrance.container, command, env={}, terminal=None) as stream:
                await stream.exit_code()

    def _say(self, sentence: bytes) -> None:
        if self._terminal:
            self._channel.write(sentence.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
        else:
            self._channel.write(sentence, _STDERR)

    def _begin(self, work: "asyncio.Future[None] | object") -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)  # type: ignore[arg-type]
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _size(columns: int, rows: int) -> TerminalSize:
    return TerminalSize(min(columns, 1000) or 80, min(rows, 1000) or 24)
