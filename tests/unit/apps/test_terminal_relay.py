"""Messages of a terminal in another copy, to a client that does not read for a while."""

import asyncio
import os
import socket
from typing import Any, cast

import aiohttp.client_ws
import psutil
import pytest
from aiohttp import web
from people import stops_growing
from starlette.websockets import WebSocket

from carrel.apps.terminal_relay import PATH, RelayTicket, TerminalRelay, proof, unseal
from carrel.core.clock import SystemClock
from carrel.core.ids import ContainerId, SessionId, UserId
from carrel.db.encryption import SecretBox
from carrel.engines.port import TerminalSize

_PIECES, _PIECE = 1000, bytes(1 << 16)
_BOX = SecretBox(b"0" * 32)


def _connections_to(port: int) -> list[socket.socket]:
    """Copies of the sockets of this process that are connected to the port."""
    rows = psutil.Process().net_connections("tcp")
    return [socket.socket(fileno=os.dup(row.fd)) for row in rows if row.raddr and row.raddr.port == port]


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
        answer = web.WebSocketResponse()
        await answer.prepare(request)
        ticket = unseal(_BOX, request.headers["Authorization"], SystemClock().now())
        assert ticket is not None
        await answer.send_bytes(proof(_BOX, ticket))
        for _ in range(_PIECES):
            await answer.send_bytes(_PIECE)
            sent.append(1)
        await answer.close()
        return answer

    app = web.Application()
    app.router.add_get(PATH, pour)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    client = SlowClient()
    relay, ticket = (
        TerminalRelay(_BOX, SystemClock(), ""),
        RelayTicket("t", ContainerId("c"), UserId("u"), SessionId("s"), "copy"),
    )
    carrying = asyncio.create_task(relay.carry(cast(WebSocket, client), address, ticket, TerminalSize(), 0))
    await stops_growing(lambda: len(sent))
    assert len(sent) < _PIECES
    # A copy that is gone is noticed while something is sent to it, too.
    (connection,) = _connections_to(runner.addresses[0][1])
    assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 10
    assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 60_000
    connection.close()
    client.may_read.set()
    assert await carrying
    assert (client.received, client.code) == (_PIECES * len(_PIECE), 1000)
    await runner.cleanup()
