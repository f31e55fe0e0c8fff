"""sendfile(2) from disk to the client's socket (ASGI zero-copy send), and `intake`.

Each transfer has a thread that calls sendfile(2). A gigabyte costs a fraction of a second of CPU time and no memory,
and a slow or hung disk blocks only that thread, never the event loop. The socket belongs to the event loop, so its
write buffer must be empty before, and nothing else may be written meanwhile. Not available over TLS, where the file
must be encrypted first.
"""

import asyncio
import os
import select
import socket as sockets
import sys
import threading
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from carrel.http import intake, metrics
from carrel.http.protocol import GuardedProtocol

EXTENSION = "http.response.zerocopysend"
_PIECE = 8 << 20
_UNSEEN = bytes(64 << 10)
SEND_TIMEOUT_S = 30.0
"""A client that accepts no data for this long is disconnected."""
_AVAILABLE = sys.platform == "linux" and hasattr(os, "eventfd")


class ZeroCopyProtocol(GuardedProtocol):
    """For `uvicorn.Config(http=...)`: offers applications `http.response.zerocopysend` and an `Intake`."""

    send_timeout_s = SEND_TIMEOUT_S
    _sending: "_Transfer | None" = None
    _skipping = False
    intake: "intake.Intake | None" = None
    """The transfer in progress."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        socket = transport.get_extra_info("socket")
        if sys.platform == "linux" and socket.family in (sockets.AF_INET, sockets.AF_INET6):
            # The kernel measures the time without acknowledgements, also with a closed window, and then aborts a
            # blocked sendfile(2).
            timeout_ms = int(self.send_timeout_s * 1000)
            socket.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_USER_TIMEOUT, timeout_ms)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._sending:
            self._sending.cancel()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        if _AVAILABLE and self.scheme == "http":
            app = _Offering(app, self, cycle)
        super()._start_asgi_task(cycle, app)

    def on_body(self, body: bytes) -> None:
        if self._skipping:
            self._body_bytes += len(body)
        else:
            super().on_body(body)

    def skip_body(self, count: int) -> None:
        """Bytes of the body were read outside the parser."""
        self._skipping = True
        while count and self.parser:
            self.parser.feed_data(_UNSEEN[:count])
            count -= min(count, len(_UNSEEN))
        self._skipping = False
        if self._guard:
            self._guard.saw(0, self._reading, advanced=True)

    def _progress(self) -> int | None:
        if self.intake:
            # A busy thread waits for the disk, not for the client.
            return None if self.intake.at_work else self._body_bytes
        return super()._progress()

    def _refuse(self, status: int) -> None:
        super()._refuse(status)
        if self.intake:
            self.intake.cut()

    async def send_file(self, cycle: RequestResponseCycle, message: Message) -> None:
        """Send a file range as (part of) the body. If the file is too short, the connection is closed."""
        await self._drained()
        if not cycle.disconnected:
            count = message["count"]
            self._sending = _Transfer(self.transport.get_extra_info("socket"), message, self.loop)
            try:
                complete = await self._sending.run()
            finally:
                metrics.SENT.inc(count - self._sending.left)
                self._sending = None
                if self.transport is not None and not self.transport.is_closing():
                    self.transport.set_write_buffer_limits()
            if not complete:
                cycle.disconnected = True
                self.transport.abort()
                return
            cycle.expected_content_length -= count
        if not message.get("more_body", False):
            await cycle.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _drained(self) -> None:
        """Return when the write buffer is empty."""
        self.joined_writes.flush()
        self.transport.set_write_buffer_limits(high=0)
        while self.transport.get_write_buffer_size() and not self.transport.is_closing():
            await asyncio.sleep(0)
            await self.flow.drain()


class _Offering:
    """The application for one request, with a `send` that supports files."""

    def __init__(self, app: ASGIApp, protocol: ZeroCopyProtocol, cycle: RequestResponseCycle) -> None:
        self._app = app
        self._protocol = protocol
        self._cycle = cycle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == EXTENSION:
                await self._protocol.send_file(self._cycle, message)
            else:
                await send(message)

        offered = scope.setdefault("extensions", {})
        offered[EXTENSION] = {}
        offered[intake.EXTENSION] = intake.Intake(self._protocol, self._cycle)
        await self._app(scope, receive, sending)


class _Transfer:
    """The transfer of a file range, with its own descriptors, because it may outlive its caller.

    left: bytes still to be sent.
    """

    def __init__(self, socket: Any, message: Message, loop: asyncio.AbstractEventLoop) -> None:
        self._fds = [os.dup(socket.fileno())]
        self._fds.append(os.dup(message["file"]))
        self._fds.append(os.eventfd(0))
        self._offset = message["offset"]
        self.left = message["count"]
        self._loop = loop
        self._done: asyncio.Future[bool] = loop.create_future()
        self._cancelled = False
        self._lock = threading.Lock()

    async def run(self) -> bool:
        """Run the transfer; True if all bytes were sent. Call once."""
        threading.Thread(target=self._work, daemon=True, name="sendfile").start()
        try:
            return await asyncio.shield(self._done)
        finally:
            self.cancel()

    def cancel(self) -> None:
        """Abort the transfer. Twice, or when it is done: no-op."""
        with self._lock:
            self._cancelled = True
            if self._fds:
                os.eventfd_write(self._fds[2], 1)

    def _work(self) -> None:
        try:
            complete = self._move()
        except OSError:
            complete = False  # the client disconnected, or the disk failed
        with self._lock:
            for fd in self._fds:
                os.close(fd)
            self._fds = []
        try:
            self._loop.call_soon_threadsafe(self._resolve, complete)
        except RuntimeError:
            pass  # the server has stopped meanwhile

    def _resolve(self, complete: bool) -> None:
        if not self._done.done():
            self._done.set_result(complete)

    def _move(self) -> bool:
        socket, file, wake = self._fds
        writable = select.poll()
        writable.register(socket, select.POLLOUT)
        writable.register(wake, select.POLLIN)
        while self.left and not self._cancelled:
            try:
                gone = os.sendfile(socket, file, self._offset, min(self.left, _PIECE))
            except BlockingIOError:
                writable.poll()
                continue
            if not gone:
                return False
            self._offset += gone
            self.left -= gone
        return not self.left
