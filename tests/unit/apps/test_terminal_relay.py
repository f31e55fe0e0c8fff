"""Messages of a terminal in another copy, to a client that does not read for a while."""

import asyncio
from typing import Any, cast

import aiohttp.client_ws
import pytest
from aiohttp import web
from people import stops_growing
from starlette.websockets import WebSocket

from carrel.apps.terminal_relay import PATH, TerminalRelay
from carrel.engines.port import TerminalSize

_PIECES, _PIECE = 1000, bytes(1 << 16)


class SlowClient:
    """Reads nothing until it may."""

    def __init__(self) -> None:
        self.may_read = asyncio.Event()
        self.received = 0
        self.code = 0

    async def send_bytes(self, content: bytes) -> None:
        await self.may_read.wait()
        self.received += len(content)

    async def receive(self) -> Any:
        await asyncio.Event().wait()

    async def close(self, code: int, reason: str) -> None:
        self.code = code


async def test_a_client_may_pause_for_as_long_as_it_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    # aiohttp gives a peer up whose pong it has not read in time: at once here.
    monkeypatch.setattr(aiohttp.client_ws, "calculate_timeout_when", lambda now, *rest: now + 0.01)
    sent = []

    async def pour(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        for _ in range(_PIECES):
            await socket.send_bytes(_PIECE)
            sent.append(1)
        await socket.close()
        return socket

    app = web.Application()
    app.router.add_get(PATH, pour)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    client = SlowClient()
    carrying = asyncio.create_task(
        TerminalRelay("").carry(cast(WebSocket, client), address, "ticket", TerminalSize(), 0)
    )
    await stops_growing(lambda: len(sent))
    assert len(sent) < _PIECES
    client.may_read.set()
    assert await carrying
    assert (client.received, client.code) == (_PIECES * len(_PIECE), 1000)
    await runner.cleanup()
