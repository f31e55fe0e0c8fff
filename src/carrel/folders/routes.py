"""/vfolders: folders and their tasks."""

from typing import Annotated

from fastapi import APIRouter, Header, Path, Query
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.db.database import Database
from carrel.folders import access_list, cloning, moving, queries, quotas, service, tasks
from carrel.folders.hosts.services import StorageServices
from carrel.folders.schemas import (
    AccessList,
    QuotaList,
    QuotaQuery,
    TaskList,
    TaskQuery,
    TaskView,
    VFolderClone,
    VFolderCreate,
    VFolderHandOver,
    VFolderList,
    VFolderMove,
    VFolderQuery,
    VFolderUpdate,
    VFolderView,
)
from carrel.http.auth import CurrentActor, names
from carrel.http.services import ServicesOf

router = APIRouter(tags=["folders"])
Ref = Annotated[str, Path(max_length=64, description="An id, or an unambiguous name.")]
TaskRef = Annotated[str, Path(max_length=64, description="An id.")]


@router.get(
    "/vfolders", operation_id="vfolders.list", summary="List folders", openapi_extra=names("vfolder.read")
)
async def list_folders(
    services: ServicesOf[StorageServices], actor: CurrentActor, query: Annotated[VFolderQuery, Query()]
) -> VFolderList:
    """Folders, by name: yours, your projects' and those shared with you, unless filtered otherwise."""
    async with services.database.transaction() as tx:
        return await queries.page(tx, actor, query)


@router.post(
    "/vfolders",
    operation_id="vfolders.create",
    summary="Create a folder",
    openapi_extra=names("vfolder.create"),
    status_code=201,
)
async def create(
    services: ServicesOf[StorageServices],
    actor: CurrentActor,
    body: VFolderCreate,
    idempotency_key: Annotated[str | None, Header(max_length=100)] = None,
) -> VFolderView:
    """Create a folder."""
    folder = await service.create(
        services.database, services.storages, services.clock, actor, body, idempotency_key=idempotency_key
    )
    async with services.database.transaction() as tx:
        return await queries.detail(tx, actor, folder)


@router.get(
    "/vfolders/{ref}",
    operation_id="vfolders.show",
    summary="Get a folder",
    openapi_extra=names("vfolder.read"),
)
async def show(services: ServicesOf[StorageServices], actor: CurrentActor, ref: Ref) -> VFolderView:
    """One folder."""
    async with services.database.transaction() as tx:
        folder = await service.find(tx, actor, ref)
        return await queries.detail(tx, actor, folder.id)


@router.patch(
    "/vfolders/{ref}",
    operation_id="vfolders.update",
    summary="Update a folder",
    openapi_extra=names("vfolder.update"),
)
async def update(
    services: ServicesOf[StorageServices], actor: CurrentActor, ref: Ref, body: VFolderUpdate
) -> VFolderView:
    """Rename a folder, or change its usage mode or the permission of others."""
    database: Database = services.database

    async def change(tx: AsyncSession) -> VFolderView:
        folder = await service.update(tx, actor, ref, body)
        return await queries.detail(tx, actor, folder)

    return await database.run(change)


@router.post(
    "/vfolders/{ref}/clone",
    operation_id="vfolders.clone",
    summary="Clone a folder",
    openapi_extra=names("vfolder.create"),
    status_code=201,
)
async def clone(
    services: ServicesOf[StorageServices], actor: CurrentActor, ref: Ref, body: VFolderClone
) -> VFolderView:
    """Clone a folder that you can read, for yourself or another user. A task fills the clone."""
    database: Database = services.database

    async def change(tx: AsyncSession) -> VFolderView:
        folder = await cloning.clone(tx, services.clock, actor, ref, body)
        return await queries.detail(tx, actor, folder)

    return await database.run(change)


@router.post(
    "/vfolders/{ref}/move",
    operation_id="vfolders.move",
    summary="Move a folder to another storage host",
    openapi_extra=names("vfolder.update"),
)
async def move(
    services: ServicesOf[StorageServices], actor: CurrentActor, ref: Ref, body: VFolderMove
) -> VFolderView:
    """Move a folder to another storage host. It is read-only meanwhile, and must not be mounted."""
    database: Database = services.database

    async def change(tx: AsyncSession) -> VFolderView:
        folder = await moving.move(tx, services.clock, actor, ref, body)
        return await queries.detail(tx, actor, folder)

    return await database.run(change)


