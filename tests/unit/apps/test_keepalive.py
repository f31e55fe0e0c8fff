"""WebSocket clients that answer no ping are dropped, except where silence says nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from carrel.apps.keepalive import PatientProtocol

_PING, _CLOSE = 0x89, 0x88


async def accepting(scope: Scope, receive: Receive, send: Send) -> None:
    """Takes every client, and says nothing to it."""
    while (await receive())["type"] != "websocket.disconnect":
        await send({"type": "websocket.accept"})


@asynccontextmanager
async def serving() -> AsyncIterator[int]:
    config = uvicorn.Config(
        accepting,
        port=0,
        lifespan="off",
        log_config=None,
        ws=PatientProtocol,
        ws_ping_interval=0.02,
        ws_ping_timeout=0.02,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    yield server.servers[0].sockets[0].getsockname()[1]
    await server.shutdown()


async def frames(path: str, most: int) -> list[int]:
    """The first bytes of the frames that a client gets that answers none of them; at most so many."""
    async with serving() as port, asyncio.timeout(60):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
        )
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
        received: list[int] = []
        while len(received) < most and (head := await reader.read(1)):
            received += head
            await reader.readexactly((await reader.readexactly(1))[0])
        writer.close()
        return received


@pytest.mark.parametrize(
    ("path", "expected"), [("/terminal", [_PING, _CLOSE]), ("/exec", [_PING] * 4)], ids=["terminal", "exec"]
)
async def test_only_the_client_of_a_terminal_must_answer(path: str, expected: list[int]):
    assert await frames(path, 4) == expected
