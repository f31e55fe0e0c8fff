"""Relay one request and its response with a few buffers of memory.

The response does not pass through a task: bytes go from the app's connection to the client's inside the
callback that received them. Only its head is parsed, and the framing of a chunked body. A task of aiohttp's
waits for the end, and wakes in between only when the client reads slower than the app writes.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

import httptools
from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

from carrel.gateway import bulk, metrics
from carrel.gateway import headers as crossing
from carrel.gateway.compression import Compression, compressed_headers, compression
from carrel.gateway.upstream import Upstream

_MOST_HEAD_BYTES = 256 << 10
_LAST_CHUNK = b"0\r\n\r\n"
_BODILESS = frozenset({204, 304})


@dataclass(frozen=True, slots=True)
class Failure:
    """The app gave no usable response. broken: the response is not HTTP, rather than incomplete. retriable: the app
    closed a pooled connection without a response. slow: the client, not the app, failed by not sending its request
    body.
    """

    broken: bool
    retriable: bool = False
    slow: bool = False


class RelayedBody(Enum):
    """How the end of the response body is framed."""

    NONE = auto()
    LENGTH = auto()
    CHUNKED = auto()
    """Chunked to the client, whatever the app used."""
    CLOSE = auto()
    """By closing the client's connection; HTTP/1.0 has no chunked encoding."""


class Written(web.StreamResponse):
    """Tells aiohttp that the response is already written to the connection."""

    def __init__(self, status: int, *, keep_alive: bool) -> None:
        super().__init__(status=status)
        self._keep_alive = keep_alive

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        return None


