"""A minimal aiohttp proxy: no host names, no cookies, no authorization. `bare_proxy.py TO PORT`."""

import sys
from collections.abc import AsyncIterator

import uvloop
from aiohttp import ClientSession, ClientTimeout, TCPConnector, web

_HOP = {"connection", "keep-alive", "transfer-encoding", "upgrade", "host"}


async def forward(request: web.Request) -> web.StreamResponse:
    client: ClientSession = request.app["client"]
    headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP}
    url = f"http://127.0.0.1:{sys.argv[1]}{request.raw_path}"
    async with client.request(request.method, url, headers=headers, data=request.content) as answer:
        kept = {name: value for name, value in answer.headers.items() if name.lower() not in _HOP}
        response = web.StreamResponse(status=answer.status, headers=kept)
        await response.prepare(request)
        async for piece in answer.content.iter_any():
            await response.write(piece)
        return response


async def client(app: web.Application) -> AsyncIterator[None]:
    async with ClientSession(
        auto_decompress=False,
        timeout=ClientTimeout(total=None),
        connector=TCPConnector(limit=0),
        read_bufsize=256 << 10,
    ) as app["client"]:
        yield


uvloop.install()
app = web.Application()
app.cleanup_ctx.append(client)
app.router.add_route("*", "/{path:.*}", forward)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[2]), access_log=None, print=None)
