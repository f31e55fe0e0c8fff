"""Usage of sessions: one in detail, or the recent usage of many at once."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from carrel.core.ids import SessionId
from carrel.http.auth import CurrentActor, names
from carrel.http.query import DECIMAL
from carrel.http.services import Services, ServicesOf
from carrel.sessions import queries
from carrel.sessions import service as sessions
from carrel.sessions.routes import Ref
from carrel.usage import service
from carrel.usage.schemas import RecentUsage, SampleList, SampleView, Series

router = APIRouter(tags=["usage"])


@router.get(
    "/sessions/{ref}/usage",
    operation_id="sessions.usage",
    summary="Show recent usage of a session",
    openapi_extra=names("session.read"),
)
async def session_usage(
    services: ServicesOf[Services],
    actor: CurrentActor,
    ref: Ref,
    minutes: Annotated[int, Field(ge=1, le=1440), DECIMAL, Query()] = 60,
) -> SampleList:
    """CPU and memory usage of the last minutes, oldest first."""
    async with services.database.transaction() as tx:
        session = await sessions.find(tx, actor, ref)
        samples = await service.samples(tx, session.id, services.clock.now() - timedelta(minutes=minutes))
    return SampleList(samples=[SampleView.model_validate(s, from_attributes=True) for s in samples])


@router.get(
    "/usage",
    operation_id="usage.recent",
    summary="Show recent usage of several sessions",
    openapi_extra=names("session.read"),
)
async def recent(
    services: ServicesOf[Services],
    actor: CurrentActor,
    sessions: Annotated[str, Query(max_length=3000, description="ids, separated by commas")],
) -> RecentUsage:
    """The last five minutes of several sessions; those that you may not see are omitted."""
    ids = [SessionId(part) for part in sessions.split(",") if part]
    async with services.database.transaction() as tx:
        visible = await queries.visible(tx, actor, ids)
        grouped = await service.recent(tx, visible, services.clock.now())
    return RecentUsage(
        items={
            session: Series(
                cpu_millis=[s.cpu_millis for s in samples], mem_bytes=[s.mem_bytes for s in samples]
            )
            for session, samples in grouped.items()
        }
    )
