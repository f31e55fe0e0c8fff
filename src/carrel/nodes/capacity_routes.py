"""GET /resources: capacity that is left for sessions."""

from dataclasses import asdict

from fastapi import APIRouter

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.nodes import service
from carrel.nodes.slot_schemas import ResourcesView

router = APIRouter(tags=["resources"])


@router.get(
    "/resources",
    operation_id="resources.show",
    summary="Show capacity, usage and availability",
    openapi_extra=names("resource.read"),
)
async def show_resources(services: ServicesOf[Services], actor: CurrentActor) -> ResourcesView:
    """Capacity, usage and free amounts of the READY nodes in resource groups that you may use."""
    async with services.database.transaction() as tx:
        return ResourcesView.model_validate(asdict(await service.resources(tx, actor)))