@router.post(
    "/vfolders/{ref}/trash",
    operation_id="vfolders.trash",
    summary="Move a folder to the trash",
    openapi_extra=names("vfolder.update"),
)
async def trash(services: ServicesOf[StorageServices], actor: CurrentActor, ref: Ref) -> VFolderView:
    """Move a folder to the trash. It must not be mounted in a live session."""
    database: Database = services.database

    async def change(tx: AsyncSession) -> VFolderView:
        folder = await service.trash(tx, services.clock, actor, ref)
        return await queries.detail(tx, actor, folder)

    return await database.run(change)


@router.post(
    "/vfolders/{ref}/restore",
    operation_id="vfolders.restore",
    summary="Restore a folder from the trash",
    openapi_extra=names("vfolder.update"),
)
async def restore(services: ServicesOf[StorageServices], actor: CurrentActor, ref: Ref) -> VFolderView:
    """Restore a folder from the trash."""
    database: Database = services.database

    async def change(tx: AsyncSession) -> VFolderView:
        folder = await service.restore(tx, actor, ref)
        return await queries.detail(tx, actor, folder)

    return await database.run(change)


@router.delete(
    "/vfolders/{ref}",
    operation_id="vfolders.remove",
    summary="Delete a folder permanently",
    openapi_extra=names("vfolder.remove"),
)
async def remove(
    services: ServicesOf[StorageServices],
    actor: CurrentActor,
    ref: Ref,
    name: Annotated[str, Query(max_length=64, description="confirmation: the name of the folder")],
) -> TaskView:
    """Permanently delete a folder in the trash with its files. This cannot be undone."""
    database: Database = services.database

    async def change(tx: AsyncSession) -> TaskView:
        task = await service.remove(tx, services.clock, actor, ref, name)
        return await queries.task(tx, actor, task)

    return await database.run(change)


@router.post(
    "/vfolders/{ref}/hand-over",
    operation_id="vfolders.hand_over",
    summary="Transfer ownership of a folder",
    openapi_extra=names("vfolder.hand_over"),
)
async def hand_over(
    services: ServicesOf[StorageServices], actor: CurrentActor, ref: Ref, body: VFolderHandOver
) -> VFolderView:
    """Transfer a folder to another user or a project, within their limits. It must not be mounted in a live session."""
    database: Database = services.database

    async def change(tx: AsyncSession) -> VFolderView:
        folder = await moving.hand_over(tx, services.clock, actor, ref, body)
        return await queries.detail(tx, actor, folder)

    return await database.run(change)


@router.get(
    "/vfolders/{ref}/access",
    operation_id="vfolders.access",
    summary="List who can access a folder",
    openapi_extra=names("vfolder.read"),
)
async def access(services: ServicesOf[StorageServices], actor: CurrentActor, ref: Ref) -> AccessList:
    """Everybody with access to the files of a folder, since when and why; for its owner and administrators."""
    async with services.database.transaction() as tx:
        return AccessList(items=await access_list.access(tx, actor, ref))


@router.get(
    "/vfolder-tasks",
    operation_id="vfolder_tasks.list",
    summary="List folder tasks",
    openapi_extra=names("vfolder.read"),
)
async def list_tasks(
    services: ServicesOf[StorageServices], actor: CurrentActor, query: Annotated[TaskQuery, Query()]
) -> TaskList:
    """Tasks that you started, newest first."""
    async with services.database.transaction() as tx:
        return await queries.tasks(tx, actor, query)


@router.get(
    "/vfolder-tasks/{ref}",
    operation_id="vfolder_tasks.show",
    summary="Get a folder task",
    openapi_extra=names("vfolder.read"),
)
async def show_task(services: ServicesOf[StorageServices], actor: CurrentActor, ref: TaskRef) -> TaskView:
    """The progress of one task."""
    async with services.database.transaction() as tx:
        return await queries.task(tx, actor, ref)


@router.post(
    "/vfolder-tasks/{ref}/cancel",
    operation_id="vfolder_tasks.cancel",
    summary="Cancel a folder task",
    openapi_extra=names("vfolder.update"),
)
async def cancel_task(services: ServicesOf[StorageServices], actor: CurrentActor, ref: TaskRef) -> TaskView:
    """Cancel a task and remove its partial result. Deletions cannot be cancelled."""
    database: Database = services.database

    async def change(tx: AsyncSession) -> TaskView:
        await tasks.cancel(tx, services.clock, actor, ref)
        return await queries.task(tx, actor, ref)

    return await database.run(change)


@router.get(
    "/quotas", operation_id="quotas.list", summary="List storage quotas", openapi_extra=names("quota.read")
)
async def list_quotas(
    services: ServicesOf[StorageServices], actor: CurrentActor, query: Annotated[QuotaQuery, Query()]
) -> QuotaList:
    """Folder usage and limits of users and projects."""
    async with services.database.transaction() as tx:
        return await quotas.page(tx, actor, query)
