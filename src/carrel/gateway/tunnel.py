"""An upgraded WebSocket connection: raw bytes in both directions, without parsing frames.

Compression, pings, messages and the closing handshake pass through end to end. When one end closes its connection,
the other is closed after its buffer is flushed.
"""

import asyncio
from collections.abc import Callable

from aiohttp import web

from carrel.gateway import metrics
from carrel.gateway.upstream import Upstream


class Tunnel:
    """Receives from both sides: `feed` from the app's connection, `feed_data` from aiohttp's for the client.

    record_activity: called for all traffic.
    """

    def __init__(
        self, request: web.BaseRequest, upstream: Upstream, record_activity: Callable[[], None]
    ) -> None:
        assert request.transport is not None
        self._record_activity = record_activity
        self._request = request
        self._client = request.transport
        self._upstream = upstream
        self._over = not upstream.alive
        self._held = False
        self._news = asyncio.Event()

    async def carry(self, rest: bytes) -> None:
        """Run until one side closes. rest: data that the app sent along with the upgrade."""
        if rest:
            self._client.write(rest)
            metrics.TO_CLIENT.inc(len(rest))
        self._upstream.hand_to(self)
        self._request.protocol.set_parser(self)  # type: ignore[arg-type]  # any parser works, not only aiohttp's
        try:
            while not self._over:
                await self._news.wait()
                self._news.clear()
                if self._held:
                    await self._request.writer.drain()
                    self._held = False
                    if self._upstream.alive:
                        self._upstream.transport.resume_reading()
        finally:
            self._upstream.transport.close()

    # From the app

    def feed(self, data: bytes) -> None:
        self._record_activity()
        self._client.write(data)
        metrics.TO_CLIENT.inc(len(data))
        if self._request.protocol.writing_paused and not self._held:
            self._held = True
            self._upstream.transport.pause_reading()
            self._news.set()

    def pause(self) -> None:
        if not self._client.is_closing():
            self._client.pause_reading()

    def resume(self) -> None:
        if not self._client.is_closing():
            self._client.resume_reading()

    # From the client

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Bytes from the client."""
        self._record_activity()
        self._upstream.write(data)
        return False, b""

    # Both directions

    def feed_eof(self) -> None:
        self._over = True
        self._news.set()
