"""Usage of one session in detail, the recent usage of many at once, and history."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query

from carrel.core.ids import SessionId
from carrel.db.scope import permitted
from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.sessions import containers, queries
from carrel.sessions import service as sessions
from carrel.sessions.routes import Ref
from carrel.tables.sessions import Session
from carrel.usage import energy, history, history_scope, series, service
from carrel.usage.schemas import (
    IdleQuery,
    IdleSession,
    IdleSessionList,
    Range,
    RecentUsage,
    Series,
    SessionUsageQuery,
    SessionUsageView,
    UsageHistoryQuery,
    UsageHistoryView,
)

router = APIRouter(tags=["usage"])
SPANS = {span: (step_s, kept) for span, (step_s, kept) in zip(Range, history.STEPS.items(), strict=True)}
"""The step and length of each range."""


@router.get(
    "/sessions/{ref}/usage",
    operation_id="sessions.usage",
    summary="Show usage of a session",
    openapi_extra=names("session.read"),
)
async def session_usage(
    services: ServicesOf[Services],
    actor: CurrentActor,
    ref: Ref,
    query: Annotated[SessionUsageQuery, Query()],
) -> SessionUsageView:
    """CPU, memory, accelerators, disk and network I/O and disk space of each container over a period: every 10 seconds
    of the last day, minutes of a month, hours of three years.
    """
    now = services.clock.now()
    end = min(query.to or now, now)
    start = query.from_ or end - timedelta(minutes=query.minutes)
    step_s = series.step_of(start, end, now, query.step)
    async with services.database.transaction() as tx:
        session = await sessions.find(tx, actor, ref)
        if query.container:
            chosen = [await containers.named(tx, session, query.container)]
        else:
            chosen = list(await containers.of(tx, session.id))
        loaded = await series.load(tx, chosen, start, end, step_s)
        drawn = await energy.of_session(tx, session.id)
    return SessionUsageView.model_validate({**vars(loaded), "energy": drawn}, from_attributes=True)


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
                cpu_millis=[s.cpu_millis for s in samples],
                mem_bytes=[s.mem_bytes for s in samples],
                accelerator_percent=[s.accelerator_percent for s in samples],
            )
            for session, samples in grouped.items()
        }
    )


@router.get(
    "/usage/idle",
    operation_id="usage.idle",
    summary="List sessions that hardly use their CPU",
    openapi_extra=names("session.read"),
)
async def idle(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[IdleQuery, Query()]
) -> IdleSessionList:
    """Running sessions that you may see with little CPU usage in the last five minutes. Sessions with less than a
    minute of samples are omitted.
    """
    visible = permitted(
        actor, "session.read", owner=Session.owner_id, domain=Session.domain_id, project=Session.project_id
    )
    async with services.database.transaction() as tx:
        rows = await service.idle(tx, visible, services.clock.now(), below=query.below, limit=query.limit)
    items = [IdleSession.model_validate(row, from_attributes=True) for row in rows]
    return IdleSessionList(items=items, total=rows[0].total if rows else 0)


@router.get(
    "/usage/history",
    operation_id="usage.history",
    summary="Show allocation and usage over time",
    openapi_extra=names("usage.read"),
)
async def usage_history(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[UsageHistoryQuery, Query()]
) -> UsageHistoryView:
    """Allocation, usage, pending sessions and waiting times over 24 hours, 7 or 30 days, of the site, a domain,
    project, resource group, node or user.
    """
    async with services.database.transaction() as tx:
        scope_id = await history_scope.find(tx, actor, query.scope, query.ref)
        step_s, span = SPANS[query.range]
        series = await history.load(tx, query.scope, scope_id, step_s, services.clock.now() - span)
    return UsageHistoryView.model_validate({"scope": query.scope, **vars(series)}, from_attributes=True)
