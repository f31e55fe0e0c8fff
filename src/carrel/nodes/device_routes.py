"""GET /devices: accelerators of all nodes."""

from typing import Annotated

from fastapi import APIRouter, Query

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.nodes import device_map
from carrel.nodes.device_schemas import DeviceQuery, NodeDeviceList

router = APIRouter(tags=["nodes"])


@router.get(
    "/devices",
    operation_id="devices.list",
    summary="List devices of all nodes",
    openapi_extra=names("node.read"),
)
async def list_devices(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[DeviceQuery, Query()]
) -> NodeDeviceList:
    """The accelerators of all nodes that you may see, with the part of each that is allocated; not paged."""
    async with services.database.transaction() as tx:
        return await device_map.all_devices(tx, actor, query)
