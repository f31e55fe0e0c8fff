"""A zip or tar file on its way to a client: made in a thread, a few pieces ahead of what the client has taken."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, suppress

import structlog
from fastapi import Response
from starlette.types import Receive, Scope, Send

from carrel.core.errors import CarrelError

log = structlog.get_logger()
_AHEAD = 2
Make = Callable[[Callable[[bytes], object]], None]
"""Gives pieces to what it is called with."""
Run = Callable[[Callable[[], None]], Awaitable[None]]
"""Has work done in a thread, however long it takes."""


class _Gone(Exception):
    """Nobody takes it any more."""


class _Pieces:
    """From the thread that makes to the loop that sends: at most _AHEAD pieces are between them."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = threading.Semaphore(_AHEAD)
        self._gone = False

    def put(self, piece: bytes | None) -> None:
        """From the thread. None: that was all. Raises: _Gone."""
        self._room.acquire()
        if self._gone:
            raise _Gone
        self._loop.call_soon_threadsafe(self._ready.put_nowait, piece)

    async def get(self) -> bytes | None:
        piece = await self._ready.get()
        self._room.release()
        return piece

    def close(self) -> None:
        """Let the thread end, whatever it is waiting for."""
        self._gone = True
        self._room.release(_AHEAD)


class MadeStream(Response):
    """A response of unknown length: what `make` gives, called by `run`. slot: closed when it has ended."""

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
        leaving = asyncio.create_task(_until_gone(receive))
        sending = asyncio.create_task(_send_all(pieces, send))
        try:
            await asyncio.wait((making, leaving, sending), return_when=asyncio.FIRST_COMPLETED)
            if making.done() and making.exception() is None:
                await asyncio.wait((leaving, sending), return_when=asyncio.FIRST_COMPLETED)
        finally:
            pieces.close()
            leaving.cancel()
            sending.cancel()
        with suppress(_Gone):
            try:
                await making
            except CarrelError as error:
                # It has begun: it can only be cut, which the server does with an answer that has no end.
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
