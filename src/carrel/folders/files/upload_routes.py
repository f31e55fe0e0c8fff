"""Resumable uploads, by tus 1.0 (https://tus.io/protocols/resumable-upload): creation, creation-with-upload,
creation-defer-length, termination, checksum, expiration, concatenation.
"""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Request, Response

from carrel.folders.files import tus, uploads
from carrel.folders.files.schemas import UploadList
from carrel.folders.files.services import FileServices
from carrel.folders.files.uploads import Piece, UploadStatus
from carrel.folders.routes import Ref
from carrel.http.auth import CurrentActor, names
from carrel.http.body import Body
from carrel.http.documented import header
from carrel.http.services import ServicesOf
from carrel.http.shell import HEADERS
from carrel.permissions.decide import Actor

router = APIRouter(tags=["files"])
With = ServicesOf[FileServices]
_USE = names("vfolder.use")
_RAW = {"schema": {"type": "string", "format": "binary"}}
_VERSION = header("Tus-Resumable", "string", "1.0.0; other versions are refused.")
_OFFSET_HEADER = header("Upload-Offset", "integer", "Where the body begins in the file.", required=True)
_TUS_CREATE = {
    "parameters": [
        _VERSION,
        header("Upload-Length", "integer", "Bytes of the whole file."),
        header("Upload-Defer-Length", "integer", "1 when the length is not known yet."),
        header("Upload-Metadata", "string", "Pairs of a key and a Base64 value, separated by commas."),
    ]
}
_CLASH_HEADER = header(
    "Carrel-Clash", "string", "For this request, another `clash`: refuse, replace or rename."
)
_TUS_APPEND = {"parameters": [_VERSION, _OFFSET_HEADER, _CLASH_HEADER]}
_TUS = _USE | {"requestBody": {"content": {tus.OFFSET_TYPE: _RAW}}}
UploadRef = Annotated[str, Path(max_length=64, description="An id.")]


@router.get(
    "/vfolders/{ref}/uploads",
    operation_id="uploads.list",
    summary="List unfinished uploads",
    openapi_extra=_USE,
)
async def list_uploads(services: With, actor: CurrentActor, ref: Ref) -> UploadList:
    """Your unfinished uploads into a folder."""
    return await uploads.unfinished(services, actor, ref)


@router.options(
    "/vfolders/{ref}/uploads",
    operation_id="uploads.options",
    summary="Show supported tus extensions",
    openapi_extra=_USE,
    response_class=Response,
    status_code=204,
)
async def options(request: Request, services: With, actor: CurrentActor, ref: Ref) -> Response:
    """The tus features of this server."""
    largest = await uploads.largest(services)
    return Response(
        status_code=204,
        headers={
            "Tus-Resumable": tus.VERSION,
            "Tus-Version": tus.VERSION,
            "Tus-Extension": ",".join(tus.EXTENSIONS),
            "Tus-Checksum-Algorithm": ",".join(tus.ALGORITHMS),
            "Tus-Max-Size": str(largest),
        },
    )


@router.post(
    "/vfolders/{ref}/uploads",
    operation_id="uploads.create",
    summary="Create an upload",
    openapi_extra=_TUS | _TUS_CREATE,
    response_class=Response,
    status_code=201,
    responses={201: {"description": "Location is the URL of the upload."}},
)
async def create(request: Request, services: With, actor: CurrentActor, ref: Ref) -> Response:
    """Create an upload. Upload-Metadata has `path` (or `filename`).

    It may have `clash`: refuse, replace or rename; `modified`: the file's time, in seconds since 1970; `executable`: 1.
    """
    _speaks(request)
    creation = tus.creation(request.headers)
    upload_status = await uploads.create(services, actor, ref, creation, Body(request))
    headers = {"Location": f"uploads/{upload_status.id}", **_headers_of(upload_status)}
    return Response(status_code=201, headers=headers)


@router.head(
    "/vfolders/{ref}/uploads/{upload}",
    operation_id="uploads.show",
    summary="Get the offset of an upload",
    openapi_extra=_USE,
    response_class=Response,
    responses={200: {"description": "Upload-Offset says how much has arrived."}},
)
async def show(
    request: Request, services: With, actor: CurrentActor, ref: Ref, upload: UploadRef
) -> Response:
    """The number of bytes received."""
    return await _shown(request, services, actor, ref, upload)


