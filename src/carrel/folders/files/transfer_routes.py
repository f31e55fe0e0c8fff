"""Contents of files: downloads, whole-file writes, archives and links. Uploads have separate routes."""

import os
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from carrel.folders.files import downloads, forms, links, packs, writes
from carrel.folders.files.downloads import Archive, Download, FileRequest, NoSuchRange, NotChanged
from carrel.folders.files.routes import PathQuery
from carrel.folders.files.schemas import (
    PATH_PATTERN,
    FilesDone,
    FilesPack,
    FileView,
    LinkCreate,
    LinkView,
)
from carrel.folders.files.services import FileServices
from carrel.folders.files.writes import Condition
from carrel.folders.routes import Ref
from carrel.http import problems
from carrel.http.auth import CurrentActor, by_address, client_address, names
from carrel.http.body import Body
from carrel.http.documented import header
from carrel.http.file_response import APART, FileResponse, disposition
from carrel.http.made_stream import MadeStream
from carrel.http.services import ServicesOf
from carrel.storage.tree import Clash

router = APIRouter(tags=["files"])
With = ServicesOf[FileServices]
_USE = names("vfolder.use")
_RAW = {"schema": {"type": "string", "format": "binary"}}
_BYTES = {"content": {"application/octet-stream": _RAW}}
_ZIP = {"content": {"application/zip": _RAW}}
_TAR = {"application/x-tar": _RAW}
_FORM = {
    forms.MEDIA_TYPE: {
        "schema": {
            "type": "object",
            "required": ["files"],
            "properties": {
                "files": {
                    "type": "string",
                    "description": "First: a JSON array of {path, modified} for each file that follows.",
                },
                "file": {
                    "type": "array",
                    "items": {"type": "string", "format": "binary"},
                    "description": "The files, in that order.",
                },
            },
        }
    }
}
_BODY = {"requestBody": {"content": {"application/octet-stream": _RAW}}}


_CONDITIONS = {
    "parameters": [
        header("If-Match", "string", "Write only if this is still the file's ETag."),
        header("If-None-Match", "string", "With *: write only if there is no such file."),
    ]
}
Selection = Annotated[
    list[Annotated[str, Query(max_length=4096, pattern=PATH_PATTERN)]],
    Query(min_length=1, max_length=500, description="relative to the folder; repeatable"),
]


@router.head("/vfolders/{ref}/content", openapi_extra=_USE, include_in_schema=False)
@router.get(
    "/vfolders/{ref}/content",
    operation_id="files.download",
    summary="Download a file",
    openapi_extra=_USE,
    response_class=Response,
    responses={
        200: _BYTES,
        206: _BYTES,
        304: {"description": "Not changed."},
        416: {"description": "No such range."},
    },
)
async def download(
    request: Request, services: With, actor: CurrentActor, ref: Ref, path: PathQuery
) -> Response:
    """A file's bytes, with HTTP ranges, If-Range and If-None-Match. Its ETag changes with its content."""
    return file_response(request, await downloads.file(services, actor, ref, path, file_request(request)))


@router.put(
    "/vfolders/{ref}/content",
    operation_id="files.write",
    summary="Write a file",
    openapi_extra=_USE | _BODY | _CONDITIONS,
)
async def write(request: Request, services: With, actor: CurrentActor, ref: Ref, path: PathQuery) -> FileView:
    """Create or replace a file with the body; readers see either the old or the new content.

    If-Match: only if the file is unchanged. If-None-Match: * only if it does not exist. Otherwise 412.
    """
    only_new = request.headers.get("if-none-match", "").strip() == "*"
    tags = request.headers.get("if-match")
    condition = Condition(only_new, [tag.strip() for tag in tags.split(",")] if tags else None)
    return await writes.write(services, actor, ref, path, Body(request), condition)


@router.get(
    "/vfolders/{ref}/archive",
    operation_id="files.archive",
    summary="Download files as a zip archive",
    openapi_extra=_USE,
    response_class=Response,
    responses={200: _ZIP},
)
async def archive(services: With, actor: CurrentActor, ref: Ref, path: Selection) -> Response:
    """Files and directories as a zip file, created while it is sent. Symbolic links and special files are skipped."""
    return _archive(await downloads.archive(services, actor, ref, path))


