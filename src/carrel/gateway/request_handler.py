"""The gateway's HTTP/1.1 connections: aiohttp's handler, with limits on what arrives.

aiohttp bounds each line of a head, but times neither heads nor bodies, and counts no connections.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from aiohttp import web
from aiohttp.http_exceptions import LineTooLong
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from aiohttp.web_protocol import RequestHandler, RequestPayloadError, _ErrInfo

from carrel.gateway.relay import Written
from carrel.http.guard import ConnectionLimit, Guard, ReadingPhase, RequestLimits, refusal

_TOO_MANY = "Too many headers"
Admit = Callable[[Callable[[], asyncio.Protocol]], asyncio.Protocol]


class BodyTooSlow(RequestPayloadError):
    """The client stopped sending in the middle of a body."""


class GuardedServer(web.Server):
    """aiohttp's server with limits on all its connections, which are counted together.

    admit: wraps the protocol of a connection; None: no wrapper.
    """

    def __init__(
        self,
        handler: Any,
        limits: RequestLimits,
        connections: ConnectionLimit,
        admit: Admit | None = None,
        **options: Any,
    ) -> None:
        super().__init__(handler, **options)
        self.limits = limits
        self.connection_limit = connections
        self._admit = admit

    def __call__(self) -> RequestHandler:
        # aiohttp passes this to the event loop, which accepts any protocol.
        return cast(RequestHandler, self._admit(self._handler)) if self._admit else self._handler()

    def _handler(self) -> RequestHandler:
        return GuardedHandler(self, loop=self._loop, **self._kwargs)


class GuardedHandler(RequestHandler):
    """One connection."""

    __slots__ = ("_closing", "_counted", "_guard", "_payload", "_refused", "_server")

    def __init__(self, server: GuardedServer, *, loop: asyncio.AbstractEventLoop, **options: Any) -> None:
        super().__init__(server, loop=loop, **options)
        self._server = server
        self._guard = Guard(server.limits, self._refuse, self._progress)
        self._payload: StreamReader = EMPTY_PAYLOAD
        self._counted: str | None = None
        self._refused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast(asyncio.Transport, transport)  # uvloop's class does not inherit from asyncio's
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if isinstance(peer, tuple) else ""
        if status := self._server.connection_limit.enter(address):
            self._refused = True
            transport.write(refusal(status))
            transport.close()
            return
        self._counted = address
        super().connection_made(transport)
        self._guard.begin()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._guard.stop()
        if self._counted is not None:
            self._server.connection_limit.leave(self._counted)
            self._counted = None
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        if self._upgraded:
            super().data_received(data)
            return
        requests, payload = self._request_count, self._payload
        was_open, had = not payload.is_eof(), payload.total_bytes
        super().data_received(data)
        if self._request_count != requests:
            message, self._payload = self._messages[-1]
            self._refused = isinstance(message, _ErrInfo)
        if self._upgraded or self._refused:
            self._guard.stop()
            return
        open_ = not self._payload.is_eof()
        advanced = self._request_count != requests or payload.total_bytes != had or open_ != was_open
        # aiohttp does not report the start of the next head; assume it, unless a message has just ended.
        between = ReadingPhase.NOTHING if advanced or not data else ReadingPhase.HEAD
        self._guard.saw(len(data), ReadingPhase.BODY if open_ else between, advanced=advanced)

    def _make_error_handler(
        self, err_info: _ErrInfo
    ) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
        """The handler that responds, in order, to input that is not a request."""
        error = err_info.exc
        too_large = isinstance(error, LineTooLong) or _TOO_MANY in err_info.message
        status = 431 if too_large else 400

        async def answer(request: web.BaseRequest) -> web.StreamResponse:
            assert self.transport is not None
            self._say(self.transport, status)
            await asyncio.sleep(self._server.limits.linger_s)
            return Written(status, keep_alive=False)

        return answer

    def _progress(self) -> int | None:
        return None if self._reading_paused or self._buffer_paused else self._payload.total_bytes

    def _refuse(self, status: int) -> None:
        self._refused = True
        transport = self.transport
        if transport is None or transport.is_closing():
            return
        if not self._payload.is_eof():
            # The handler of the body responds, if a response can still be sent.
            self._refused = False
            self.close()
            self._payload.set_exception(BodyTooSlow())
            self._payload.feed_eof()
        elif self._request_in_progress or self._messages:
            self.close()  # after the response to the previous request
        else:
            self._say(transport, status)
            self._loop.call_later(self._server.limits.linger_s, transport.abort)

    def _say(self, transport: asyncio.Transport, status: int) -> None:
        """Send the final response on a connection; the caller closes it later, so that a client that is still
        sending receives it.
        """
        if status:
            transport.write(refusal(status))
        if transport.can_write_eof():
            transport.write_eof()
        else:
            transport.close()
