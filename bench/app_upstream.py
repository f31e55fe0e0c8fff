"""A typical app: a small response, 1 GiB, a WebSocket that echoes. `app_upstream.py PORT`."""

import sys
from contextlib import suppress

import uvloop
from aiohttp import WSMsgType, web

_PIECE = bytes(256 << 10)
_BIG = 1 << 30


async def small(request: web.Request) -> web.Response:
    return web.Response(body=b"x" * 1024)


async def big(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": str(_BIG)})
    await response.prepare(request)
    # Download clients disconnect at the end of the measurement.
    with suppress(ConnectionError):
        for _ in range(_BIG // len(_PIECE)):
            await response.write(_PIECE)
    return response


async def echo(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        if message.type == WSMsgType.BINARY:
            await socket.send_bytes(message.data)
    return socket


uvloop.install()
app = web.Application()
app.add_routes([web.get("/small", small), web.get("/big", big), web.get("/echo", echo)])
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None)
