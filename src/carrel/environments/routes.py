"""/environments: decode, one service call, encode."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.environments import environment_access as access
from carrel.environments import environment_views as views
from carrel.environments import quota, service
from carrel.environments.schemas import (
    EnvironmentList,
    EnvironmentQuery,
    EnvironmentQuotaList,
    EnvironmentShareCreate,
    EnvironmentShareList,
    EnvironmentShareView,
    EnvironmentUpdate,
    EnvironmentView,
    VersionUpdate,
)
from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf

router = APIRouter(tags=["environments"])
Ref = Annotated[str, Path(max_length=64, description="An id or a name.")]
Version = Annotated[str, Path(max_length=18, description="The name of a version.")]


@router.get(
    "/environments",
    operation_id="environments.list",
    summary="List environments",
    openapi_extra=names("environment.read"),
)
async def list_environments(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[EnvironmentQuery, Query()]
) -> EnvironmentList:
    """Those that you may start from; with owner=all, every one that you may see."""
    async with services.database.transaction() as tx:
        return await views.listed(tx, actor, query)


@router.get(
    "/environments/{ref}",
    operation_id="environments.show",
    summary="Get an environment",
    openapi_extra=names("environment.read"),
)
async def show(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> EnvironmentView:
    """One environment with its versions, the latest first."""
    async with services.database.transaction() as tx:
        environment = await access.find(tx, actor, ref)
        return await views.show(tx, actor, environment.id)


@router.patch(
    "/environments/{ref}",
    operation_id="environments.update",
    summary="Update an environment",
    openapi_extra=names("environment.update"),
)
async def update(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: EnvironmentUpdate
) -> EnvironmentView:
    """Rename it, describe it, or choose the version that sessions start from."""
    async with services.database.transaction() as tx:
        return await service.update(tx, services.clock, actor, ref, body)


@router.delete(
    "/environments/{ref}",
    operation_id="environments.remove",
    summary="Delete an environment",
    openapi_extra=names("environment.remove"),
    status_code=204,
)
async def remove(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> None:
    """Delete all its versions; refused while live sessions use one."""
    async with services.database.transaction() as tx:
        await service.remove(tx, services.clock, actor, ref)


@router.patch(
    "/environments/{ref}/versions/{version}",
    operation_id="environments.annotate",
    summary="Change the note of a version",
    openapi_extra=names("environment.update"),
)
async def annotate(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, version: Version, body: VersionUpdate
) -> EnvironmentView:
    """All else about a version stays as it was made."""
    async with services.database.transaction() as tx:
        return await service.note(tx, services.clock, actor, ref, version, body.note)


@router.delete(
    "/environments/{ref}/versions/{version}",
    operation_id="environments.remove_version",
    summary="Delete a version of an environment",
    openapi_extra=names("environment.remove"),
    status_code=204,
)
async def remove_version(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, version: Version
) -> None:
    """Refused while live sessions use it. With its last version, the environment is deleted."""
    async with services.database.transaction() as tx:
        await service.remove(tx, services.clock, actor, ref, version)


@router.post(
    "/environments/{ref}/versions/{version}/cancel",
    operation_id="environments.cancel",
    summary="Stop making a version",
    openapi_extra=names("environment.update"),
    status_code=204,
)
async def cancel(services: ServicesOf[Services], actor: CurrentActor, ref: Ref, version: Version) -> None:
    """No effect on a version that is ready."""
    async with services.database.transaction() as tx:
        await service.cancel(tx, actor, ref, version)


@router.get(
    "/environments/{ref}/shares",
    operation_id="environments.shares",
    summary="List shares of an environment",
    openapi_extra=names("environment.share"),
)
async def shares(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> EnvironmentShareList:
    """Users and projects that see the environment and start sessions from it."""
    async with services.database.transaction() as tx:
        return EnvironmentShareList(items=await service.shares(tx, actor, ref))


@router.post(
    "/environments/{ref}/shares",
    operation_id="environments.share",
    summary="Share an environment",
    openapi_extra=names("environment.share"),
    status_code=201,
)
async def share(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: EnvironmentShareCreate
) -> EnvironmentShareView:
    """With a user or the members of a project, who see it and start sessions from it."""
    async with services.database.transaction() as tx:
        return await service.share(tx, services.clock, actor, ref, body)


@router.delete(
    "/environments/{ref}/shares/{share}",
    operation_id="environments.unshare",
    summary="Stop sharing an environment",
    openapi_extra=names("environment.share"),
    status_code=204,
)
async def unshare(
    services: ServicesOf[Services],
    actor: CurrentActor,
    ref: Ref,
    share: Annotated[str, Path(max_length=254, description="The id of a share, an e-mail or a project.")],
) -> None:
    """Sessions that were started already are unaffected."""
    async with services.database.transaction() as tx:
        await service.revoke(tx, actor, ref, share)


@router.get(
    "/environment-quotas",
    operation_id="environments.quotas",
    summary="List quotas of environments",
    openapi_extra=names("environment.read"),
)
async def quotas(services: ServicesOf[Services], actor: CurrentActor) -> EnvironmentQuotaList:
    """How much your environments take, and those of your projects, of how much."""
    async with services.database.transaction() as tx:
        return await quota.quotas(tx, actor)
