"""Bytes of files: downloads, whole-file writes, zip streams, links, and tus uploads.

Uploads speak tus 1.0 (https://tus.io/protocols/resumable-upload): creation, creation-with-upload,
creation-defer-length, termination, checksum, expiration, concatenation.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from carrel.folders.files import downloads, forms, links, packs, uploads, writes
from carrel.folders.files.routes import PathQuery
from carrel.folders.files.schemas import (
    PATH_PATTERN,
    FilesDone,
    FilesPack,
    FileView,
    LinkCreate,
    LinkView,
    UploadList,
)
from carrel.folders.routes import Ref
from carrel.http.auth import CurrentActor, names
from carrel.storage.tree import Clash

router = APIRouter(tags=["files"])
_USE = names("vfolder.use")
_OFFSET = "application/offset+octet-stream"
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


def _header(name: str, kind: str, description: str, *, required: bool = False) -> dict[str, object]:
    """A request header that the endpoint reads by itself."""
    return {
        "name": name,
        "in": "header",
        "required": required,
        "description": description,
        "schema": {"type": kind},
    }


_VERSION = _header("Tus-Resumable", "string", "1.0.0; other versions are refused.")
_OFFSET_HEADER = _header("Upload-Offset", "integer", "Where the body begins in the file.", required=True)
_TUS_CREATE = {
    "parameters": [
        _VERSION,
        _header("Upload-Length", "integer", "Bytes of the whole file."),
        _header("Upload-Defer-Length", "integer", "1 when the length is not known yet."),
        _header("Upload-Metadata", "string", "Pairs of a key and a Base64 value, separated by commas."),
    ]
}
_CLASH_HEADER = _header("Carrel-Clash", "string", "For this request, another `clash`: refuse, replace or rename.")
_TUS_APPEND = {"parameters": [_VERSION, _OFFSET_HEADER, _CLASH_HEADER]}
_CONDITIONS = {
    "parameters": [
        _header("If-Match", "string", "Write only if this is still the file's ETag."),
        _header("If-None-Match", "string", "With *: write only if there is no such file."),
    ]
}
_TUS = _USE | {"requestBody": {"content": {_OFFSET: _RAW}}}
UploadRef = Annotated[str, Path(max_length=64, description="An id.")]
Selection = Annotated[
    list[Annotated[str, Query(max_length=4096, pattern=PATH_PATTERN)]],
    Query(min_length=1, max_length=500, description="relative to the folder; once for each"),
]


@router.head("/vfolders/{ref}/content", openapi_extra=_USE, include_in_schema=False)
@router.get(
    "/vfolders/{ref}/content", operation_id="files.download",
    summary="Download a file", openapi_extra=_USE, response_class=Response,
    responses={200: _BYTES, 206: _BYTES, 304: {"description": "Not changed."}, 416: {"description": "No such range."}},
)  # fmt: skip
async def download(request: Request, actor: CurrentActor, ref: Ref, path: PathQuery) -> Response:
    """A file's bytes; ranges, If-Range and If-None-Match as HTTP has them. Its ETag changes with its content."""
    return await downloads.file(request, actor, ref, path)


@router.put(
    "/vfolders/{ref}/content", operation_id="files.write", summary="Write a file",
    openapi_extra=_USE | _BODY | _CONDITIONS,
)
async def write(request: Request, actor: CurrentActor, ref: Ref, path: PathQuery) -> FileView:
    """Make a file of the body, or replace one; readers see the old or the new, whole. With If-Match: only when it is
    still the one that was read. With If-None-Match: * only when there is none. Else 412."""
    return await writes.write(request, actor, ref, path)


@router.get(
    "/vfolders/{ref}/archive", operation_id="files.archive",
    summary="Download files as a zip archive", openapi_extra=_USE, response_class=Response,
    responses={200: _ZIP},
)  # fmt: skip
async def archive(request: Request, actor: CurrentActor, ref: Ref, path: Selection) -> Response:
    """Files and directories as a zip file, made while it is sent. Symbolic links and special files are left out."""
    return await downloads.archive(request, actor, ref, path)


@router.post(
    "/vfolders/{ref}/links",
    operation_id="files.link",
    summary="Create a download link",
    openapi_extra=_USE,
    status_code=201,
)
async def link(request: Request, actor: CurrentActor, ref: Ref, body: LinkCreate) -> LinkView:
    """An address that gives one file, or a selection as a zip file, to whoever has it, for a minute."""
    return await links.make(request, actor, ref, body.paths)


