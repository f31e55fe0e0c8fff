"""WebSockets through the gateway."""

import asyncio
import base64
import hashlib
import os
import re

import pytest
from aiohttp import WSMsgType, web
from gateway_kit import Gate, gate, head_of
from people import stops_growing
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

__all__ = ["gate"]


async def echo(request: web.Request) -> web.StreamResponse:
    socket = web.WebSocketResponse(max_msg_size=0, protocols=["chat"], autoping=True)
    await socket.prepare(request)
    async for message in socket:
        if message.type is WSMsgType.TEXT and message.data == "bye":
            await socket.close(code=4321, message=b"so long")
        elif message.type is WSMsgType.TEXT:
            await socket.send_str(message.data)
        else:
            await socket.send_bytes(message.data)
    return socket


def agreement(request: bytes) -> bytes:
    """What an app answers to agree to a WebSocket (RFC 6455, 4.2.2)."""
    match = re.search(rb"(?i)sec-websocket-key: (\S+)", request)
    assert match
    accept = base64.b64encode(hashlib.sha1(match[1] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    head = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    return head + b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"


async def dial(gate: Gate, port: int, **options: object) -> connect:
    session = await gate.session(port)
    return connect(
        f"ws://{gate.host(session)}/api/kernels?x=1",
        host="127.0.0.1",
        port=gate.port,
        max_size=None,
        proxy=None,
        additional_headers={"Cookie": await gate.cookie(session)},
        **options,
    )


async def test_messages_of_ten_megabytes_come_back(gate: Gate) -> None:
    content = os.urandom(10 << 20)
    async with await dial(gate, await gate.app(echo)) as socket:
        for _ in range(2):
            await socket.send(content)
            assert await asyncio.wait_for(socket.recv(), 20) == content
        await socket.send("text")
        assert await socket.recv() == "text"


async def test_pings_subprotocols_and_compression_are_between_the_ends(gate: Gate) -> None:
    async with await dial(gate, await gate.app(echo), subprotocols=["chat"]) as socket:
        assert socket.subprotocol == "chat"
        assert socket.response
        assert "permessage-deflate" in socket.response.headers["Sec-WebSocket-Extensions"]
        await asyncio.wait_for(await socket.ping(b"hello"), 60)
        await socket.send("x" * 100_000)
        assert await socket.recv() == "x" * 100_000


async def test_apps_goodbye_reaches_the_client(gate: Gate) -> None:
    async with await dial(gate, await gate.app(echo)) as socket:
        await socket.send("bye")
        with pytest.raises(ConnectionClosed) as closed:
            await asyncio.wait_for(socket.recv(), 60)
    assert closed.value.rcvd
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4321, "so long")


@pytest.mark.parametrize("politely", [True, False])
async def test_client_that_leaves_closes_the_apps_side(gate: Gate, politely: bool) -> None:
    codes: asyncio.Queue[int | None] = asyncio.Queue()

    async def handle(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for _ in socket:
            pass
        codes.put_nowait(socket.close_code)
        return socket

    async with await dial(gate, await gate.app(handle)) as socket:
        await asyncio.wait_for(await socket.ping(), 60)
        if politely:
            await socket.close(3333)
        else:
            socket.transport.abort()
    assert await asyncio.wait_for(codes.get(), 60) == (3333 if politely else 1006)


async def test_what_the_app_says_with_its_agreement_is_not_lost(gate: Gate) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(agreement(await head_of(reader)) + b"\x81\x05early")
        await reader.read()

    async with await dial(gate, await gate.raw_app(handle)) as socket:
        assert await asyncio.wait_for(socket.recv(), 60) == "early"
        socket.transport.abort()


async def test_apps_refusal_passes_with_its_status(gate: Gate) -> None:
    async def handle(_: web.Request) -> web.Response:
        return web.Response(status=418, text="no sockets here")

    with pytest.raises(InvalidStatus) as refused:
        async with await dial(gate, await gate.app(handle)):
            pass
    assert refused.value.response.status_code == 418
    assert refused.value.response.body == b"no sockets here"


async def test_end_that_does_not_read_holds_the_other_back(gate: Gate) -> None:
    sent = 0

    async def handle(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        for _ in range(1000):
            await socket.send_bytes(bytes(1 << 20))
            sent += 1
        return socket

    async with await dial(gate, await gate.app(handle), max_queue=1, compression=None) as socket:
        assert await stops_growing(lambda: sent) < 60, "MiB, most of them in the kernel"
        for _ in range(100):
            assert await asyncio.wait_for(socket.recv(), 60) == bytes(1 << 20)
        socket.transport.abort()


async def test_app_that_does_not_read_holds_the_client_back(gate: Gate) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(agreement(await head_of(reader)))
        await asyncio.Event().wait()

    sent = 0
    async with await dial(gate, await gate.raw_app(handle), compression=None) as socket:

        async def pour(socket: ClientConnection) -> None:
            nonlocal sent
            while True:
                await socket.send(bytes(1 << 20))
                sent += 1

        pouring = asyncio.create_task(pour(socket))
        assert await stops_growing(lambda: sent) < 60, "MiB, most of them in the kernel"
        pouring.cancel()
        socket.transport.abort()
