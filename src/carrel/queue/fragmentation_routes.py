"""GET /devices/fragmentation."""

from fastapi import APIRouter

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.queue import fragmentation_report
from carrel.queue.fragmentation_schemas import FragmentationList

router = APIRouter(tags=["nodes"])


@router.get(
    "/devices/fragmentation",
    operation_id="devices.fragmentation",
    summary="Report the fragmentation of devices",
    openapi_extra=names("node.update"),
)
async def show_fragmentation(services: ServicesOf[Services], actor: CurrentActor) -> FragmentationList:
    """How many devices are free as a whole, and which sessions would free more if they moved. Changes nothing."""
    async with services.database.transaction() as tx:
        return await fragmentation_report.report(tx, services.clock, actor)
