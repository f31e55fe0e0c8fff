"""Pushes of environments: decode, one service call, encode."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.environments.pushes import service
from carrel.environments.pushes.schemas import PushCreate, PushList, PushTargetList, PushView
from carrel.environments.routes import Ref, Version
from carrel.http.auth import CurrentActor, names
from carrel.http.paging import PageQuery
from carrel.http.services import Services, ServicesOf

router = APIRouter(tags=["environments"])
Push = Annotated[str, Path(max_length=64, description="The id of a push.")]


@router.get(
    "/environments/{ref}/push-targets",
    operation_id="environments.push_targets",
    summary="List where an environment can be pushed",
    openapi_extra=names("environment.push"),
)
async def push_targets(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> PushTargetList:
    """The registries to which you may push its versions, by name, with a repository in each."""
    async with services.database.transaction() as tx:
        return await service.targets(tx, actor, ref)


@router.post(
    "/environments/{ref}/versions/{version}/push",
    operation_id="environments.push",
    summary="Push a version of an environment to a registry",
    openapi_extra=names("environment.push"),
    status_code=202,
)
async def push(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, version: Version, body: PushCreate
) -> PushView:
    """In the background, with the credentials of the registry. A tag that is there is replaced."""
    async with services.database.transaction() as tx:
        return await service.request(tx, services.clock, actor, ref, version, body)


@router.get(
    "/environments/{ref}/pushes",
    operation_id="environments.pushes",
    summary="List pushes of an environment",
    openapi_extra=names("environment.read"),
)
async def list_pushes(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, query: Annotated[PageQuery, Query()]
) -> PushList:
    """The pushes of its versions, the latest first."""
    async with services.database.transaction() as tx:
        return await service.page(tx, actor, ref, query)


@router.get(
    "/environments/{ref}/pushes/{push}",
    operation_id="environments.show_push",
    summary="Get a push",
    openapi_extra=names("environment.read"),
)
async def show_push(services: ServicesOf[Services], actor: CurrentActor, ref: Ref, push: Push) -> PushView:
    """One push with its progress, or with the digest of the image in the registry."""
    async with services.database.transaction() as tx:
        return await service.show(tx, actor, ref, push)


@router.delete(
    "/environments/{ref}/pushes/{push}",
    operation_id="environments.cancel_push",
    summary="Cancel a push",
    openapi_extra=names("environment.push"),
)
async def cancel_push(services: ServicesOf[Services], actor: CurrentActor, ref: Ref, push: Push) -> PushView:
    """Layers that are in the registry already stay there, without a tag."""
    async with services.database.transaction() as tx:
        return await service.cancel(tx, services.clock, actor, ref, push)
