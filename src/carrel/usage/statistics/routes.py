"""/usage/statistics."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.usage.statistics import service
from carrel.usage.statistics.schemas import StatisticsPeriod, StatisticsQuery, StatisticsView

router = APIRouter(tags=["usage"])
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/csv": {"schema": {"type": "string"}}}, "description": "The file"}
}


@router.get(
    "/usage/statistics",
    operation_id="usage.statistics",
    summary="Show statistics of a period",
    openapi_extra=names("usage.read"),
)
async def statistics(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[StatisticsQuery, Query()]
) -> StatisticsView:
    """Slot-hours, peak, utilisation, waiting times, unused allocations and cost of your sessions, or of the site, a
    domain, project or resource group that you administer; by domain, project, user, group or image.
    """
    async with services.database.transaction() as tx:
        return await service.show(tx, services.clock, actor, query, limit=query.limit)


@router.get(
    "/usage/statistics/export",
    operation_id="usage.export",
    summary="Export statistics of a period",
    openapi_extra=names("usage.read"),
    response_class=Response,
    responses=_FILE,
)
async def export(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[StatisticsPeriod, Query()]
) -> Response:
    """The same as CSV, one line per slot, in cores, GiB and devices, with all rows and the total."""
    async with services.database.transaction() as tx:
        view = await service.show(tx, services.clock, actor, query)
    name = f"statistics-{view.scope}-{view.first}-{view.last}.csv"
    return Response(
        service.as_csv(view),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
