"""Files as responses: whole or a part, and never as a part of our pages."""

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
"""A file is never a part of our pages, whatever it holds and however a browser comes by it."""


@dataclass(frozen=True)
class Content:
    """file: None when all of it is in `data`."""

    file: FileIO | None
    data: bytes
    size: int
    etag: str


class FileResponse(Response):
    """From start to end of a content: by the kernel where the server can have it so, else piece by piece.

    read: gives bytes of a descriptor, in a thread. slot: closed when it has ended.
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
                return  # it became shorter: the server cuts an answer that is not all there
            at += len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": at < self._end})


def disposition(name: str) -> str:
    """Content-Disposition (RFC 6266): to be saved, under this name, whatever is in it."""
    plain = re.sub(r"[^ !#-$&-\[\]-~]", "_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
