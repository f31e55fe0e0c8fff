"""Processes in pods, against a small API server."""

import re
import socket
from collections.abc import AsyncIterator
from urllib.parse import unquote_plus

import aiohttp.client_ws
import pytest
from aiohttp import web
from people import stops_growing
from tiny_api_server import TinyApiServer, exits, machine, running

from carrel.engines.kubernetes import KubernetesEngine

_PIECE = bytes(1 << 16)


@pytest.fixture
async def server() -> AsyncIterator[TinyApiServer]:
    async with TinyApiServer() as server:
        server.objects["api/v1/nodes/a"] = machine()
        server.objects["api/v1/namespaces/carrel/pods/carrel-lab-abc"] = running("abc")
        yield server


@pytest.fixture
async def engine(server: TinyApiServer) -> AsyncIterator[KubernetesEngine]:
    engine = KubernetesEngine(server.access(), "lab")
    yield engine
    await engine.close()


async def test_a_reader_may_pause_for_as_long_as_it_likes(
    server: TinyApiServer, engine: KubernetesEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # aiohttp gives a peer up whose pong it has not read in time: at once here.
    monkeypatch.setattr(aiohttp.client_ws, "calculate_timeout_when", lambda now, *rest: now + 0.01)
    sent = []

    async def pour(request: web.Request, socket: web.WebSocketResponse) -> None:
        for _ in range(1000):
            await socket.send_bytes(b"\x01" + _PIECE)
            sent.append(1)
        await exits(socket, 3)

    server.on_exec = pour
    async with engine.exec("abc", ("cat",), env={}, terminal=None) as process:
        await stops_growing(lambda: len(sent))
        assert len(sent) < 1000
        output = [len(content) async for _, content in process.output()]
        assert sum(output) == 1000 * len(_PIECE)
        assert await process.exit_code() == 3


async def test_the_kernel_notices_that_the_server_is_gone(engine: KubernetesEngine) -> None:
    async with engine.exec("abc", ("true",), env={}, terminal=None) as process:
        connection = process._socket.get_extra_info("socket")  # type: ignore[attr-defined]
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30


async def test_a_process_whose_connection_breaks_is_hung_up(
    server: TinyApiServer, engine: KubernetesEngine
) -> None:
    async def breaks(request: web.Request, socket: web.WebSocketResponse) -> None:
        server.on_exec = hung_up
        assert request.transport is not None
        request.transport.abort()

    async def hung_up(request: web.Request, socket: web.WebSocketResponse) -> None:
        await exits(socket)

    server.on_exec = breaks
    async with engine.exec("abc", ("cat",), env={}, terminal=None) as process:
        assert [piece async for piece in process.output()] == []
        assert await process.exit_code() == 137
    first, second = (unquote_plus(one) for one in server.seen if "/exec" in one)
    assert "kill -HUP" in second
    mark = re.search(r"CARREL_PROCESS=\w+", first)
    assert mark
    assert mark[0] in second
