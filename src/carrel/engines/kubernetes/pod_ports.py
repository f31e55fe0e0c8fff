"""Connections to ports of pods: through the API server, and whether their addresses can be reached.

Source: v4.channel.k8s.io of port-forward. One WebSocket for each connection, with a channel for data and one for an
error; the first message of each is the number of the port.
"""

import asyncio
import errno
import socket
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp

from carrel.engines.kubernetes.cluster_nodes import ClusterNodes
from carrel.engines.kubernetes.kubernetes_api import ApiError, KubernetesApi
from carrel.engines.kubernetes.pod_processes import require_running
from carrel.engines.port import EngineError, EngineUnavailable

_PROTOCOL = "v4.channel.k8s.io"
_DATA = 0
_CHUNK_BYTES = 64 * 1024
_DIAL_S = 2.0
_PORT = 9
"""Nobody listens there, but the refusal comes from the pod."""


class PodPorts:
    """Open connections through the API server."""

    def __init__(self, api: KubernetesApi, nodes: ClusterNodes) -> None:
        self._api = api
        self._nodes = nodes
        self._tasks: set[asyncio.Task[None]] = set()

    async def connect(self, path: str, port: int) -> socket.socket:
        """Raises: ContainerGone, ApiError, EngineUnavailable."""
        await require_running(self._api, self._nodes, path)
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._carry(path, port, theirs, opened))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            await opened
        except BaseException:
            ours.close()
            task.cancel()
            raise
        return ours

    async def close(self) -> None:
        """Close all connections. Twice: no-op."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _carry(self, path: str, port: int, end: socket.socket, opened: "asyncio.Future[None]") -> None:
        """Carry bytes until one side closes."""
        reader, writer = await asyncio.open_connection(sock=end)
        try:
            ports = [("ports", str(port))]
            async with self._api.socket(f"{path}/portforward", ports, protocol=_PROTOCOL) as channels:
                opened.set_result(None)
                directions = {
                    asyncio.create_task(_send(reader, channels)),
                    asyncio.create_task(_receive(channels, writer)),
                }
                try:
                    await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for one in directions:
                        one.cancel()
                    # A connection that breaks is one that ends.
                    await asyncio.gather(*directions, return_exceptions=True)
        except (EngineError, ApiError) as error:
            if not opened.done():
                opened.set_exception(error)
        except (RuntimeError, ValueError, aiohttp.ClientError) as error:
            # The connection to the cluster is closed, as its settings have changed.
            if opened.done():
                raise
            opened.set_exception(EngineUnavailable(str(error)))
        finally:
            writer.close()


async def _send(reader: asyncio.StreamReader, channels: aiohttp.ClientWebSocketResponse) -> None:
    while chunk := await reader.read(_CHUNK_BYTES):
        await channels.send_bytes(bytes([_DATA]) + chunk)


async def _receive(channels: aiohttp.ClientWebSocketResponse, writer: asyncio.StreamWriter) -> None:
    """Until the data or an error ends: then the app has closed its connection, or does not listen."""
    met = set[int]()
    async for message in channels:
        if message.type is not aiohttp.WSMsgType.BINARY:
            continue
        channel, content = message.data[0], message.data[1:]
        if channel not in met:
            met.add(channel)
        elif channel != _DATA:
            return
        elif content:
            writer.write(content)
            await writer.drain()


async def reachable(pods: Sequence[Mapping[str, Any]]) -> bool | None:
    """True if a connection to the address of one of these pods is accepted or refused; None if none has its own."""
    addresses = [
        pod["status"]["podIP"]
        for pod in pods
        if not pod["spec"].get("hostNetwork") and pod["status"].get("podIP")
    ]
    if not addresses:
        return None
    return any(await asyncio.gather(*(_answers(address) for address in addresses[:3])))


async def _answers(address: str) -> bool:
    try:
        async with asyncio.timeout(_DIAL_S):
            _, writer = await asyncio.open_connection(address, _PORT)
        writer.close()
    except OSError as error:
        return error.errno == errno.ECONNREFUSED
    return True
