"""Processes in containers, as byte streams."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

import aiodocker

from carrel.engines.docker import answers
from carrel.engines.docker.api import DockerApi
from carrel.engines.docker.pipe import Pipe
from carrel.engines.port import ContainerGone, EngineError, EngineUnavailable, ExecStream, TerminalSize
from carrel.engines.refused import RefusedProcess

_FIRST_LOOK_S = 0.005
_LAST_LOOK_S = 1.0
_END_OF_TRANSMISSION = b"\x04"
_KILLED = 137
_MARK = "CARREL_PROCESS"
"""Environment variable that identifies the processes of one exec in a container."""


@asynccontextmanager
async def run_process(
    api: DockerApi,
    daemon_name: str,
    command: Sequence[str],
    env: Mapping[str, str],
    terminal: TerminalSize | None,
) -> AsyncIterator[ExecStream]:
    """Start a process in a running container as the container's user, in its working directory.

    Raises: ContainerGone, EngineUnavailable.
    """
    with_terminal = terminal is not None
    mark = f"{_MARK}={secrets.token_hex(8)}"
    body: dict[str, object] = {
        "Cmd": list(command),
        "Env": [*(f"{name}={value}" for name, value in env.items()), mark],
        "Tty": with_terminal,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
    }
    if terminal is not None:
        # Daemons before API 1.42 ignore it and get the size by the resize below, slightly later.
        body["ConsoleSize"] = [terminal.rows, terminal.cols]
    try:
        made = await api.call("POST", f"containers/{daemon_name}/exec", body=body)
        start = {"Detach": False, "Tty": with_terminal}
        async with api.hijack(f"exec/{made['Id']}/start", start, terminal=with_terminal) as pipe:
            process = DockerProcess(api, made["Id"], pipe, command[0], with_terminal=with_terminal)
            if terminal is not None:
                await process.resize(terminal)
            try:
                yield process
            finally:
                if terminal is None:
                    await process.hang_up(daemon_name, mark)
    except aiodocker.DockerError as error:
        # Some daemons report a missing command before they return the connection.
        refused = answers.unstarted(command[0], error.message, with_terminal=with_terminal)
        if refused is None:
            raise gone_or_refused(daemon_name, error) from error
    else:
        return
    yield refused


# Finds processes by the mark in their environment, which children inherit. Uses only shell builtins: the image may have
# nothing else. `read` stops at a newline inside a value, hence the inner loop.
_HANG_UP = """
for folder in /proc/[0-9]*; do
  while read -r line || [ -n "$line" ]; do
    case "$line" in *%s*) kill -HUP "${folder#/proc/}"; break;; esac
  done <"$folder/environ"
