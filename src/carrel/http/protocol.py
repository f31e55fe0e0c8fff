"""The API's HTTP/1.1 connections: uvicorn's protocol, with limits on what arrives and exact framing.

uvicorn itself bounds neither the size nor the time of a head, passes trailers on as headers, and loses what follows
an upgrade that it does not accept.
"""

from asyncio import BaseTransport, Transport
from itertools import chain
from typing import Any, Self, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from carrel.http.guard import ConnectionLimit, Guard, HeadTooLarge, ReadingPhase, RequestLimits, refusal
from carrel.http.joined_writes import JoinedWrites


class GuardedProtocol(HttpToolsProtocol):
    """For `uvicorn.Config(http=...)`; `limited` gives one with other limits."""

    limits = RequestLimits()
    connection_limit = ConnectionLimit(0)
    joined_writes: JoinedWrites

    _guard: Guard | None = None
    _counted: str | None = None
    _refused = False
    _reading = ReadingPhase.NOTHING
    _advanced = False
    _body_bytes = 0
    _read_bytes = 0
    """State of the current read."""
    _head_bytes = 0
    """State since the head began; the guard bounds its size."""

    @classmethod
    def limited(cls, limits: RequestLimits, connections: ConnectionLimit) -> type[Self]:
        """The protocol with these limits; all its connections are counted together."""
        return type(cls.__name__, (cls,), {"limits": limits, "connection_limit": connections})

    # The connection

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(cast(Transport, transport))
        self.joined_writes = JoinedWrites(self.transport, self.loop)
        address = self.client[0] if self.client else ""
        if status := self.connection_limit.enter(address):
            self._refused = True
            self.transport.write(refusal(status))
            self.transport.close()
            return
        self._counted = address
        self._guard = Guard(self.limits, self._refuse, self._progress)
        self._guard.begin()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        if self._guard:
            self._guard.stop()
        self._leave()

    def data_received(self, data: bytes) -> None:
        if self._refused or self._guard is None:
            return
        self._unset_keepalive_if_required()
        count = self._read_bytes = len(data)
        self._head_bytes += count
        self._advanced = False
        while data:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                if self._should_upgrade():
                    self._guard.stop()
                    self.handle_websocket_upgrade()
                    return
                # An ignored upgrade: what follows is the next request.
                data = data[upgrade.args[0] :]
                continue
            except httptools.HttpParserError as error:
                self._refuse(431 if isinstance(error.__context__, HeadTooLarge) else 400)
                return
            break
        if self._reading is ReadingPhase.HEAD and len(self.headers) > self.limits.head_lines:
            self._refuse(431)
            return
        # Empty lines before a request count as the start of its head.
        awaiting = self._reading is ReadingPhase.NOTHING and not self._advanced
        self._guard.saw(count, ReadingPhase.HEAD if awaiting else self._reading, advanced=self._advanced)

    def handle_websocket_upgrade(self) -> None:
        super().handle_websocket_upgrade()
        protocol = cast(Any, self.transport.get_protocol())
        lost = protocol.connection_lost

        def connection_lost(exc: Exception | None) -> None:
            self._leave()
            lost(exc)

        protocol.connection_lost = connection_lost

    def _leave(self) -> None:
        if self._counted is not None:
            self.connection_limit.leave(self._counted)
            self._counted = None

    # The parser

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._reading, self._advanced = ReadingPhase.HEAD, True
        self._body_bytes = 0
        self._head_bytes = self._read_bytes

    def on_headers_complete(self) -> None:
        # The guard bounds an incomplete head. Nothing is done per header, because that is a hot path.
        if self._head_is_too_large():
            raise HeadTooLarge
        upgrades = self.parser.should_upgrade() and self._should_upgrade()
        # Raised here, both are answered with 400.
        if upgrades and self._has_body():
            # Otherwise the end of the body could be read as the other protocol, or the reverse.
            raise ValueError("an upgrade to WebSocket with a body")
        if len(self.pipeline) >= self.limits.pipelined:
            raise ValueError("too many requests wait on one connection")
        self._reading, self._advanced = ReadingPhase.BODY, True
        super().on_headers_complete()
        if not upgrades:
            # Ignore trailers: they must not be taken for headers of the request.
            self.headers = []

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        self._advanced = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._reading, self._advanced = ReadingPhase.NOTHING, True
        super().on_message_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        cycle.transport = cast(Transport, self.joined_writes)
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        self.joined_writes.flush()
        super().on_response_complete()
        if self._guard and self._reading is ReadingPhase.BODY and not self.pipeline:
            self._unset_keepalive_if_required()
            self._guard.answered()

    def _head_is_too_large(self) -> bool:
        lines = len(self.headers)
        if lines > self.limits.head_lines:
            return True
        if self._head_bytes <= self.limits.head_bytes:
            return False
        size = len(self.url) + 4 * lines + sum(map(len, chain.from_iterable(self.headers)))
        return size > self.limits.head_bytes

    def _has_body(self) -> bool:
        return any(
            name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0 \t"))
            for name, value in self.headers
        )

    # The guard

    def _progress(self) -> int | None:
        waits = self.flow.read_paused or (self.cycle and self.cycle.waiting_for_100_continue)
        return None if waits else self._body_bytes

    def _refuse(self, status: int) -> None:
        """Send this status for the request being received, if a response can still be sent, and close the connection.

        status 0: close without a response.
        """
        self._refused = True
        if self._guard:
            self._guard.stop()
        if self.transport.is_closing():
            return
        self.joined_writes.flush()
        current = self.cycle if self.cycle and not self.cycle.response_complete else None
        if self.pipeline or (current and current.response_started and self._reading is ReadingPhase.BODY):
            self.transport.abort()
        elif current and self._reading is not ReadingPhase.BODY:
            # The response to the previous request goes first; this one is the last.
            current.keep_alive = False
        else:
            if current:
                current.disconnected = True
                current.message_event.set()
            if status and (current or self._reading is not ReadingPhase.BODY):
                self.transport.write(refusal(status))
            self._hang_up()

    def _hang_up(self) -> None:
        """Close gracefully, so that a client that is still sending receives the response."""
        if self.transport.can_write_eof():
            self.transport.write_eof()
            self.loop.call_later(self.limits.linger_s, self.transport.abort)
        else:
            self.transport.close()
