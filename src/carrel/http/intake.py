"""Read the rest of a large request body directly from the client's socket, bypassing the event loop.

The request scope offers an `Intake` under `EXTENSION`. While it is entered, threads `read` the socket instead of the
event loop, and the parser is told how many bytes bypassed it. It is not offered over TLS or for a body without a
Content-Length.
"""

import asyncio
import os
import socket
from typing import TYPE_CHECKING, Protocol, Self

from carrel.http import metrics

if TYPE_CHECKING:
    from uvicorn.protocols.http.flow_control import FlowControl
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

EXTENSION = "carrel.intake"
PIECE = 1 << 20
_WAIT_S = 1.0


class BypassedConnection(Protocol):
    """The connection of an `Intake`, as `sendfile` implements it."""

    transport: asyncio.Transport
    flow: "FlowControl"
    intake: "Intake | None"

    def skip_body(self, count: int) -> None: ...


class Intake:
    """The body of one request. Enter it once.

    at_work: set and cleared by the thread that reads.
    """

    def __init__(self, protocol: "BypassedConnection", cycle: "RequestResponseCycle") -> None:
        self._protocol = protocol
        self._cycle = cycle
        self._taken = 0
        self.at_work = False

    def __enter__(self) -> Self:
        """Raises: ConnectionError when the client is gone already."""
        if self._cycle.disconnected or self._protocol.transport.is_closing():
            raise ConnectionAbortedError
        self._protocol.flow.pause_reading()
        theirs = self._protocol.transport.get_extra_info("socket")
        # A hung thread may return late, so the last user closes the descriptor and its number is not reused before
        # that.
        self._socket = socket.socket(fileno=os.dup(theirs.fileno()))
        self._buffer = memoryview(bytearray(PIECE))
        self._protocol.intake = self
        return self

    def __exit__(self, *_: object) -> None:
        self._protocol.intake = None
        self._wake_at(1)
        del self._socket

    def parsed(self) -> bytes:
        """Body bytes that the event loop had already buffered."""
        body, self._cycle.body = bytes(self._cycle.body), bytearray()
        return body

    async def readable(self, amount: int) -> None:
        """Return when that many bytes are available, the client has disconnected, or a second has passed."""
        self._wake_at(min(amount, PIECE))
        loop, there = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._socket, there.set)
        try:
            async with asyncio.timeout(_WAIT_S):
                await there.wait()
        except TimeoutError:
            pass
        finally:
            loop.remove_reader(self._socket)

    def read(self, most: int) -> memoryview | None:
        """The received bytes, valid until the next call; empty if the client disconnected; None if no bytes are
        available.

        In any thread, one at a time.
        """
        try:
            got = self._socket.recv_into(self._buffer[: min(most, PIECE)])
        except BlockingIOError:
            return None
        except ConnectionError:
            got = 0
        self._taken += got
        return self._buffer[:got]

    def settle(self) -> int:
        """Tell the parser how many bytes bypassed it since the last call; returns that number.

        Call while no thread reads.
        """
        taken, self._taken = self._taken, 0
        metrics.RECEIVED.inc(taken)
        self._protocol.skip_body(taken)
        return taken

    def abandon(self) -> None:
        """A thread may read to the end of the stream: nothing else follows on this connection."""
        self._cycle.keep_alive = False

    def hang_up(self) -> None:
        """The client disconnected and the event loop has not noticed."""
        self._cycle.disconnected = True
        self._protocol.transport.abort()

    def cut(self) -> None:
        """Make readers see the client as disconnected."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is gone

    def _wake_at(self, count: int) -> None:
        # Without it each packet would wake a thread.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, count)