done 2>/dev/null
"""


async def send_input(api: DockerApi, daemon_name: str, content: bytes) -> None:
    """Write to the standard input of the main process. Raises: ContainerGone, EngineUnavailable."""
    try:
        shown = await api.call("GET", f"containers/{daemon_name}/json")
        # The daemon would keep what is sent to a stopped one until its next start.
        if not shown["State"]["Running"]:
            raise ContainerGone(f"The container {daemon_name} is not running.")
        if not shown["Config"]["OpenStdin"]:
            raise EngineError(f"The container {daemon_name} has no standard input.", retriable=True)
        attach = f"containers/{daemon_name}/attach?stream=1&stdin=1"
        async with api.hijack(attach, terminal=True) as pipe:
            await pipe.write(content)
            if pipe.end_input():
                # The daemon closes the connection when it has passed everything on.
                async for _ in pipe.output():
                    pass
    except aiodocker.DockerError as error:
        raise gone_or_refused(daemon_name, error) from error
    except ConnectionError as error:
        raise EngineUnavailable(f"The container engine at {api.url} closed the connection early.") from error


_NOT_RUNNING = ("is not running", "only create exec sessions on running containers")


def gone_or_refused(daemon_name: str, error: aiodocker.DockerError) -> EngineError:
    """The error for a request that requires a running container."""
    if error.status in (404, 409) or any(sign in error.message for sign in _NOT_RUNNING):
        return ContainerGone(f"The container {daemon_name} is not running.")
    return EngineError(f"The container engine refused: {error.message.rstrip('.')}.", retriable=True)


class DockerProcess:
    """An `ExecStream` over the daemon's raw connection."""

    def __init__(self, api: DockerApi, exec_id: str, pipe: Pipe, name: str, *, with_terminal: bool) -> None:
        self._api = api
        self._exec_id = exec_id
        self._pipe = pipe
        self._name = name
        self._with_terminal = with_terminal
        self._refused: RefusedProcess | None = None
        self._input_open = True
        self._silent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Set once the output was read to its end; the daemon accepts no input afterwards."""

    async def output(self) -> AsyncIterator[tuple[int, bytes]]:
        first = True
        async for piece in self._pipe.output():
            if first:
                first, self._refused = False, await self._refusal(piece[1])
            if self._refused is None:
                yield piece
        if self._refused is not None:
            async for piece in self._refused.output():
                yield piece
        # The process ended or the connection broke: `exit_code` tells which.
        if not self._silent.done():
            self._silent.set_result(None)

    async def _refusal(self, output: bytes) -> RefusedProcess | None:
        """The daemon's error in place of output, if the process never started: it has no process id."""
        text = output.decode(errors="replace")
        refused = answers.unstarted(self._name, text, with_terminal=self._with_terminal)
        if refused is None:
            return None
        try:
            seen = await self._api.call("GET", f"exec/{self._exec_id}/json")
        except aiodocker.DockerError:
            return None
        return refused if not seen["Running"] and not seen["Pid"] else None

    async def write(self, chunk: bytes) -> None:
        if not self._input_open or self._silent.done():
            return
        writing = asyncio.ensure_future(self._pipe.write(chunk))
        try:
            await asyncio.wait({writing, self._silent}, return_when=asyncio.FIRST_COMPLETED)
            if writing.done():
                writing.result()
        except ConnectionError:
            self._input_open = False  # the process has ended; nothing reads it
        finally:
            writing.cancel()

    async def close_stdin(self) -> None:
        if not self._input_open:
            return
        if self._with_terminal:
            # A terminal has no end of file; this key signals it to programs that read lines.
            await self.write(_END_OF_TRANSMISSION)
        self._input_open = False
        if not self._with_terminal:
            self._pipe.end_input()

    async def resize(self, size: TerminalSize) -> None:
        if not self._with_terminal:
            return
        params = {"h": str(size.rows), "w": str(size.cols)}
        try:
            await self._api.call("POST", f"exec/{self._exec_id}/resize", params=params)
        except aiodocker.DockerError:
            pass  # ended meanwhile

    async def exit_code(self) -> int:
        if self._refused is not None:
            return self._refused.code
        look_s = _FIRST_LOOK_S
        while True:
            try:
                seen = await self._api.call("GET", f"exec/{self._exec_id}/json")
            except aiodocker.DockerError as error:
                if error.status == 404:
                    return _KILLED  # the container was deleted with its processes
                raise gone_or_refused("of this process", error) from error
            if not seen["Running"] and seen["ExitCode"] is not None:
                return int(seen["ExitCode"])
            await self._wait_a_little(look_s)
            look_s = min(look_s * 2, _LAST_LOOK_S)

    async def _wait_a_little(self, seconds: float) -> None:
        """Wait for the end of output, at most this long."""
        if self._silent.done():
            await asyncio.sleep(seconds)
        else:
            await asyncio.wait({self._silent}, timeout=seconds)

    async def hang_up(self, daemon_name: str, mark: str) -> None:
        """Send SIGHUP to the process and its children if it still runs, since its client is gone.

        The daemon has no API for that, and would buffer the output of an abandoned process forever.
        """
        with suppress(aiodocker.DockerError, EngineUnavailable):
            if (await self._api.call("GET", f"exec/{self._exec_id}/json"))["Running"]:
                body = {"Cmd": ["/bin/sh", "-c", _HANG_UP % mark]}
                made = await self._api.call("POST", f"containers/{daemon_name}/exec", body=body)
                start = {"Detach": True}
                await self._api.call("POST", f"exec/{made['Id']}/start", body=start)
