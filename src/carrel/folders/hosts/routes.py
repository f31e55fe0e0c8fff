"""/storage-hosts."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.folders.hosts import checking, locations, queries, service
from carrel.folders.hosts.schemas import (
    StorageCheck,
    StorageCheckRequest,
    StorageHostAccessUpdate,
    StorageHostCreate,
    StorageHostKindList,
    StorageHostList,
    StorageHostLocationUpdate,
    StorageHostQuery,
    StorageHostUpdate,
    StorageHostView,
)
from carrel.folders.hosts.services import StorageHostServices, StorageServices
from carrel.http.auth import CurrentActor, names
from carrel.http.services import ServicesOf

router = APIRouter(tags=["storage hosts"])
Ref = Annotated[str, Path(max_length=64, description="An id or a name.")]


@router.get(
    "/storage-host-kinds",
    operation_id="storage_host_kinds.list",
    summary="List kinds of storage",
    openapi_extra=names("storage_host.read"),
)
async def list_kinds(actor: CurrentActor) -> StorageHostKindList:
    """The installed storage kinds with their settings."""
    return StorageHostKindList(items=queries.kinds())


@router.get(
    "/storage-hosts",
    operation_id="storage_hosts.list",
    summary="List storage hosts",
    openapi_extra=names("storage_host.read"),
)
async def list_hosts(
    services: ServicesOf[StorageServices], actor: CurrentActor, query: Annotated[StorageHostQuery, Query()]
) -> StorageHostList:
    """Storage hosts that you may use, with their free space; superadmins see all."""
    async with services.database.transaction() as tx:
        return await queries.page(tx, actor, query)


@router.post(
    "/storage-hosts",
    operation_id="storage_hosts.create",
    summary="Create a storage host",
    openapi_extra=names("storage_host.update"),
    status_code=201,
)
async def create(
    services: ServicesOf[StorageServices], actor: CurrentActor, body: StorageHostCreate
) -> StorageHostView:
    """Add a storage host. Its root is checked first."""
    host = await service.create(
        services.database,
        services.storages,
        services.clock,
        actor,
        body,
        data_dir=services.settings.data_dir.resolve(),
    )
    async with services.database.transaction() as tx:
        return await queries.detail(tx, actor, host)


@router.get(
    "/storage-hosts/{ref}",
    operation_id="storage_hosts.show",
    summary="Get a storage host",
    openapi_extra=names("storage_host.read"),
)
async def show(services: ServicesOf[StorageServices], actor: CurrentActor, ref: Ref) -> StorageHostView:
    """One storage host."""
    async with services.database.transaction() as tx:
        host = await service.find(tx, actor, ref)
        return await queries.detail(tx, actor, host.id)


@router.patch(
    "/storage-hosts/{ref}",
    operation_id="storage_hosts.update",
    summary="Update a storage host",
    openapi_extra=names("storage_host.update"),
)
async def update(
    services: ServicesOf[StorageServices], actor: CurrentActor, ref: Ref, body: StorageHostUpdate
) -> StorageHostView:
    """Change a storage host."""
    async with services.database.transaction() as tx:
        host = await service.update_host(tx, actor, ref, body)
        return await queries.detail(tx, actor, host)


@router.delete(
    "/storage-hosts/{ref}",
    operation_id="storage_hosts.remove",
    summary="Delete a storage host",
    openapi_extra=names("storage_host.update"),
    status_code=204,
)
async def remove(services: ServicesOf[StorageServices], actor: CurrentActor, ref: Ref) -> None:
    """Remove a storage host without folders. The content of its root is kept."""
    async with services.database.transaction() as tx:
        await service.remove(tx, actor, ref)


@router.put(
    "/storage-hosts/{ref}/access",
    operation_id="storage_hosts.set_access",
    summary="Replace the access list of a storage host",
    openapi_extra=names("storage_host.update"),
)
async def set_access(
    services: ServicesOf[StorageServices], actor: CurrentActor, ref: Ref, body: StorageHostAccessUpdate
) -> StorageHostView:
    """Replace the domains and projects that may use the host while it is not public."""
    async with services.database.transaction() as tx:
        host = await service.open_to(tx, actor, ref, body)
        return await queries.detail(tx, actor, host)


@router.put(
    "/storage-hosts/{ref}/locations/{engine}",
    operation_id="storage_hosts.set_location",
    summary="Set where an engine has a storage host",
    openapi_extra=names("storage_host.update"),
)
async def set_location(
    services: ServicesOf[StorageServices],
    actor: CurrentActor,
    ref: Ref,
    engine: Ref,
    body: StorageHostLocationUpdate,
) -> StorageHostView:
    """Set where the containers of an engine have the folders of the host. Running sessions keep their mounts."""
    async with services.database.transaction() as tx:
        host = await locations.change(tx, actor, ref, engine, body)
        return await queries.detail(tx, actor, host)


@router.post(
    "/storage-hosts/{ref}/locations/{engine}/check",
    operation_id="storage_hosts.check",
    summary="Check a storage host on an engine",
    openapi_extra=names("storage_host.update"),
)
async def check(
    services: ServicesOf[StorageHostServices],
    actor: CurrentActor,
    ref: Ref,
    engine: Ref,
    body: StorageCheckRequest,
) -> StorageCheck:
    """Write a file on one node, and read it on another and on the server. Starts a container on each node."""
    return await checking.check(
        services.database,
        services.storages,
        services.engines,
        services.clock,
        actor,
        ref,
        engine,
        body.image,
    )