@router.get(
    "/downloads/{token}", operation_id="files.by_link",
    summary="Download through a signed link", openapi_extra=names("vfolder.link"),
    response_class=Response, responses={200: _BYTES, 206: _BYTES},
)  # fmt: skip
async def by_link(request: Request, token: Annotated[str, Path(max_length=8192)]) -> Response:
    """What a link was made for."""
    return await links.follow(request, token)


@router.post(
    "/vfolders/{ref}/files/unpack", operation_id="files.unpack", summary="Upload many small files as a tar archive",
    openapi_extra=_USE | {"requestBody": {"content": _TAR | _FORM, "required": True}},
)  # fmt: skip
async def unpack(
    request: Request, actor: CurrentActor, ref: Ref, path: PathQuery = "", clash: Clash = Clash.REFUSE
) -> FilesDone:
    """Many small files in one request: a tar file of at most 32 MiB, or a form of at most 1 MiB, taken apart into the
    directory `path`. Each file is there whole or not at all; what was refused is named, and the rest has come."""
    if forms.is_form(request):
        return await forms.unpack(request, actor, ref, path, clash)
    return await packs.unpack(request, actor, ref, path, clash)


@router.post(
    "/vfolders/{ref}/files/pack", operation_id="files.pack",
    summary="Download many small files as a tar archive", openapi_extra=_USE, response_class=Response,
    responses={200: {"content": _TAR}},
)  # fmt: skip
async def pack(request: Request, actor: CurrentActor, ref: Ref, body: FilesPack) -> Response:
    """Many small files in one answer: a tar file with each under its path. What is larger than 8 MiB, no plain file, or
    cannot be read is left out; when that is all, the answer is why the first is."""
    return await packs.pack(request, actor, ref, body.paths)


@router.get(
    "/vfolders/{ref}/uploads",
    operation_id="uploads.list",
    summary="List unfinished uploads",
    openapi_extra=_USE,
)
async def list_uploads(request: Request, actor: CurrentActor, ref: Ref) -> UploadList:
    """Your uploads into a folder that are not finished."""
    return await uploads.unfinished(request, actor, ref)


@router.options(
    "/vfolders/{ref}/uploads", operation_id="uploads.options",
    summary="Show supported tus extensions", openapi_extra=_USE, response_class=Response,
    status_code=204,
)  # fmt: skip
async def options(request: Request, actor: CurrentActor, ref: Ref) -> Response:
    """What this server can do of tus."""
    return await uploads.abilities(request)


@router.post(
    "/vfolders/{ref}/uploads", operation_id="uploads.create",
    summary="Create an upload", openapi_extra=_TUS | _TUS_CREATE, response_class=Response,
    status_code=201, responses={201: {"description": "Location says where to send the bytes."}},
)  # fmt: skip
async def create(request: Request, actor: CurrentActor, ref: Ref) -> Response:
    """Begin an upload. Upload-Metadata has `path` (or `filename`) and may have `clash`: refuse, replace or rename;
    `modified`: the file's time, in seconds since 1970; `executable`: 1."""
    return await uploads.create(request, actor, ref)


@router.head(
    "/vfolders/{ref}/uploads/{upload}", operation_id="uploads.show",
    summary="Get the offset of an upload", openapi_extra=_USE, response_class=Response,
    responses={200: {"description": "Upload-Offset says how much has arrived."}},
)  # fmt: skip
async def show(request: Request, actor: CurrentActor, ref: Ref, upload: UploadRef) -> Response:
    """How much of an upload has arrived."""
    return await uploads.offset(request, actor, ref, upload)


@router.patch(
    "/vfolders/{ref}/uploads/{upload}", operation_id="uploads.append",
    summary="Append to an upload", openapi_extra=_TUS | _TUS_APPEND, response_class=Response,
    status_code=204,
)  # fmt: skip
async def append(request: Request, actor: CurrentActor, ref: Ref, upload: UploadRef) -> Response:
    """Send more of an upload, from Upload-Offset on. With its last byte the file appears in the folder."""
    return await uploads.append(request, actor, ref, upload)


@router.post("/vfolders/{ref}/uploads/{upload}", openapi_extra=_TUS, include_in_schema=False)
async def override(request: Request, actor: CurrentActor, ref: Ref, upload: UploadRef) -> Response:
    """The same as PATCH, HEAD or DELETE, for clients whose environment lets no such requests through."""
    return await uploads.overridden(request, actor, ref, upload)


@router.delete(
    "/vfolders/{ref}/uploads/{upload}", operation_id="uploads.remove",
    summary="Cancel an upload", openapi_extra=_USE, response_class=Response,
    status_code=204,
)  # fmt: skip
async def remove(request: Request, actor: CurrentActor, ref: Ref, upload: UploadRef) -> Response:
    """Give an upload up."""
    return await uploads.terminate(request, actor, ref, upload)
