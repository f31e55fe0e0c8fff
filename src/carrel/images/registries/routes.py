"""/registries."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.images.registries import queries, registry_checking, service
from carrel.images.registries.schemas import (
    RegistryCheck,
    RegistryCreate,
    RegistryList,
    RegistryQuery,
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
        changed = await service.update(tx, services.seal, actor, ref, body)
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
        connection = await service.connection(tx, services.seal, row.registry)
    return await registry_checking.check(connection, row.registry)
