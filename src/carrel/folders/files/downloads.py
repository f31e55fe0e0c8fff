"""Outgoing bytes: files with ranges, and selections as zip files."""

import os
import re
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from carrel.core.errors import Invalid
from carrel.folders.files import authorization
from carrel.folders.files.folder_access import OpenedFolder
from carrel.folders.files.services import FileServices
from carrel.folders.files.transfers import Slot
from carrel.http.file_response import Content
from carrel.http.made_stream import Make
from carrel.permissions.decide import Actor
from carrel.storage import listing
from carrel.storage.listing import etag
from carrel.storage.paths import opened
from carrel.storage.tree import changed
from carrel.storage.zips import write_zip

_SMALL = 256 << 10
"""Files up to this size are read immediately when they are opened."""
_RANGE = re.compile(r"bytes=(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))", re.ASCII)


@dataclass(frozen=True)
class FileRequest:
    """The requested part of a file, in HTTP terms. content: False if only its size and ETag are needed."""

    content: bool = True
    if_match: str | None = None
    if_none_match: str | None = None
    range: str | None = None
    if_range: str | None = None


@dataclass(frozen=True)
class Download:
    """Bytes `start` to `end` of a file. slot: close it after sending; None: nothing is sent."""

    opened: OpenedFolder
    name: str
    content: Content
    start: int
    end: int
    slot: Slot | None


@dataclass(frozen=True)
class NotChanged:
    """The client's copy of the file is current."""

    name: str
    etag: str


@dataclass(frozen=True)
class NoSuchRange:
    """The range lies beyond the end of the file."""

    size: int


@dataclass(frozen=True)
class Archive:
    """Several files as one archive, created while it is sent. slot: close it after sending."""

    opened: OpenedFolder
    make: Make
    name: str | None
    slot: Slot


async def file(
    services: FileServices, actor: Actor, ref: str, path: str, request: FileRequest
) -> Download | NotChanged | NoSuchRange:
    """A file's bytes or a range of them. Raises: NotFound, Forbidden, Conflict, Invalid, Changed."""
    return await sent(services, await authorization.outward(services, actor, ref), path, request)


async def archive(services: FileServices, actor: Actor, ref: str, paths: list[str]) -> Archive:
    """A zip file of the selection. Raises: NotFound, Forbidden, Conflict, Invalid."""
    return await zipped(services, await authorization.outward(services, actor, ref), paths)


async def sent(
    services: FileServices, opened: OpenedFolder, path: str, request: FileRequest
) -> Download | NotChanged | NoSuchRange:
    """The requested part of a file. Raises: NotFound, Conflict, Invalid, Changed."""
    content, name = await opened.call(_content, opened.root, path), path.rpartition("/")[2]
    with ExitStack() as unless_sent:
        if content.file:
            unless_sent.enter_context(content.file)
        if request.if_match and not matches(request.if_match, content.etag):
            raise changed(path)
        if request.if_none_match and matches(request.if_none_match, content.etag):
            return NotChanged(name, content.etag)
        span = _span(request.range, request.if_range, content)
        if span is None:
            return NoSuchRange(content.size)
        slot = None
        if request.content:
            if content.file:
                slot = unless_sent.enter_context(services.downloads.open(opened.actor.user_id))
            size = span[1] - span[0]
            await services.file_notes.write(opened, "file.download", [path], in_place=False, bytes=size)
        unless_sent.pop_all()
        return Download(opened, name, content, *span, slot)


async def zipped(services: FileServices, opened: OpenedFolder, paths: list[str]) -> Archive:
    """The selection as a zip file. Raises: NotFound, Conflict, Invalid."""
    if "" in paths and len(paths) > 1:
        raise Invalid(
            "invalid.request", "The whole folder cannot be combined with other paths.", field="path"
        )
    await opened.call(_require_all, opened.root, paths)
    slot = services.downloads.open(opened.actor.user_id)
    name = paths[0].rpartition("/")[2] if len(paths) == 1 and paths[0] else opened.folder.name
    await services.file_notes.write(opened, "file.download", paths, in_place=False, archive=True)
    return Archive(opened, partial(write_zip, opened.root, paths, opened.folder.name), f"{name}.zip", slot)


def matches(header: str, tag: str) -> bool:
    """True if an If-Match or If-None-Match header matches this ETag."""
    return header.strip() == "*" or tag in (each.strip().removeprefix("W/") for each in header.split(","))


def _content(root: Path, path: str) -> Content:
    file = opened(root, path)
    status = os.fstat(file.fileno())
    tag = etag(status.st_ino, status.st_size, status.st_mtime_ns)
    if status.st_size > _SMALL:
        return Content(file, b"", status.st_size, tag)
    with file:
        data = file.read(status.st_size) if status.st_size else b""
    return Content(None, data, len(data), tag)


def _span(header: str | None, condition: str | None, content: Content) -> tuple[int, int] | None:
    """Start and end of the range; None if it cannot be satisfied. Multiple ranges are ignored."""
    size = content.size
    match = _RANGE.fullmatch(header.strip()) if header else None
    if match is None or (condition is not None and condition.strip() != content.etag):
        return 0, size
    first, last, final = match.groups()
    if final is not None:
        return (max(0, size - int(final)), size) if int(final) and size else None
    start, end = int(first), min(int(last) + 1, size) if last else size
    if last and int(last) < start:
        return 0, size
    return (start, end) if start < size else None


def _require_all(root: Path, paths: list[str]) -> None:
    for path in paths:
        listing.entry(root, path)