class Relay:
    """Receives one response from an app and passes it on to the client.

    `news` is set when it is done and when the app must wait for the client. `failure`: nothing was forwarded.
    `switched`: both sides upgraded the protocol, and `rest` is the data after the upgrade. record_activity: called
    for all traffic.
    """

    def __init__(
        self,
        request: web.BaseRequest,
        upstream: Upstream,
        record_activity: Callable[[], None],
        *,
        jar: bytes,
        upgrading: bool,
    ) -> None:
        assert request.transport is not None
        self._record_activity = record_activity
        self._jar = jar
        self._client = request.transport
        # Over TLS the bytes must be encrypted first.
        self._can_bulk = bulk.AVAILABLE and not request.transport.get_extra_info("sslcontext")
        self._client_flow = request.protocol
        self._writer = request.writer
        self._upstream = upstream
        self._bodiless = request.method == "HEAD"
        self._modern = request.version >= (1, 1)
        self._asked = request.raw_headers
        self._compression: Compression | None = None
        self._upgrading = upgrading
        self._since = time.perf_counter()
        self._parser = httptools.HttpResponseParser(self)
        self._head_bytes = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._reason = b""
        self._parts: list[bytes] = []
        self._out: list[bytes] = []
        self._left: int | None = None
        self._body = RelayedBody.NONE
        self._length = 0
        self._ends_by_close = False
        self._persistent = False
        self._begun = False
        self._complete = False
        self._surplus = False
        self.status = 0
        self.keep_alive = bool(request.keep_alive)
        self.reusable = False
        self.switched = False
        self.rest = b""
        self.done = False
        self.failure: Failure | None = None
        self.news = asyncio.Event()
        self._held = False
        self.bulky = False
        """The remaining body is large: call `carry_bulk` to continue."""

    # Called by the connection

    def feed(self, data: bytes) -> None:
        if self.switched:
            self.rest += data
        elif self.done:
            self._upstream.abort()
        elif self._left is not None:
            self._feed_counted(data)
        else:
            self._feed_parsed(data)

    def feed_eof(self) -> None:
        if self.done:
            return
        if self._begun and self._ends_by_close:
            if self._body is RelayedBody.CHUNKED:
                self._write(_LAST_CHUNK)
            self._finish(reusable=False)
        elif self._begun:
            metrics.UPSTREAM_ERRORS.labels("interrupted").inc()
            self.cut()
        else:
            stale = self._upstream.used and not self._head_bytes
            if not stale:
                metrics.UPSTREAM_ERRORS.labels("closed").inc()
            self._fail(Failure(broken=False, retriable=stale))

    def pause(self) -> None:
        """The request's body is written by a task, which applies back pressure itself."""

    def resume(self) -> None:
        """See pause."""

    # Called by the parser

    def on_message_begin(self) -> None:
        if self._complete:
            self._surplus = True
        self._headers = []
        self._reason = b""

    def on_status(self, reason: bytes) -> None:
        self._reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._begun and not self._complete:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self._complete:
            return
        status = self._parser.get_status_code()
        if status == 101:
            self._switch(status)
        elif status < 200:
            self._pass_interim(status)
        else:
            self._begin(status)

    def on_body(self, part: bytes) -> None:
        if not self._complete:
            self._parts.append(part)

    def on_message_complete(self) -> None:
        if self._begun:
            self._complete = True

    # Steps

    def _feed_counted(self, data: bytes) -> None:
        assert self._left is not None
        if len(data) > self._left:
            self._surplus = True
            data = data[: self._left]
        self._left -= len(data)
        self._write(data)
        if not self._left:
            self._finish(reusable=self._persistent)

    def _feed_parsed(self, data: bytes) -> None:
        if not self._begun:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self.rest = data[upgrade.args[0] :]
        except httptools.HttpParserError:
            if not self._complete:
                self._break()
                return
            self._surplus = True
        if self.switched:
            self._flush()
            self._finish(reusable=False)
            return
        if not self._begun and self._head_bytes > _MOST_HEAD_BYTES:
            self._break()
            return
        self._pass_parts()

    def _pass_parts(self) -> None:
        """Forward the data of this feed in one write."""
        parts, self._parts = self._parts, []
        if parts and self._compression:
            parts = [self._compression.add(parts)]
        if self._complete and self._compression:
            parts.append(self._compression.end())
        if any(parts):
            if self._body is RelayedBody.CHUNKED:
                self._out += [b"%x\r\n" % sum(map(len, parts)), *parts, b"\r\n"]
            elif self._body is not RelayedBody.NONE:
                self._out += parts
                if self._body is RelayedBody.LENGTH and not self._complete:
                    self._left = self._length - sum(map(len, parts))
        elif self._begun and self._body is RelayedBody.LENGTH and not self._complete and self._left is None:
            self._left = self._length
        done = self._complete or (self._begun and self._body is RelayedBody.NONE)
        if done and self._body is RelayedBody.CHUNKED:
            self._out.append(_LAST_CHUNK)
        self._flush()
        if not done and self._can_bulk and (self._left or 0) >= bulk.WORTHWHILE_BYTES:
            self._upstream.transport.pause_reading()
            self.bulky = True
            self.news.set()
        if done:
            # After a response to HEAD the parser would wait for a body that never comes.
            self._finish(reusable=self._persistent)

    def _pass_interim(self, status: int) -> None:
        if self._modern:
            lines = crossing.response_lines(self._headers, self._jar)
            self._out += [b"HTTP/1.1 %d %b\r\n" % (status, self._reason), *lines, b"\r\n"]

    def _begin(self, status: int) -> None:
        """Choose the framing and prepare the head."""
        self._answered(status)
        self._persistent = self._parser.should_keep_alive()
        coding = crossing.first(self._headers, b"transfer-encoding")
        length = crossing.first(self._headers, b"content-length")
        self._ends_by_close = coding is None and length is None
        framing = b""
        if self._bodiless or status in _BODILESS:
            if length is not None:
                framing = b"Content-Length: %b\r\n" % length
        elif status == 200 and self._modern and (chosen := compression(self._asked, self._headers)):
            self._compression, self._body = chosen, RelayedBody.CHUNKED
            self._headers = compressed_headers(self._headers)
            framing = b"Transfer-Encoding: chunked\r\n"
        elif length is not None:
            self._body, self._length = RelayedBody.LENGTH, int(length)
            framing = b"Content-Length: %b\r\n" % length
        elif coding is not None and coding.strip().lower() != b"chunked":
            raise ValueError("a transfer coding that nobody asked for")
        elif self._modern:
            self._body = RelayedBody.CHUNKED
            framing = b"Transfer-Encoding: chunked\r\n"
        else:
            self._body = RelayedBody.CLOSE
            self.keep_alive = False
        self._begun = True
        self._out += [
            b"HTTP/1.1 %d %b\r\n" % (status, self._reason),
            *crossing.response_lines(self._headers, self._jar),
            framing,
            self._connection_line(),
            b"\r\n",
        ]

    def _answered(self, status: int) -> None:
        self.status = status
        metrics.answered_by_app(status)
        metrics.SECONDS.observe(time.perf_counter() - self._since)

    def _connection_line(self) -> bytes:
        if not self.keep_alive:
            return b"Connection: close\r\n"
        return b"" if self._modern else b"Connection: keep-alive\r\n"

    def _switch(self, status: int) -> None:
        if not self._upgrading:
            raise ValueError("a switch of protocols that nobody asked for")
        self.switched = True
        self._answered(status)
        self.keep_alive = False
        self._out += [
            b"HTTP/1.1 101 %b\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" % self._reason,
            *crossing.response_lines(self._headers, self._jar),
            b"\r\n",
        ]

    def _flush(self) -> None:
        if out := self._out:
            self._out = []
            self._write(b"".join(out))

    def _write(self, data: bytes) -> None:
        if self._client.is_closing():
            self._upstream.abort()
            return
        self._record_activity()
        self._client.write(data)
        metrics.TO_CLIENT.inc(len(data))
        if self._client_flow.writing_paused and not self._held:
            self._held = True
            self._upstream.transport.pause_reading()
            self.news.set()

    async def carry_bulk(self) -> None:
        """Move the rest of the body with splice, if possible."""
        assert self._left is not None
        self.bulky = False
        try:
            # 1. Flush everything before it, or it would be overtaken.
            self._client.set_write_buffer_limits(high=0)
            await self._writer.drain()
            # 2. Pause reading from the one socket and other writes to the other.
            if self._upstream.alive and not self._client.get_write_buffer_size():
                moved = await bulk.move(
                    self._upstream.transport, self._client, self._left, self._record_activity
                )
                self._left -= moved
            self._client.set_write_buffer_limits()
        except (ConnectionError, RuntimeError):
            self.cut()
            return
        # 3. The rest, or the end of the connection, is handled as usual.
        if not self._left:
            self._finish(reusable=self._persistent)
        if self._upstream.alive:
            self._upstream.transport.resume_reading()

    def cut(self) -> None:
        """Abort a started response, so that the client notices that it is incomplete."""
        if not self.done:
            self.keep_alive = False
            self._client.close()
            self._finish(reusable=False)

    def give_up_on_client(self) -> None:
        """The request body timed out."""
        if self._begun:
            self.cut()
        elif not self.done:
            self._fail(Failure(broken=False, slow=True))
        self._upstream.abort()

    def go_on(self) -> None:
        """Resume: the client has drained its buffer."""
        if self._held and self._upstream.alive:
            self._held = False
            self._upstream.transport.resume_reading()

    def _finish(self, *, reusable: bool) -> None:
        self.reusable = reusable and not self._surplus
        self.done = True
        if self._held:
            self.go_on()
        self.news.set()

    def _break(self) -> None:
        metrics.UPSTREAM_ERRORS.labels("malformed").inc()
        if self._begun:
            self.cut()
        else:
            self._fail(Failure(broken=True))
        self._upstream.abort()

    def _fail(self, failure: Failure) -> None:
        self.failure = failure
        self._finish(reusable=False)