@router.patch(
    "/vfolders/{ref}/uploads/{upload}",
    operation_id="uploads.append",
    summary="Append to an upload",
    openapi_extra=_TUS | _TUS_APPEND,
    response_class=Response,
    status_code=204,
)
async def append(
    request: Request, services: With, actor: CurrentActor, ref: Ref, upload: UploadRef
) -> Response:
    """Send more of an upload, from Upload-Offset on. The file appears in the folder with its last byte."""
    return await _appended(request, services, actor, ref, upload)


@router.post("/vfolders/{ref}/uploads/{upload}", openapi_extra=_TUS, include_in_schema=False)
async def override(
    request: Request, services: With, actor: CurrentActor, ref: Ref, upload: UploadRef
) -> Response:
    """Send PATCH, HEAD or DELETE as POST, for clients that cannot send those methods."""
    known = {"PATCH": _appended, "HEAD": _shown, "DELETE": _terminated}
    override = known.get(request.headers.get("x-http-method-override", "").upper())
    if override is None:
        raise tus.missing("X-HTTP-Method-Override")
    return await override(request, services, actor, ref, upload)


@router.delete(
    "/vfolders/{ref}/uploads/{upload}",
    operation_id="uploads.remove",
    summary="Cancel an upload",
    openapi_extra=_USE,
    response_class=Response,
    status_code=204,
)
async def remove(
    request: Request, services: With, actor: CurrentActor, ref: Ref, upload: UploadRef
) -> Response:
    """Cancel an upload."""
    return await _terminated(request, services, actor, ref, upload)


async def _shown(request: Request, services: FileServices, actor: Actor, ref: str, upload: str) -> Response:
    _speaks(request)
    state = await uploads.offset(services, actor, ref, upload)
    row = state.row
    headers = {"Upload-Expires": tus.date(row.expires_at), "Cache-Control": "no-store"}
    if state.offset is not None:
        headers["Upload-Offset"] = str(state.offset)
    if row.length is None or (row.length == 0 and row.done_path is None):
        headers["Upload-Defer-Length"] = "1"
    else:
        headers["Upload-Length"] = str(row.length)
    if row.metadata_text:
        headers["Upload-Metadata"] = row.metadata_text
    if row.partial:
        headers["Upload-Concat"] = "partial"
    elif row.parts:
        headers["Upload-Concat"] = "final;" + " ".join(row.parts)
    return Response(status_code=200, headers=headers)


async def _appended(
    request: Request, services: FileServices, actor: Actor, ref: str, upload: str
) -> Response:
    _speaks(request)
    tus.require_type(request.headers)
    checksum = tus.checksum(request.headers)
    at = tus.number(request.headers, "upload-offset")
    if at is None:
        raise tus.missing("Upload-Offset")
    clash = tus.clash(request.headers)
    piece = Piece(at, tus.number(request.headers, "upload-length"), checksum, clash)
    upload_status = await uploads.append(services, actor, ref, upload, piece, Body(request))
    return Response(status_code=204, headers=_headers_of(upload_status))


async def _terminated(
    request: Request, services: FileServices, actor: Actor, ref: str, upload: str
) -> Response:
    _speaks(request)
    await uploads.terminate(services, actor, ref, upload)
    return Response(status_code=204)


def _headers_of(upload_status: UploadStatus) -> dict[str, str]:
    headers: dict[str, str] = {}
    if upload_status.offset is not None:
        headers["Upload-Offset"] = str(upload_status.offset)
    if upload_status.expires_at is not None:
        headers["Upload-Expires"] = tus.date(upload_status.expires_at)
    if upload_status.path is not None:
        headers["Carrel-Path"] = quote(upload_status.path)
    return headers


def _speaks(request: Request) -> None:
    version = tus.VERSION.encode()
    setattr(request.state, HEADERS, ((b"tus-resumable", version), (b"tus-version", version)))
    tus.require_version(request.headers)
