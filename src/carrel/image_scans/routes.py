"""/image-scans."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from carrel.core.ids import ImageScanId
from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.image_scans import queries, service, stored_reports
from carrel.image_scans.schemas import (
    ImagePackageList,
    ImagePackageQuery,
    ImageScanCreate,
    ImageScanList,
    ImageScanQuery,
    ImageScanView,
    ScanExemptionUpdate,
    VulnerabilityFilter,
    VulnerabilityList,
    VulnerabilityQuery,
)

router = APIRouter(tags=["image scans"])
_Id = Annotated[ImageScanId, Path(max_length=64, description="The id of a scan.")]
_CSV: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/csv": {"schema": {"type": "string"}}}, "description": "The file"}
}
_CYCLONEDX = "application/vnd.cyclonedx+json"


@router.get(
    "/image-scans",
    operation_id="image_scans.list",
    summary="List scans of images",
    openapi_extra=names("image.read"),
)
async def list_scans(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[ImageScanQuery, Query()]
) -> ImageScanList:
    """The latest scan of each image that you may use; for superadmins of all images."""
    async with services.database.transaction() as tx:
        return await queries.page(tx, actor, query, services.clock.now())


@router.post(
    "/image-scans",
    operation_id="image_scans.create",
    summary="Scan an image",
    openapi_extra=names("image.scan"),
    status_code=202,
)
async def create(services: ServicesOf[Services], actor: CurrentActor, body: ImageScanCreate) -> ImageScanView:
    """Scan an image in the background; while it is being scanned, the present scan."""
    async with services.database.transaction() as tx:
        scan = await service.request(tx, services.clock, actor, body.image)
        return await queries.show(tx, actor, scan, services.clock.now())


@router.get(
    "/image-scans/{id}",
    operation_id="image_scans.show",
    summary="Get a scan of an image",
    openapi_extra=names("image.read"),
)
async def show(services: ServicesOf[Services], actor: CurrentActor, id: _Id) -> ImageScanView:
    """The latest scan of an image, with its counts."""
    async with services.database.transaction() as tx:
        return await queries.show(tx, actor, id, services.clock.now())


@router.post(
    "/image-scans/{id}/cancel",
    operation_id="image_scans.cancel",
    summary="Cancel a scan of an image",
    openapi_extra=names("image.scan"),
)
async def cancel(services: ServicesOf[Services], actor: CurrentActor, id: _Id) -> ImageScanView:
    """Cancel a scan that is waiting or running. The former result stays."""
    async with services.database.transaction() as tx:
        await service.cancel(tx, actor, id)
        return await queries.show(tx, actor, id, services.clock.now())


@router.get(
    "/image-scans/{id}/vulnerabilities",
    operation_id="image_scans.vulnerabilities",
    summary="List vulnerabilities in an image",
    openapi_extra=names("image.read"),
)
async def vulnerabilities(
    services: ServicesOf[Services],
    actor: CurrentActor,
    id: _Id,
    query: Annotated[VulnerabilityQuery, Query()],
) -> VulnerabilityList:
    """The known vulnerabilities of the packages in an image, the most severe first, of these the most probably
    exploited.
    """
    async with services.database.transaction() as tx:
        answer = await queries.vulnerabilities(tx, actor, id, query)
    return await asyncio.to_thread(answer)


@router.get(
    "/image-scans/{id}/vulnerabilities/export",
    operation_id="image_scans.export_vulnerabilities",
    summary="Export vulnerabilities in an image",
    openapi_extra=names("image.read"),
    response_class=Response,
    responses=_CSV,
)
async def export_vulnerabilities(
    services: ServicesOf[Services],
    actor: CurrentActor,
    id: _Id,
    query: Annotated[VulnerabilityFilter, Query()],
) -> Response:
    """The same as CSV, all of them."""
    async with services.database.transaction() as tx:
        answer = await queries.vulnerabilities_csv(tx, actor, id, query)
    disposition = {"Content-Disposition": f'attachment; filename="vulnerabilities-{id}.csv"'}
    content = await asyncio.to_thread(answer)
    return Response(content, media_type="text/csv; charset=utf-8", headers=disposition)


@router.get(
    "/image-scans/{id}/packages",
    operation_id="image_scans.packages",
    summary="List packages in an image",
    openapi_extra=names("image.read"),
)
async def packages(
    services: ServicesOf[Services], actor: CurrentActor, id: _Id, query: Annotated[ImagePackageQuery, Query()]
) -> ImagePackageList:
    """The packages in an image, by name."""
    async with services.database.transaction() as tx:
        answer = await queries.packages(tx, actor, id, query)
    return await asyncio.to_thread(answer)


@router.get(
    "/image-scans/{id}/sbom",
    operation_id="image_scans.sbom",
    summary="Download the SBOM of an image",
    openapi_extra=names("image.read"),
    response_class=Response,
    responses={200: {"content": {_CYCLONEDX: {}}}},
)
async def sbom(services: ServicesOf[Services], actor: CurrentActor, id: _Id) -> Response:
    """The software bill of materials in CycloneDX JSON: the scanner's own document, or one made from its report."""
    async with services.database.transaction() as tx:
        stored = await queries.sbom(tx, actor, id)
    disposition = {"Content-Disposition": f'attachment; filename="sbom-{id}.cdx.json"'}
    content = await asyncio.to_thread(stored_reports.sbom_of, stored)
    return Response(content, media_type=_CYCLONEDX, headers=disposition)


@router.put(
    "/image-scans/{id}/exemption",
    operation_id="image_scans.exempt",
    summary="Exempt an image from the rule on vulnerabilities",
    openapi_extra=names("image.exempt"),
)
async def exempt(
    services: ServicesOf[Services], actor: CurrentActor, id: _Id, body: ScanExemptionUpdate
) -> ImageScanView:
    """Permit sessions of an image that the rule refuses, until a date and for a reason, which are audited."""
    async with services.database.transaction() as tx:
        await service.exempt(tx, services.clock, actor, id, body)
        return await queries.show(tx, actor, id, services.clock.now())


@router.delete(
    "/image-scans/{id}/exemption",
    operation_id="image_scans.end_exemption",
    summary="End an exemption",
    openapi_extra=names("image.exempt"),
)
async def end_exemption(services: ServicesOf[Services], actor: CurrentActor, id: _Id) -> ImageScanView:
    """The rule holds for the image again."""
    async with services.database.transaction() as tx:
        await service.end_exemption(tx, actor, id)
        return await queries.show(tx, actor, id, services.clock.now())