@router.post(
    "/vfolders/{ref}/links",
    operation_id="files.link",
    summary="Create a download link",
    openapi_extra=_USE,
    status_code=201,
)
async def link(services: With, actor: CurrentActor, ref: Ref, body: LinkCreate) -> LinkView:
    """A link that downloads one file, or a selection as a zip file, without signing in, valid for one minute."""
    return await links.make(services, actor, ref, body.paths)


@router.get(
    "/downloads/{token}",
    operation_id="files.by_link",
    summary="Download through a signed link",
    openapi_extra=names("vfolder.link"),
    response_class=Response,
    responses={200: _BYTES, 206: _BYTES},
)
async def by_link(request: Request, services: With, token: Annotated[str, Path(max_length=8192)]) -> Response:
    """Download the target of a link."""
    await by_address(request)
    linked = await links.follow(services, token, client_address(request))
    opened, paths = linked.opened, linked.paths
    if linked.is_file:
        return file_response(request, await downloads.sent(services, opened, paths[0], file_request(request)))
    return _archive(await downloads.zipped(services, opened, paths))


@router.post(
    "/vfolders/{ref}/files/unpack",
    operation_id="files.unpack",
    summary="Upload many small files as a tar archive",
    openapi_extra=_USE | {"requestBody": {"content": _TAR | _FORM, "required": True}},
)
async def unpack(
    request: Request,
    services: With,
    actor: CurrentActor,
    ref: Ref,
    path: PathQuery = "",
    clash: Clash = Clash.REFUSE,
) -> FilesDone:
    """Many small files in one request: a tar file of at most 32 MiB, or a form of at most 1 MiB.

    They are unpacked into the directory `path`. Each file is written completely or not at all; failed ones are listed,
    and the others are kept.
    """
    sent = Body(request)
    if forms.is_form(sent):
        return await forms.unpack(services, actor, ref, path, clash, sent)
    return await packs.unpack(services, actor, ref, path, clash, sent)


@router.post(
    "/vfolders/{ref}/files/pack",
    operation_id="files.pack",
    summary="Download many small files as a tar archive",
    openapi_extra=_USE,
    response_class=Response,
    responses={200: {"content": _TAR}},
)
async def pack(services: With, actor: CurrentActor, ref: Ref, body: FilesPack) -> Response:
    """Many small files in one response: a tar file with each under its path.

    Files larger than 8 MiB, special files and unreadable files are skipped; if none is left, the response is the error
    of the first.
    """
    made = await packs.pack(services, actor, ref, body.paths)
    return _stream(made, {"Content-Type": "application/x-tar"})


def file_request(request: Request) -> FileRequest:
    """The part of a file that the request headers ask for."""
    header = request.headers.get
    return FileRequest(
        request.method != "HEAD",
        if_match=header("if-match"),
        if_none_match=header("if-none-match"),
        range=header("range"),
        if_range=header("if-range"),
    )


def file_response(request: Request, outcome: Download | NotChanged | NoSuchRange) -> Response:
    """A file as a response: 200, 206, 304 or 416."""
    if isinstance(outcome, NoSuchRange):
        problem = problems.Problem(
            title="No such range",
            status=416,
            code="file.range",
            detail="The range starts beyond the end of the file.",
            hint="Request its length first.",
            details={"size_bytes": outcome.size},
        )
        return problems.respond(request, problem, {"Content-Range": f"bytes */{outcome.size}"})
    tag = outcome.etag if isinstance(outcome, NotChanged) else outcome.content.etag
    described = {"Accept-Ranges": "bytes", "ETag": tag, "Content-Disposition": disposition(outcome.name)}
    if isinstance(outcome, NotChanged):
        return Response(status_code=304, headers=APART | described)
    read = partial(outcome.opened.call, os.pread)
    return FileResponse(outcome.content, (outcome.start, outcome.end), APART | described, read, outcome.slot)


def _archive(archive: Archive) -> Response:
    saved = disposition(archive.name) if archive.name else "attachment"
    return _stream(archive, {"Content-Type": "application/zip", "Content-Disposition": saved})


def _stream(archive: Archive, headers: dict[str, str]) -> Response:
    run = partial(archive.opened.call, deadline_s=None)
    return MadeStream(run, archive.make, APART | headers, archive.slot)
