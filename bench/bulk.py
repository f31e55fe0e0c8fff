"""Ten clients that download continuously. `bulk.py PORT HOST COOKIE PATH`; its own port comes last."""

import asyncio
import sys

import uvloop

_COUNT = 10


class Sink(asyncio.Protocol):
    """Sends a request and discards the response; repeats when it is complete."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.write(self._payload)  # type: ignore[attr-defined]


async def main() -> None:
    port, host, cookie, path = sys.argv[1:5]
    payload = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n".encode() * 1000
    loop = asyncio.get_running_loop()
    for _ in range(_COUNT):
        await loop.create_connection(lambda: Sink(payload), "127.0.0.1", int(port))
    # Signals readiness.
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", int(sys.argv[5]))
    await server.serve_forever()


uvloop.run(main())
