"""A real HTTP server that receives webhooks."""

import asyncio
import base64
import hashlib
import hmac
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web


def is_genuine(headers: Any, body: bytes, secret: str) -> bool:
    """As docs/reference/webhooks.md checks a signature."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(expected, one) for one in headers["webhook-signature"].split())


@dataclass(frozen=True)
class Received:
    path: str
    headers: Any
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        return orjson.loads(self.body)  # type: ignore[no-any-return]


@dataclass
class Receiver:
    """statuses: of the next responses; then 204. hangs: it does not respond at all. strike: called once, when the next
    message is there, before the response.
    """

    url: str = ""
    received: list[Received] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    hangs: bool = False
    strike: Callable[[], None] | None = None

    @property
    def types(self) -> list[str]:
        return [one.message["type"] for one in self.received]

    async def handle(self, request: web.Request) -> web.Response:
        self.received.append(Received(request.path, request.headers.copy(), await request.read()))
        if strike := self.strike:
            self.strike = None
            strike()
        if self.hangs:
            await asyncio.Event().wait()
        status = self.statuses.pop(0) if self.statuses else 204
        return web.Response(status=status, headers={"location": f"{self.url}/elsewhere"})


@asynccontextmanager
async def receiver() -> AsyncIterator[Receiver]:
    """Listening on loopback until the block ends."""
    one = Receiver()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", one.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    one.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield one
    finally:
        await runner.cleanup()
