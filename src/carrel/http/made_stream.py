"""A zip or tar archive streamed to a client: produced in a thread, a few chunks ahead of the client."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, suppress

import structlog
from fastapi import Response
from starlette.types import Receive, Scope, Send

from carrel.core.errors import CarrelError

log = structlog.get_logger()
_BUFFERED = 2
Make = Callable[[Callable[[bytes], object]], None]
"""Produces chunks and passes each to the callback."""
Run = Callable[[Callable[[], None]], Awaitable[None]]
"""Runs work in a thread, without a time limit."""


class _Gone(Exception):
    """The client disconnected."""


class _Pieces:
    """A bounded queue of _BUFFERED chunks from the producing thread to the sending event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = threading.Semaphore(_BUFFERED)
        self._gone = False

    def put(self, piece: bytes | None) -> None:
        """Called in the thread. None: end of stream. Raises: _Gone."""
        self._room.acquire()
        if self._gone:
            raise _Gone
        self._loop.call_soon_threadsafe(self._ready.put_nowait, piece)

    async def get(self) -> bytes | None:
        piece = await self._ready.get()
        self._room.release()
        return piece

    def close(self) -> None:
        """Make the thread end, whatever it is waiting for."""
        self._gone = True
        self._room.release(_BUFFERED)


class MadeStream(Response):
    """A response of unknown length: the output of `make`, called by `run`. slot: closed when the response ends."""

    def __init__(
        self, run: Run, make: Make, headers: Mapping[str, str], slot: AbstractContextManager[object]
    ) -> None:
        self.status_code = 200
        self.background = None
        self.body = b""
        self.init_headers(headers)
        del self.headers["content-length"]
        self._run = run
        self._make_pieces = make
        self._slot = slot

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._slot:
            await send(
                {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            )
            if scope["method"] == "HEAD":
                await send({"type": "http.response.body"})
            else:
                await self._stream(scope["path"], receive, send)

    async def _stream(self, path: str, receive: Receive, send: Send) -> None:
        pieces = _Pieces()
        making = asyncio.create_task(self._make(pieces))
        disconnected = asyncio.create_task(_until_gone(receive))
        sending = asyncio.create_task(_send_all(pieces, send))
        try:
            await asyncio.wait((making, disconnected, sending), return_when=asyncio.FIRST_COMPLETED)
            if making.done() and making.exception() is None:
                await asyncio.wait((disconnected, sending), return_when=asyncio.FIRST_COMPLETED)
        finally:
            pieces.close()
            disconnected.cancel()
            sending.cancel()
        with suppress(_Gone):
            try:
                await making
            except CarrelError as error:
                # The response has started, so it can only be aborted; the server does that for a response without an
                # end.
                log.warning("http.stream_cut", path=path, error=error.message)

    async def _make(self, pieces: _Pieces) -> None:
        def make() -> None:
            self._make_pieces(pieces.put)
            pieces.put(None)

        await self._run(make)


async def _send_all(pieces: _Pieces, send: Send) -> None:
    while (piece := await pieces.get()) is not None:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body"})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
