"""/registries."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.http.auth import CurrentActor, names
from carrel.http.paging import PageQuery
from carrel.http.services import Services, ServicesOf
from carrel.images.registries import queries, registry_checking, registry_credentials, scans, service
from carrel.images.registries.schemas import (
    RegistryCheck,
    RegistryCreate,
    RegistryList,
    RegistryQuery,
    RegistryScanList,
    RegistryScanView,
    RegistryUpdate,
    RegistryView,
)

router = APIRouter(tags=["registries"])
Ref = Annotated[str, Path(max_length=64, description="An id or a name.")]


@router.get(
    "/registries",
    operation_id="registries.list",
    summary="List registries",
    openapi_extra=names("registry.read"),
)
async def list_registries(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[RegistryQuery, Query()]
) -> RegistryList:
    """The registries of projects and domains that you administer; for superadmins all. Secrets are never shown."""
    async with services.database.transaction() as tx:
        return await queries.page(tx, actor, query)


@router.post(
    "/registries",
    operation_id="registries.create",
    summary="Add a registry",
    openapi_extra=names("registry.update"),
    status_code=201,
)
async def create(services: ServicesOf[Services], actor: CurrentActor, body: RegistryCreate) -> RegistryView:
    """Add a registry for the installation, a domain or a project."""
    async with services.database.transaction() as tx:
        made = await service.create(tx, services.seal, services.clock, actor, body)
        return (await service.find(tx, actor, made)).view


@router.get(
    "/registries/{ref}",
    operation_id="registries.show",
    summary="Get a registry",
    openapi_extra=names("registry.read"),
)
async def show(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> RegistryView:
    """One registry, without its secret."""
    async with services.database.transaction() as tx:
        return (await service.find(tx, actor, ref)).view


@router.patch(
    "/registries/{ref}",
    operation_id="registries.update",
    summary="Change a registry",
    openapi_extra=names("registry.update"),
)
async def update(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: RegistryUpdate
) -> RegistryView:
    """Change the given fields."""
    async with services.database.transaction() as tx:
        changed = await service.update(tx, services.seal, services.clock, actor, ref, body)
        return (await service.find(tx, actor, changed)).view


@router.delete(
    "/registries/{ref}",
    operation_id="registries.remove",
    summary="Remove a registry",
    openapi_extra=names("registry.update"),
    status_code=204,
)
async def remove(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> None:
    """Remove a registry. Nothing is deleted at the registry."""
    async with services.database.transaction() as tx:
        await service.remove(tx, actor, ref)


@router.post(
    "/registries/{ref}/check",
    operation_id="registries.check",
    summary="Check a registry",
    openapi_extra=names("registry.update"),
)
async def check(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> RegistryCheck:
    """Connect, sign in, list repositories and tags, and read a manifest; report the result of each step."""
    async with services.database.transaction() as tx:
        row = await service.find(tx, actor, ref, "registry.update")
        await registry_credentials.again(tx, row.registry, services.clock.now())
        connection = await service.connection(tx, services.seal, row.registry)
    return await registry_checking.check(connection, row.registry)


@router.post(
    "/registries/{ref}/scan",
    operation_id="registries.scan",
    summary="Scan a registry",
    openapi_extra=names("registry.update"),
    status_code=202,
)
async def scan(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> RegistryScanView:
    """Read the permitted repositories and tags into the catalogue, in the background, one scan at a time."""
    async with services.database.transaction() as tx:
        return await scans.request(tx, services.clock, actor, ref)


@router.delete(
    "/registries/{ref}/scan",
    operation_id="registries.cancel_scan",
    summary="Cancel the scan of a registry",
    openapi_extra=names("registry.update"),
)
async def cancel_scan(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> RegistryScanView:
    """Cancel the open scan. What it has read stays in the catalogue."""
    async with services.database.transaction() as tx:
        return await scans.cancel(tx, actor, ref)


@router.get(
    "/registries/{ref}/scans",
    operation_id="registries.scans",
    summary="List scans of a registry",
    openapi_extra=names("registry.read"),
)
async def list_scans(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, query: Annotated[PageQuery, Query()]
) -> RegistryScanList:
    """The scans of the last 90 days, the latest first."""
    async with services.database.transaction() as tx:
        return await scans.page(tx, actor, ref, query)
