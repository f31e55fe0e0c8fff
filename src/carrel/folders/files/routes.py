"""/vfolders/{ref}/files: list and change files in a folder."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from carrel.folders.files import service
from carrel.folders.files.schemas import (
    PATH_PATTERN,
    DirectoryCreate,
    FileList,
    FileQuery,
    FilesCopy,
    FilesDone,
    FilesMove,
    FilesRemove,
    FileView,
    FoundFiles,
)
from carrel.folders.files.services import FileServices
from carrel.folders.routes import Ref
from carrel.folders.schemas import TaskView
from carrel.http.auth import CurrentActor, names
from carrel.http.query import DECIMAL
from carrel.http.services import ServicesOf

router = APIRouter(tags=["files"])
_USE = names("vfolder.use")
_PARTLY: dict[int | str, dict[str, Any]] = {
    207: {"model": FilesDone, "description": "Some were refused; `refused` names each with its reason."}
}
PathQuery = Annotated[str, Query(max_length=4096, pattern=PATH_PATTERN, description="relative to the folder")]


@router.get(
    "/vfolders/{ref}/files", operation_id="files.list", summary="List a directory", openapi_extra=_USE
)
async def list_files(
    services: ServicesOf[FileServices], actor: CurrentActor, ref: Ref, query: Annotated[FileQuery, Query()]
) -> FileList:
    """The entries of a directory, directories first, paginated."""
    return await service.listing(services, actor, ref, query)


@router.get(
    "/vfolders/{ref}/files/info",
    operation_id="files.show",
    summary="Get a file or directory",
    openapi_extra=_USE,
)
async def show(
    services: ServicesOf[FileServices], actor: CurrentActor, ref: Ref, path: PathQuery
) -> FileView:
    """One file or directory."""
    return await service.show(services, actor, ref, path)


@router.get(
    "/vfolders/{ref}/files/search",
    operation_id="files.search",
    summary="Search files by name",
    openapi_extra=_USE,
)
async def search(
    services: ServicesOf[FileServices],
    actor: CurrentActor,
    ref: Ref,
    q: Annotated[str, Query(min_length=1, max_length=255, description="part of a name")],
    path: PathQuery = "",
    limit: Annotated[int, Field(ge=1, le=1000), DECIMAL, Query()] = 200,
) -> FoundFiles:
    """Files and directories below a path whose name contains the text, case-insensitive."""
    return await service.search(services, actor, ref, path, q, limit)


@router.post(
    "/vfolders/{ref}/files/directories",
    operation_id="files.make_directory",
    summary="Create a directory",
    openapi_extra=_USE,
    status_code=201,
)
async def make_directory(
    services: ServicesOf[FileServices], actor: CurrentActor, ref: Ref, body: DirectoryCreate
) -> FileView:
    """Create a directory with its parents."""
    return await service.make_directory(services, actor, ref, body.path)


@router.post(
    "/vfolders/{ref}/files/move",
    operation_id="files.move",
    summary="Move or rename files",
    openapi_extra=_USE,
    responses=_PARTLY,
)
async def move(
    services: ServicesOf[FileServices], response: Response, actor: CurrentActor, ref: Ref, body: FilesMove
) -> FilesDone:
    """Move files and directories within a folder, or rename one.

    207 if some failed; if all failed, the problem of the first, with all in `details.refused`.
    """
    return _with_status(response, await service.move(services, actor, ref, body))


@router.post(
    "/vfolders/{ref}/files/copy",
    operation_id="files.copy",
    summary="Copy files",
    openapi_extra=_USE,
    status_code=202,
)
async def copy(
    services: ServicesOf[FileServices], actor: CurrentActor, ref: Ref, body: FilesCopy
) -> TaskView:
    """Copy files and directories within a folder or into another one. The task reports progress."""
    return await service.copy(services, actor, ref, body)


@router.post(
    "/vfolders/{ref}/files/remove",
    operation_id="files.remove",
    summary="Delete files",
    openapi_extra=_USE,
    responses=_PARTLY,
)
async def remove(
    services: ServicesOf[FileServices], response: Response, actor: CurrentActor, ref: Ref, body: FilesRemove
) -> FilesDone:
    """Delete files and directories. They disappear immediately; a task frees their space.

    207 if some failed; if all failed, the problem of the first, with all in `details.refused`.
    """
    return _with_status(response, await service.remove(services, actor, ref, body.paths))


def _with_status(response: Response, done: FilesDone) -> FilesDone:
    """The outcome, with status 207 if some operations failed."""
    if done.refused:
        response.status_code = 207
    return done
