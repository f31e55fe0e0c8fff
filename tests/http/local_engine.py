"""A fake engine whose processes are real ones of this machine, for what only a real terminal can show."""

import asyncio
import contextlib
import fcntl
import os
import pty
import shutil
import signal
import struct
import sys
import termios
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from carrel.engines.fake import FakeContainer, FakeEngine
from carrel.engines.port import ExecStream, LogRecord, TerminalSize
from carrel.engines.refused import missing

_IGNORED_S = 10.0


class LocalEngine(FakeEngine):
    """home: where its processes run; `main.log` in it stands for the main process's output."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self.home = home
        self.log = home / "main.log"
        self.log.touch()
        self.processes: list[asyncio.subprocess.Process] = []

    async def logs(
        self, container: str, *, follow: bool, tail: int | None = None, since: bytes | None = None
    ) -> AsyncIterator[Sequence[LogRecord]]:
        at = b"2026-01-01T00:00:00.000000000Z"
        lines = self.log.read_bytes().splitlines(keepends=True)
        if chosen := lines if tail is None else lines[max(len(lines) - tail, 0) :]:
            yield [LogRecord(at, 1, line) for line in chosen]

    @contextlib.asynccontextmanager
    async def process(
        self,
        container: FakeContainer,
        command: Sequence[str],
        env: Mapping[str, str],
        terminal: TerminalSize | None,
    ) -> AsyncIterator[ExecStream]:
        if shutil.which(command[0]) is None:
            yield missing(command[0], with_terminal=terminal is not None)
            return
        words = list(command)
        home = str(self.home)
        around = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "PS1": "$ ", **env}
        process = await (
            self._on_terminal(words, around, terminal) if terminal else self._on_pipes(words, around)
        )
        self.processes.append(process.process)
        try:
            yield process
        finally:
            await process.leave()

    async def _on_pipes(self, words: list[str], env: dict[str, str]) -> "LocalProcess":
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *words, env=env, cwd=self.home, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
        assert process.stdin
        assert process.stdout
        assert process.stderr
        return LocalProcess(process, process.stdin, {1: process.stdout, 2: process.stderr}, None)

    async def _on_terminal(self, words: list[str], env: dict[str, str], size: TerminalSize) -> "LocalProcess":
        ours, theirs = pty.openpty()
        _set_size(ours, size)
        # A helper process makes the terminal its controlling one, which only the child itself can do.
        take = (
            "import fcntl,os,sys,termios;os.setsid();fcntl.ioctl(0,termios.TIOCSCTTY,0);"
            "os.execvp(sys.argv[1],sys.argv[1:])"
        )
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-S",
            "-c",
            take,
            *words,
            env=env,
            cwd=self.home,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(ours), "rb", 0)
        )
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.streams.FlowControlMixin(), os.fdopen(os.dup(ours), "wb", 0)
        )
        writer = asyncio.StreamWriter(transport, protocol, None, loop)
        return LocalProcess(process, writer, {1: reader}, ours)


class LocalProcess:
    """An `ExecStream` over a process of this machine."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        stdin: asyncio.StreamWriter,
        outputs: dict[int, asyncio.StreamReader],
        terminal: int | None,
    ) -> None:
        self.process = process
        self._stdin = stdin
        self._outputs = outputs
        self._terminal = terminal

    async def output(self) -> AsyncIterator[tuple[int, bytes]]:
        queue: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue(1)

        async def read(number: int, reader: asyncio.StreamReader) -> None:
            try:
                while chunk := await reader.read(32768):
                    await queue.put((number, chunk))
            except OSError:
                pass  # how a terminal says that nobody writes to it any more
            await queue.put((number, b""))

        tasks = [asyncio.create_task(read(number, reader)) for number, reader in self._outputs.items()]
        try:
            left = len(tasks)
            while left:
                number, chunk = await queue.get()
                left -= not chunk
                if chunk:
                    yield number, chunk
        finally:
            for task in tasks:
                task.cancel()

    async def write(self, chunk: bytes) -> None:
        try:
            self._stdin.write(chunk)
            await self._stdin.drain()
        except ConnectionError:
            pass

    async def close_stdin(self) -> None:
        if self._terminal is not None:
            await self.write(b"\x04")
        else:
            self._stdin.close()

    async def resize(self, size: TerminalSize) -> None:
        if self._terminal is not None:
            _set_size(self._terminal, size)
            os.kill(self.process.pid, signal.SIGWINCH)

    async def exit_code(self) -> int:
        code = await self.process.wait()
        return 128 - code if code < 0 else code

    async def leave(self) -> None:
        self._stdin.close()
        if self._terminal is not None:
            os.close(self._terminal)
        elif self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGHUP)
            # Otherwise nobody ever sees the end of output that nobody read. It kills what ignores the signal, too.
            close = self.process._transport.close  # type: ignore[attr-defined]
            asyncio.get_running_loop().call_later(_IGNORED_S, close)


def _set_size(terminal: int, size: TerminalSize) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", size.rows, size.cols, 0, 0))
