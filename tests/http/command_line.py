"""The installed `carrel` command as a person runs it: as a process, with pipes or in a terminal of its own."""

import asyncio
import fcntl
import json
import os
import pty
import re
import shlex
import signal
import struct
import sys
import termios
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from installation import Api
from people import eventually

CARREL = str(Path(sys.executable).parent / "carrel")


@dataclass(frozen=True)
class Done:
    """A run that has ended."""

    code: int
    stdout: bytes
    stderr: str


@dataclass
class CommandLine:
    """Runs `carrel` as one person, whose keypair is in the environment."""

    environment: dict[str, str]

    async def run(self, *words: str, stdin: bytes = b"") -> Done:
        process = await self.start(*words, stdin=asyncio.subprocess.PIPE)
        stdout, stderr = await asyncio.wait_for(process.communicate(stdin), 60)
        assert process.returncode is not None
        return Done(process.returncode, stdout, stderr.decode())

    async def ok(self, *words: str, stdin: bytes = b"") -> str:
        """What a run that must succeed prints."""
        done = await self.run(*words, stdin=stdin)
        assert done.code == 0, done.stderr
        return done.stdout.decode()

    async def types(self, line: str) -> str:
        """What a run that must succeed prints, of a line as a person types it behind `carrel`."""
        return await self.ok(*shlex.split(line))

    async def as_json(self, *words: str) -> Any:
        """What a run that must succeed prints with `-o json`."""
        return json.loads(await self.ok(*words, "-o", "json"))

    async def start(self, *words: str, stdin: int = asyncio.subprocess.DEVNULL) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            CARREL,
            *words,
            env=self.environment,
            stdin=stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    def in_terminal(
        self, *words: str, cols: int = 80, rows: int = 24
    ) -> AbstractAsyncContextManager["Screen"]:
        """The command in a terminal, killed at the end if it still runs."""
        return in_terminal(CARREL, *words, environment=self.environment, cols=cols, rows=rows)


@asynccontextmanager
async def in_terminal(
    *command: str, environment: dict[str, str], cols: int = 80, rows: int = 24, cwd: Path | None = None
) -> AsyncIterator["Screen"]:
    """A program in a terminal of its own, killed at the end if it still runs."""
    near, far = pty.openpty()
    os.set_blocking(near, False)
    _resize(near, cols, rows)
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, cwd=cwd, stdin=far, stdout=far, stderr=far, start_new_session=True
    )
    screen = Screen(near, far, process)
    asyncio.get_running_loop().add_reader(near, screen.take)
    try:
        yield screen
    finally:
        asyncio.get_running_loop().remove_reader(near)
        if process.returncode is None:
            process.kill()
        await process.wait()
        os.close(near)
        os.close(far)


class Screen:
    """A terminal's other side: what was shown on it, and keys to press."""

    def __init__(self, near: int, far: int, process: asyncio.subprocess.Process) -> None:
        self._near = near
        self._far = far
        self.process = process
        self.shown = b""

    def take(self) -> None:
        self.shown += os.read(self._near, 65536)

    async def press(self, keys: bytes) -> None:
        """Type, as fast as the command takes it."""
        left = memoryview(keys)

        async def typed() -> bool:
            nonlocal left
            try:
                left = left[os.write(self._near, left) :]
            except BlockingIOError:
                pass
            return not left

        await eventually(typed, every_s=0.001)

    async def until(self, text: bytes) -> None:
        """Wait for a text, and forget what was shown up to its end."""

        async def appears() -> bool:
            return text in self.shown

        try:
            await eventually(appears)
        except AssertionError:
            raise AssertionError(f"no {text!r} in {self.shown!r}") from None
        self.shown = self.shown.partition(text)[2]

    async def conversation(
        self, question: re.Pattern[bytes], answer: Callable[[re.Match[bytes]], bytes], *, until: bytes
    ) -> bytes:
        """Answer every question at the end of what is shown, until a text comes. Gives all that was shown."""
        answered = 0

        async def over() -> bool:
            nonlocal answered
            match = question.search(self.shown, answered)
            if match:
                answered = len(self.shown)
                await self.press(answer(match))
            return re.search(re.escape(until) + rb"\d+ ", self.shown) is not None

        try:
            await eventually(over, within_s=120)
        except AssertionError:
            raise AssertionError(f"it waits behind {self.shown[-500:]!r}") from None
        return self.shown

    def resize(self, cols: int, rows: int) -> None:
        _resize(self._near, cols, rows)
        self.process.send_signal(signal.SIGWINCH)

    @property
    def raw(self) -> bool:
        """Whether keys go through unchanged and unechoed."""
        return not termios.tcgetattr(self._far)[3] & (termios.ICANON | termios.ECHO)

    async def ended(self) -> int:
        return await asyncio.wait_for(self.process.wait(), 20)


class Line:
    """A network line to the server that a test can cut: connections go through here."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._open: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    async def connect(self) -> None:
        self._server = await asyncio.start_server(self._carry, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Break all connections and take no new ones."""
        assert self._server
        self._server.close()
        for writer in self._open:
            writer.transport.abort()
        self._open.clear()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._open |= {writer, far_writer}
        await asyncio.gather(_pipe(reader, far_writer), _pipe(far_reader, writer))


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while block := await reader.read(65536):
            writer.write(block)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


def _resize(descriptor: int, cols: int, rows: int) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


async def command_line(api: Api, name: str, home: Path) -> CommandLine:
    """The command line of a person of `People`."""
    caller = await api.as_(name)
    assert caller.actor
    return as_keypair(f"http://127.0.0.1:{api.port}", await api.keypair(caller.actor), home)


def as_keypair(url: str, keypair: tuple[str, str], home: Path) -> CommandLine:
    """The command line of whoever has that keypair."""
    access_key, secret_key = keypair
    return CommandLine(
        {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TERM": "xterm",
            "CARREL_URL": url,
            "CARREL_ACCESS_KEY": access_key,
            "CARREL_SECRET_KEY": secret_key,
        }
    )
