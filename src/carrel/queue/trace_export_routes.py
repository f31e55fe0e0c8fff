"""/scheduler/trace and /scheduler/policy: exports for replays."""

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from carrel.audit import service as audit
from carrel.audit.schemas import When
from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.permissions.decide import require
from carrel.queue import trace_export
from carrel.queue.policy_file import SchedulerPolicy

router = APIRouter(tags=["scheduler"])
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/x-ndjson": {"schema": {"type": "string"}}}, "description": "The trace"}
}
_USUALLY = timedelta(days=30)


class TraceQuery(BaseModel):
    """The range of creation times."""

    since: When | None = Field(
        default=None, description="start of the period, inclusive; default: 30 days ago"
    )
    until: When | None = Field(default=None, description="end of the period, exclusive; default: now")


@router.get(
    "/scheduler/trace",
    operation_id="scheduler.trace",
    summary="Export the scheduling trace",
    openapi_extra=names("scheduler.export"),
    response_class=StreamingResponse,
    responses=_FILE,
)
async def trace(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[TraceQuery, Query()]
) -> StreamingResponse:
    """Past session requests with owner (ids only), creation time and duration, as JSON lines for a replay."""
    require(actor, "scheduler.export", audit.NOBODY)
    now = services.clock.now()
    since, until = query.since or now - _USUALLY, query.until or now
    async with services.database.transaction() as tx:
        span = {"since": since.isoformat(), "until": until.isoformat()}
        audit.record(tx, actor, "scheduler.export", "", details=span)
    return StreamingResponse(
        trace_export.trace(services.database, since=since, until=until, now=now),
        media_type="application/x-ndjson",
        headers={"Content-Disposition": f'attachment; filename="trace-{now:%Y-%m-%d}.jsonl"'},
    )


@router.get(
    "/scheduler/policy",
    operation_id="scheduler.policy",
    summary="Export the scheduling policy for a replay",
    openapi_extra=names("scheduler.export"),
)
async def policy(services: ServicesOf[Services], actor: CurrentActor) -> SchedulerPolicy:
    """Current nodes, resource groups, weights and ceilings, in the format of a replay."""
    require(actor, "scheduler.export", audit.NOBODY)
    async with services.database.transaction() as tx:
        return await trace_export.policy(tx)
