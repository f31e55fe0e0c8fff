"""File responses: full or ranged, isolated from our pages."""

import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from io import FileIO
from urllib.parse import quote

from fastapi import Response
from starlette.types import Receive, Scope, Send

from carrel.http.sendfile import EXTENSION

_PIECE = 1 << 20
Read = Callable[[int, int, int], Awaitable[bytes]]
"""As `os.pread`: descriptor, count, offset."""
APART = {
    "Content-Type": "application/octet-stream",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-cache",
}
"""Keep the browser from running a file in our origin, whatever it contains."""


@dataclass(frozen=True)
class Content:
    """file: None when all of it is in `data`."""

    file: FileIO | None
    data: bytes
    size: int
    etag: str


class FileResponse(Response):
    """Send a range of the content: with sendfile if the server offers it, otherwise in chunks.

    read: reads from a descriptor in a thread. slot: closed when the response ends.
    """

    def __init__(
        self,
        content: Content,
        span: tuple[int, int],
        headers: Mapping[str, str],
        read: Read,
        slot: AbstractContextManager[object] | None,
    ) -> None:
        start, end = span
        self.background = None
        self.status_code = 200
        if end - start < content.size:
            self.status_code = 206
            headers = {**headers, "Content-Range": f"bytes {start}-{end - 1}/{content.size}"}
        self.init_headers({**headers, "Content-Length": str(end - start)})
        self._content = content
        self._start, self._end = start, end
        self._read = read
        self._slot = slot

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._slot or nullcontext():
            await self._send(scope, send)

    async def _send(self, scope: Scope, send: Send) -> None:
        file = self._content.file
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if scope["method"] == "HEAD" or self._start == self._end:
            await send({"type": "http.response.body"})
        elif file is None:
            await send({"type": "http.response.body", "body": self._content.data[self._start : self._end]})
        elif EXTENSION in scope.get("extensions", {}):
            with file:
                count = self._end - self._start
                await send({"type": EXTENSION, "file": file.fileno(), "offset": self._start, "count": count})
        else:
            with file:
                await self._pieces(file, send)

    async def _pieces(self, file: FileIO, send: Send) -> None:
        at = self._start
        while at < self._end:
            piece = await self._read(file.fileno(), min(_PIECE, self._end - at), at)
            if not piece:
                return  # the file was truncated: the server aborts an incomplete response
            at += len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": at < self._end})


def disposition(name: str) -> str:
    """Content-Disposition (RFC 6266): save as this name, whatever the type."""
    plain = re.sub(r"[^ !#-$&-\[\]-~]", "_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
