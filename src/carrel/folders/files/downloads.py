"""Bytes on their way out: files with their ranges, and selections as zip files."""

import os
import re
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from io import FileIO
from pathlib import Path
from urllib.parse import quote

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from carrel.core.errors import Invalid
from carrel.folders.files import authorization
from carrel.folders.files.folder_access import Reached
from carrel.folders.files.notes import FileNotes
from carrel.folders.files.services import FileServices
from carrel.folders.files.transfers import Slot, Transfers
from carrel.folders.files.zip_stream import MadeStream
from carrel.http import problems
from carrel.http.sendfile import EXTENSION
from carrel.http.services import services_of
from carrel.permissions.decide import Actor
from carrel.storage import listing
from carrel.storage.listing import etag
from carrel.storage.paths import opened
from carrel.storage.tree import changed
from carrel.storage.zips import write_zip

_SMALL = 256 << 10
"""Up to here a file is read at once, while it is opened."""
_PIECE = 1 << 20
_RANGE = re.compile(r"bytes=(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))", re.ASCII)
APART = {
    "Content-Type": "application/octet-stream",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-cache",
}
"""A file is never a part of our pages, whatever it holds and however a browser comes by it."""


async def file(request: Request, actor: Actor, ref: str, path: str) -> Response:
    """A file's bytes, or a part of them. Raises: NotFound, Forbidden, Conflict, Invalid, Changed."""
    return await sent(request, await authorization.outward(services_of(request, FileServices), actor, ref), path)


async def archive(request: Request, actor: Actor, ref: str, paths: list[str]) -> Response:
    """A zip file of things. Raises: NotFound, Forbidden, Conflict, Invalid."""
    return await zipped(request, await authorization.outward(services_of(request, FileServices), actor, ref), paths)


async def sent(request: Request, reached: Reached, path: str) -> Response:
    """A file as the request's headers want it. Raises: NotFound, Conflict, Invalid, Changed."""
    content = await reached.call(_content, reached.root, path)
    with ExitStack() as unless_sent:
        if content.file:
            unless_sent.enter_context(content.file)
        headers = {
            **APART,
            "Accept-Ranges": "bytes",
            "ETag": content.etag,
            "Content-Disposition": disposition(path.rpartition("/")[2]),
        }
        asked = request.headers
        if (wanted := asked.get("if-match")) and not matches(wanted, content.etag):
            raise changed(path)
        if (known := asked.get("if-none-match")) and matches(known, content.etag):
            return Response(status_code=304, headers=headers)
        span = _span(asked.get("range"), asked.get("if-range"), content)
        if span is None:
            return _no_such_range(request, content)
        slot = None
        if request.method != "HEAD":
            if content.file:
                slot = unless_sent.enter_context(_slot(request, reached))
            notes: FileNotes = services_of(request, FileServices).file_notes
            await notes.write(reached, "file.download", [path], in_place=False, bytes=span[1] - span[0])
        unless_sent.pop_all()
        return FileResponse(content, *span, headers, reached, slot)


def _no_such_range(request: Request, content: "_Content") -> Response:
    problem = problems.Problem(
        title="No such range", status=416, code="file.range", detail="The file is not as long as that.",
        hint="Ask for its length first.", details={"size_bytes": content.size},
    )  # fmt: skip
    return problems.respond(request, problem, {"Content-Range": f"bytes */{content.size}"})


async def zipped(request: Request, reached: Reached, paths: list[str]) -> Response:
    """Things as a zip file. Raises: NotFound, Conflict, Invalid."""
    if "" in paths and len(paths) > 1:
        raise Invalid("invalid.request", "The whole folder comes alone.", field="path")
    await reached.call(_require_all, reached.root, paths)
    slot = _slot(request, reached)
    name = paths[0].rpartition("/")[2] if len(paths) == 1 and paths[0] else reached.folder.name
    if request.method != "HEAD":
        notes: FileNotes = services_of(request, FileServices).file_notes
        await notes.write(reached, "file.download", paths, in_place=False, archive=True)
    headers = {**APART, "Content-Type": "application/zip", "Content-Disposition": disposition(f"{name}.zip")}
    make = partial(write_zip, reached.root, paths, reached.folder.name)
    return MadeStream(reached, make, headers, slot)


def _slot(request: Request, reached: Reached) -> Slot:
    """Raises: TooManyTransfers, Unavailable."""
    downloads: Transfers = services_of(request, FileServices).downloads
    return downloads.open(reached.actor.user_id)


def disposition(name: str) -> str:
    """Content-Disposition (RFC 6266): to be saved, under this name, whatever is in it."""
    plain = re.sub(r"[^ !#-$&-\[\]-~]", "_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def matches(header: str, tag: str) -> bool:
    """Whether an If-Match or If-None-Match means this ETag."""
    return header.strip() == "*" or tag in (each.strip().removeprefix("W/") for each in header.split(","))


@dataclass(frozen=True)
class _Content:
    """file: None when all of it is in `data`."""

    file: FileIO | None
    data: bytes
    size: int
    etag: str


class FileResponse(Response):
    """From start to end of a content: by the kernel where the server can have it so, else piece by piece.

    slot: closed when it has ended.
    """

    def __init__(
        self, content: _Content, start: int, end: int, headers: dict[str, str], reached: Reached, slot: Slot | None
    ) -> None:
        self.background = None
        self.status_code = 200
        if end - start < content.size:
            self.status_code = 206
            headers = {**headers, "Content-Range": f"bytes {start}-{end - 1}/{content.size}"}
        self.init_headers({**headers, "Content-Length": str(end - start)})
        self._content = content
        self._start, self._end = start, end
        self._reached = reached
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
            piece = await self._reached.call(os.pread, file.fileno(), min(_PIECE, self._end - at), at)
            if not piece:
                return  # it became shorter: the server cuts an answer that is not all there
            at += len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": at < self._end})


def _content(root: Path, path: str) -> _Content:
    file = opened(root, path)
    found = os.fstat(file.fileno())
    tag = etag(found.st_ino, found.st_size, found.st_mtime_ns)
    if found.st_size > _SMALL:
        return _Content(file, b"", found.st_size, tag)
    with file:
        data = file.read(found.st_size) if found.st_size else b""
    return _Content(None, data, len(data), tag)


def _span(wanted: str | None, condition: str | None, content: _Content) -> tuple[int, int] | None:
    """From where to where; None when there is no such part. Several ranges at once are as good as none."""
    size = content.size
    found = _RANGE.fullmatch(wanted.strip()) if wanted else None
    if found is None or (condition is not None and condition.strip() != content.etag):
        return 0, size
    first, last, final = found.groups()
    if final is not None:
        return (max(0, size - int(final)), size) if int(final) and size else None
    start, end = int(first), min(int(last) + 1, size) if last else size
    if last and int(last) < start:
        return 0, size
    return (start, end) if start < size else None


def _require_all(root: Path, paths: list[str]) -> None:
    for path in paths:
        listing.entry(root, path)
