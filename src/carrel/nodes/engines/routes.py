"""/engines."""

from typing import Annotated

from fastapi import APIRouter, Path

from carrel.http.auth import CurrentActor, names
from carrel.http.services import ServicesOf
from carrel.nodes.engines import administration, queries
from carrel.nodes.engines.schemas import (
    EngineCheck,
    EngineCreate,
    EngineKindList,
    EngineList,
    EngineSettings,
    EngineUpdate,
    EngineView,
)
from carrel.nodes.engines.services import EngineServices

router = APIRouter(tags=["engines"])
Ref = Annotated[str, Path(max_length=64, description="An id or a name.")]


@router.get(
    "/engine-kinds",
    operation_id="engine_kinds.list",
    summary="List kinds of engines",
    openapi_extra=names("engine.read"),
)
async def list_kinds(actor: CurrentActor) -> EngineKindList:
    """The available engine kinds with their settings."""
    return EngineKindList(items=administration.kinds(actor))


@router.get(
    "/engines", operation_id="engines.list", summary="List engines", openapi_extra=names("engine.read")
)
async def list_engines(services: ServicesOf[EngineServices], actor: CurrentActor) -> EngineList:
    """All engines with their state."""
    async with services.database.transaction() as tx:
        return await queries.page(tx, services.seal, actor)


@router.post(
    "/engines",
    operation_id="engines.create",
    summary="Add an engine",
    openapi_extra=names("engine.update"),
    status_code=201,
)
async def create(services: ServicesOf[EngineServices], actor: CurrentActor, body: EngineCreate) -> EngineView:
    """Add an engine. It must respond; sessions may start on its nodes immediately."""
    engine = await administration.create(_registry(services), actor, body)
    return await _shown(services, actor, engine)


@router.post(
    "/engines/check",
    operation_id="engines.check_settings",
    summary="Check settings before an engine is added",
    openapi_extra=names("engine.update"),
)
async def check_settings(
    services: ServicesOf[EngineServices], actor: CurrentActor, body: EngineSettings
) -> EngineCheck:
    """What an engine with these settings would offer, and what it cannot do. Adds nothing."""
    return await administration.check_settings(_registry(services), actor, body)


@router.get(
    "/engines/{ref}", operation_id="engines.show", summary="Get an engine", openapi_extra=names("engine.read")
)
async def show(services: ServicesOf[EngineServices], actor: CurrentActor, ref: Ref) -> EngineView:
    """One engine."""
    return await _shown(services, actor, ref)


@router.patch(
    "/engines/{ref}",
    operation_id="engines.update",
    summary="Update an engine",
    openapi_extra=names("engine.update"),
)
async def update(
    services: ServicesOf[EngineServices], actor: CurrentActor, ref: Ref, body: EngineUpdate
) -> EngineView:
    """Change an engine while it runs. With new settings it must respond and have the running containers."""
    engine = await administration.change(_registry(services), actor, ref, body)
    return await _shown(services, actor, engine)


@router.post(
    "/engines/{ref}/check",
    operation_id="engines.check",
    summary="Check an engine",
    openapi_extra=names("engine.update"),
)
async def check(services: ServicesOf[EngineServices], actor: CurrentActor, ref: Ref) -> EngineCheck:
    """Check the engine now, for at most 15 seconds; one that can test what it enforces does so, for at most 40 more.
    An app layer that could not be built is tried again in the background.
    """
    return await administration.check(_registry(services), actor, ref)


@router.delete(
    "/engines/{ref}",
    operation_id="engines.remove",
    summary="Remove an engine",
    openapi_extra=names("engine.update"),
    status_code=204,
)
async def remove(services: ServicesOf[EngineServices], actor: CurrentActor, ref: Ref) -> None:
    """Remove an engine without containers, with its nodes."""
    await administration.remove(_registry(services), actor, ref)


def _registry(services: EngineServices) -> administration.Registry:
    return administration.Registry(services.database, services.engines, services.seal, services.clock)


async def _shown(services: EngineServices, actor: CurrentActor, ref: str) -> EngineView:
    async with services.database.transaction() as tx:
        return await queries.detail(tx, services.seal, actor, ref)
