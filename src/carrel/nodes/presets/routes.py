"""/presets."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.nodes.presets import service
from carrel.nodes.presets.schemas import PresetCreate, PresetList, PresetUpdate, PresetView

router = APIRouter(tags=["presets"])
Ref = Annotated[str, Path(max_length=64, description="An id, or a unique name.")]
GroupQuery = Annotated[str | None, Query(max_length=64, description="id or name of a resource group")]


@router.get(
    "/presets", operation_id="presets.list", summary="List presets", openapi_extra=names("preset.read")
)
async def list_presets(
    services: ServicesOf[Services], actor: CurrentActor, group: GroupQuery = None
) -> PresetList:
    """Presets of the resource groups that you may use, and global ones."""
    async with services.database.transaction() as tx:
        return PresetList(items=await service.offered(tx, actor, group))


@router.post(
    "/presets",
    operation_id="presets.create",
    summary="Create a preset",
    openapi_extra=names("preset.update"),
    status_code=201,
)
async def create(services: ServicesOf[Services], actor: CurrentActor, body: PresetCreate) -> PresetView:
    """Create a preset. Names are unique within a group, case-insensitive."""
    async with services.database.transaction() as tx:
        return await service.create(tx, services.clock, actor, body)


@router.patch(
    "/presets/{ref}",
    operation_id="presets.update",
    summary="Update a preset",
    openapi_extra=names("preset.update"),
)
async def update(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: PresetUpdate
) -> PresetView:
    """Change a preset."""
    async with services.database.transaction() as tx:
        return await service.update(tx, actor, ref, body)


@router.delete(
    "/presets/{ref}",
    operation_id="presets.remove",
    summary="Delete a preset",
    openapi_extra=names("preset.update"),
    status_code=204,
)
async def remove(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> None:
    """Delete a preset; existing sessions are unaffected."""
    async with services.database.transaction() as tx:
        await service.remove(tx, actor, ref)
