"""The rest of a large body straight from a client's socket: the event loop touches none of its bytes.

Whoever wants it so finds an `Intake` under `EXTENSION` in a request's scope. While it is entered, threads `read` the
socket, which is the event loop's otherwise, and the parser is told how much went by without it. Over TLS, and of a body
whose length nobody announced, there is nothing to offer.
"""

import asyncio
import os
import socket
from typing import TYPE_CHECKING, Self

from carrel.http import metrics

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

    from carrel.http.sendfile import ZeroCopyProtocol

EXTENSION = "carrel.intake"
PIECE = 1 << 20
_WAIT_S = 1.0


class Intake:
    """The body of one request. Not to be entered twice.

    at_work: a thread has it; to be set and taken back by that thread.
    """

    def __init__(self, protocol: "ZeroCopyProtocol", cycle: "RequestResponseCycle") -> None:
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
        # A thread that hangs may come back to it late: the last who has it closes it, and its number is nobody else's.
        self._socket = socket.socket(fileno=os.dup(theirs.fileno()))
        self._buffer = memoryview(bytearray(PIECE))
        self._protocol.intake = self
        return self

    def __exit__(self, *_: object) -> None:
        self._protocol.intake = None
        self._wake_at(1)
        del self._socket

    def parsed(self) -> bytes:
        """What the event loop had read of the body already, and nobody received."""
        body, self._cycle.body = bytes(self._cycle.body), bytearray()
        return body

    async def readable(self, wanted: int) -> None:
        """Return when so many bytes are there, or the client is gone, or a second is over."""
        self._wake_at(min(wanted, PIECE))
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
        """What has come, good until the next call; empty when the client is gone; None when nothing is there.

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
        """Tell the parser what went by since it was told; how much that is. When no thread reads."""
        taken, self._taken = self._taken, 0
        metrics.RECEIVED.inc(taken)
        self._protocol.skip_body(taken)
        return taken

    def abandon(self) -> None:
        """A thread may read for ever: nothing else can come over this connection."""
        self._cycle.keep_alive = False

    def hang_up(self) -> None:
        """The client is gone, which the event loop has not seen."""
        self._cycle.disconnected = True
        self._protocol.transport.abort()

    def cut(self) -> None:
        """Have the client taken for gone by whoever reads."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is gone

    def _wake_at(self, count: int) -> None:
        # Without it each packet would wake a thread.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, count)
