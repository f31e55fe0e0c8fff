"""/rescans."""

from fastapi import APIRouter

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.image_scans import rescan_requests
from carrel.image_scans.schemas import RescanCreate, RescanList, RescanView
from carrel.tables.rescans import RescanKind

router = APIRouter(tags=["rescans"])


@router.get(
    "/rescans",
    operation_id="rescans.list",
    summary="List scans of everything",
    openapi_extra=names("image.scan"),
)
async def list_rescans(services: ServicesOf[Services], actor: CurrentActor) -> RescanList:
    """The latest scan of all registries and that of all images, with progress."""
    async with services.database.transaction() as tx:
        return await rescan_requests.listed(tx, actor)


@router.post(
    "/rescans",
    operation_id="rescans.create",
    summary="Scan everything",
    openapi_extra=names("image.scan"),
    status_code=202,
)
async def create(services: ServicesOf[Services], actor: CurrentActor, body: RescanCreate) -> RescanView:
    """Read all registries into the catalogue, or scan all images that a node has for vulnerabilities, in the
    background; while that is going on, the present scan.
    """
    async with services.database.transaction() as tx:
        return await rescan_requests.request(tx, services.clock, actor, body.kind)


@router.post(
    "/rescans/{kind}/cancel",
    operation_id="rescans.cancel",
    summary="Cancel a scan of everything",
    openapi_extra=names("image.scan"),
)
async def cancel(services: ServicesOf[Services], actor: CurrentActor, kind: RescanKind) -> RescanView:
    """Cancel what is left. What was scanned stays."""
    async with services.database.transaction() as tx:
        return await rescan_requests.cancel(tx, actor, kind)
