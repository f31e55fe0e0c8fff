"""Processes in pods, as byte streams over a WebSocket of channels.

Source: v5.channel.k8s.io (Kubernetes 1.29). See `process_scripts` for the environment of a process.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import aiohttp

from carrel.engines.kubernetes import process_scripts
from carrel.engines.kubernetes.cluster_nodes import ClusterNodes
from carrel.engines.kubernetes.kubernetes_api import ApiError, KubernetesApi
from carrel.engines.kubernetes.pod_answers import observed
from carrel.engines.kubernetes.pods import SESSION
from carrel.engines.port import (
    ContainerGone,
    EngineError,
    EngineUnavailable,
    ExecStream,
    ObservedState,
    TerminalSize,
)

_STDIN, _STDOUT, _STDERR, _STATUS, _RESIZE, _CLOSE = 0, 1, 2, 3, 4, 255
_CHUNK_BYTES = 32 * 1024
_END_OF_TRANSMISSION = b"\x04"
_KILLED = 137


@asynccontextmanager
async def run_process(
    api: KubernetesApi,
    nodes: ClusterNodes,
    path: str,
    command: Sequence[str],
    env: Mapping[str, str],
    terminal: TerminalSize | None,
) -> AsyncIterator[ExecStream]:
    """Start a process in the main container of the pod at this path.

    Raises: ContainerGone, EngineUnavailable.
    """
    mark = secrets.token_hex(8)
    await require_running(api, nodes, path)
    if terminal is not None:
        async with _terminal(api, path, command, env, terminal, mark) as process:
            yield process
        return
    words = process_scripts.reading(command, mark) if env else process_scripts.running(command, mark)
    async with _socket(api, path, words, None) as socket:
        process = KubernetesProcess(socket, with_terminal=False)
        try:
            if env:
                await process.write(process_scripts.exports(env, mark))
            yield process
        finally:
            if not process.reported:
                await run_quietly(api, path, process_scripts.hanging_up(mark))


@asynccontextmanager
async def _terminal(
    api: KubernetesApi,
    path: str,
    command: Sequence[str],
    env: Mapping[str, str],
    size: TerminalSize,
    mark: str,
) -> AsyncIterator["KubernetesProcess"]:
    """A process with a terminal, which goes on without its connection."""
    words = process_scripts.running(command, mark)
    process = None
    try:
        if env:
            await _keep(api, path, env, mark)
            words = process_scripts.loading(command, mark)
        async with _socket(api, path, words, size) as socket:
            process = KubernetesProcess(socket, with_terminal=True)
            await process.resize(size)
            yield process
    finally:
        if env and process is None:
            await run_quietly(api, path, process_scripts.dropping(mark))


async def _keep(api: KubernetesApi, path: str, env: Mapping[str, str], mark: str) -> None:
    """Write the variables to a file in the container."""
    async with _socket(api, path, process_scripts.keeping(mark), None) as socket:
        writing = KubernetesProcess(socket, with_terminal=False)
        await writing.write(process_scripts.exports(env, mark))
        async for _ in writing.output():
            pass
        if not writing.reported:
            raise EngineUnavailable("The connection to the container broke.")
        if await writing.exit_code():
            raise EngineError("Its memory for files and its disk are full.", retriable=False)


async def send_input(api: KubernetesApi, nodes: ClusterNodes, path: str, content: bytes) -> None:
    """Write to the standard input of the main process. Raises: ContainerGone, EngineUnavailable, EngineError."""
    pod = await require_running(api, nodes, path)
    if not any(one["name"] == SESSION and one.get("stdin") for one in pod["spec"]["containers"]):
        name = path.rsplit("/", 1)[1]
        raise EngineError(f"The container {name} has no standard input.", retriable=True)
    passed_on = False
    async with api.socket(f"{path}/attach", [("container", SESSION), ("stdin", "true")]) as socket:
        for chunk in _chunks(content):
            await socket.send_bytes(bytes([_STDIN]) + chunk)
        # Only of this connection: the process goes on reading. The server reports when it has everything.
        await socket.send_bytes(bytes([_CLOSE, _STDIN]))
        async for message in socket:
            if message.type is aiohttp.WSMsgType.BINARY and message.data[0] == _STATUS and message.data[1:]:
                passed_on = json.loads(message.data[1:]).get("status") == "Success"
    if not passed_on:
        await require_running(api, nodes, path)
        raise EngineUnavailable("The cluster did not pass the input on.")


async def run_quietly(api: KubernetesApi, path: str, words: Sequence[str]) -> None:
    """Run a command to its end; a pod that is gone is ignored."""
    with suppress(EngineError, ApiError):
        async with _socket(api, path, words, None) as socket:
            async for _ in socket:
                pass


async def output_of(api: KubernetesApi, path: str, words: Sequence[str]) -> bytes:
    """What a command in the pod prints, until it ends. Raises: ApiError, EngineUnavailable."""
    out = b""
    async with _socket(api, path, words, None) as socket:
        async for message in socket:
            if message.type is aiohttp.WSMsgType.BINARY and message.data[0] == _STDOUT:
                out += message.data[1:]
    return out


async def require_running(api: KubernetesApi, nodes: ClusterNodes, path: str) -> Any:
    """The pod. Raises: ContainerGone, EngineUnavailable."""
    name = path.rsplit("/", 1)[1]
    gone = ContainerGone(f"The container {name} is not running.")
    try:
        pod = await api.call("GET", path)
    except ApiError as error:
        if error.status != 404:
            raise
        raise gone from error
    if observed(pod).state is not ObservedState.RUNNING:
        raise gone
    await nodes.require(pod["spec"]["nodeName"])
    return pod


@asynccontextmanager
async def _socket(
    api: KubernetesApi, path: str, words: Sequence[str], terminal: TerminalSize | None
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    on = {"container": SESSION, "stdin": "true", "stdout": "true"}
    on |= {"tty": "true"} if terminal else {"stderr": "true"}
    async with api.socket(f"{path}/exec", [*on.items(), *(("command", word) for word in words)]) as socket:
        yield socket


class KubernetesProcess:
    """An `ExecStream` over the API server's channels."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, *, with_terminal: bool) -> None:
        self._socket = socket
        self._with_terminal = with_terminal
        self._input_open = True
        self._code: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.reported = False
        """True once the server has reported its end; it may go on if the connection broke before."""

    async def output(self) -> AsyncIterator[tuple[int, bytes]]:
        try:
            async for message in self._socket:
                if message.type is not aiohttp.WSMsgType.BINARY:
                    continue
                channel, content = message.data[0], message.data[1:]
                # A connection begins with an empty message of each channel.
                if channel in (_STDOUT, _STDERR) and content:
                    yield channel, content
                elif channel == _STATUS and content:
                    self.reported = True
                    self._set_code(_exit_code(json.loads(content)))
        except (aiohttp.ClientError, ConnectionError):
            pass  # the connection broke
        # A process whose connection broke has lost its container, as far as anybody can tell.
        self._set_code(_KILLED)

    def _set_code(self, code: int) -> None:
        if not self._code.done():
            self._code.set_result(code)

    async def write(self, chunk: bytes) -> None:
        for part in _chunks(chunk):
            if not self._input_open or self._code.done():
                return
            await self._send(bytes([_STDIN]) + part)

    async def close_stdin(self) -> None:
        if not self._input_open:
            return
        if self._with_terminal:
            # A terminal has no end of file; this key signals it to programs that read lines.
            await self.write(_END_OF_TRANSMISSION)
        else:
            await self._send(bytes([_CLOSE, _STDIN]))
        self._input_open = False

    async def resize(self, size: TerminalSize) -> None:
        if self._with_terminal:
            content = json.dumps({"Width": size.cols, "Height": size.rows})
            await self._send(bytes([_RESIZE]) + content.encode())

    async def exit_code(self) -> int:
        return await asyncio.shield(self._code)

    async def _send(self, message: bytes) -> None:
        sending = asyncio.ensure_future(self._socket.send_bytes(message))
        try:
            # Once it has ended, nothing reads.
            either: set[asyncio.Future[Any]] = {sending, self._code}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        except (aiohttp.ClientError, ConnectionError):
            self._input_open = False
        finally:
            sending.cancel()


def _chunks(content: bytes) -> Iterator[bytes]:
    for begin in range(0, len(content), _CHUNK_BYTES):
        yield content[begin : begin + _CHUNK_BYTES]


def _exit_code(status: Mapping[str, Any]) -> int:
    if status.get("status") == "Success":
        return 0
    causes = (status.get("details") or {}).get("causes") or ()
    return next((int(one["message"]) for one in causes if one.get("reason") == "ExitCode"), _KILLED)
