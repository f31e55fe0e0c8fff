"""GET /slot-kinds: what slots mean."""

from fastapi import APIRouter

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.slot_kinds import service
from carrel.slot_kinds.schemas import CPU, MEM, SlotKindList, view

router = APIRouter(tags=["resources"])


@router.get(
    "/slot-kinds",
    operation_id="slot_kinds.list",
    summary="List kinds of slots",
    openapi_extra=names("resource.read"),
)
async def list_kinds(services: ServicesOf[Services], actor: CurrentActor) -> SlotKindList:
    """Every kind of slot that nodes have or had: cpu, mem, and then those of accelerators, by name."""
    async with services.database.transaction() as tx:
        kinds = await service.known(tx)
    return SlotKindList(items=[CPU, MEM, *map(view, kinds.values())])
