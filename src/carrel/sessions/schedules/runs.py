"""The runs of schedules: each planned time leads to at most one session.

A run is one transaction: its row, whose key is the planned time, the session, and the next planned time of the
schedule. Whatever is interrupted has not happened, and is done at the next step.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import delete, exists, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError
from carrel.core.ids import ScheduleId, SessionId
from carrel.events import service as events
from carrel.permissions.decide import Target
from carrel.sessions import service as sessions
from carrel.sessions import transitions
from carrel.sessions.schedules import cron
from carrel.sessions.spec import SessionSpec
from carrel.tables.schedules import Missed, Overlap, RunOutcome, RunSchedule, ScheduledRun
from carrel.tables.session_states import SessionState
from carrel.tables.sessions import IS_LIVE, Session
from carrel.tables.tenancy import User
from carrel.tenancy import service as tenancy

LATE = timedelta(minutes=5)
"""A time that is past for longer was missed."""
KEPT = timedelta(days=90)
_BATCH = 100


async def prune(tx: AsyncSession, now: datetime) -> None:
    """Delete runs past their retention, except the latest of each schedule, and those whose sessions are live."""
    later = aliased(ScheduledRun)
    has_later = exists().where(
        later.schedule_id == ScheduledRun.schedule_id, later.planned_at > ScheduledRun.planned_at
    )
    of_run = (Session.id == ScheduledRun.session_id) | (Session.array_id == ScheduledRun.session_id)
    is_live = exists().where(of_run, IS_LIVE)
    await tx.execute(delete(ScheduledRun).where(ScheduledRun.at < now - KEPT, has_later, ~is_live))


async def due(tx: AsyncSession, now: datetime) -> Sequence[ScheduleId]:
    """The schedules whose time has come, the earliest first."""
    rows = await tx.execute(
        select(RunSchedule.id)
        .where(RunSchedule.next_at <= now)
        .order_by(RunSchedule.next_at, RunSchedule.id)
        .limit(_BATCH)
    )
    return rows.scalars().all()


async def run_due(tx: AsyncSession, clock: Clock, schedule_id: ScheduleId) -> None:
    """Run a schedule whose time has come, and set its next time. No-op if it is no longer due."""
    now = clock.now()
    schedule = await _locked(tx, schedule_id)
    if schedule is None or schedule.next_at is None or schedule.next_at > now:
        return
    planned, count = cron.last_due(schedule.cron, schedule.timezone, schedule.next_at, now)
    upcoming = cron.upcoming(schedule.cron, schedule.timezone, now, 1)
    schedule.next_at = upcoming[0] if upcoming else None
    # It may have run already by the clock of another machine.
    if await tx.get(ScheduledRun, (schedule.id, planned)):
        return
    # One row for all times that were missed.
    if now - planned > LATE and schedule.missed == Missed.SKIP:
        times = f" {count} times" if count > 1 else ""
        await _record(tx, schedule, planned, now, RunOutcome.SKIPPED, f"Missed{times} while Carrel was down.")
        return
    await run(tx, clock, schedule, planned, on_request=False)


async def run(
    tx: AsyncSession, clock: Clock, schedule: RunSchedule, planned: datetime, *, on_request: bool
) -> ScheduledRun:
    """Create the session of a planned time, by the rules of the schedule. A refusal is recorded with its reason."""
    now = clock.now()
    owner = await tx.get_one(User, schedule.owner_id)
    if not owner.active:
        reason = "Its owner is not active."
        return await _record(tx, schedule, planned, now, RunOutcome.REFUSED, reason, on_request=on_request)
    live = await _live_sessions(tx, schedule.id)
    if live and schedule.overlap == Overlap.FORBID:
        reason = "The session of an earlier run has not ended."
        return await _record(tx, schedule, planned, now, RunOutcome.SKIPPED, reason, on_request=on_request)
    if live and schedule.overlap == Overlap.REPLACE:
        await _end(tx, live, now)
    try:
        async with tx.begin_nested():
            session = await _create(tx, clock, schedule, owner, planned)
    except CarrelError as error:
        outcome, reason = RunOutcome.REFUSED, error.message
        return await _record(tx, schedule, planned, now, outcome, reason, on_request=on_request)
    return await _record(
        tx, schedule, planned, now, RunOutcome.STARTED, None, session=session, on_request=on_request
    )


async def _locked(tx: AsyncSession, schedule: ScheduleId) -> RunSchedule | None:
    statement = select(RunSchedule).where(RunSchedule.id == schedule).with_for_update()
    return (await tx.execute(statement)).scalar()


async def _live_sessions(tx: AsyncSession, schedule: ScheduleId) -> list[SessionId]:
    """The live sessions of its runs, locked; of arrays all that are live."""
    made = select(ScheduledRun.session_id).where(ScheduledRun.schedule_id == schedule)
    of_runs = Session.id.in_(made) | Session.array_id.in_(made)
    rows = await tx.execute(select(Session.id).where(of_runs, IS_LIVE).order_by(Session.id).with_for_update())
    return list(rows.scalars())


async def _end(tx: AsyncSession, live: list[SessionId], now: datetime) -> None:
    cause, reason = "replaced", "Replaced by the next run of its schedule."
    cancelled = await transitions.move(
        tx,
        live,
        SessionState.CANCELLED,
        sources=[SessionState.PENDING],
        cause=cause,
        reason=reason,
        now=now,
    )
    placed = [one for one in live if one not in set(cancelled)]
    await transitions.terminate(tx, placed, cause=cause, reason=reason, now=now)


async def _create(
    tx: AsyncSession, clock: Clock, schedule: RunSchedule, owner: User, planned: datetime
) -> SessionId:
    """Create the session as its owner, with the rights that they have now. Raises: CarrelError."""
    actor = await tenancy.actor_of(tx, owner, credential=f"schedule:{schedule.id}", address="")
    spec = SessionSpec.from_json(schedule.spec)
    local = planned.astimezone(ZoneInfo(schedule.timezone))
    name = f"{schedule.name}-{local:%Y%m%d-%H%M}"
    spec = replace(spec, project=schedule.project_id)
    # The name may be taken: by a run on request in the same minute, or at the end of daylight saving time.
    for each in (name, f"{name}{planned:%S}"):
        try:
            async with tx.begin_nested():
                return await sessions.create(tx, clock, actor, replace(spec, name=each), repeated=True)
        except IntegrityError as error:
            if "name_live" not in str(error.orig):
                raise
    return await sessions.create(tx, clock, actor, replace(spec, name=None), repeated=True)


async def _record(
    tx: AsyncSession,
    schedule: RunSchedule,
    planned: datetime,
    now: datetime,
    outcome: RunOutcome,
    reason: str | None,
    *,
    session: SessionId | None = None,
    on_request: bool = False,
) -> ScheduledRun:
    made = ScheduledRun(
        schedule_id=schedule.id,
        planned_at=planned,
        at=now,
        on_request=on_request,
        outcome=outcome,
        reason=reason,
        session_id=session,
    )
    tx.add(made)
    await tx.flush()
    await announce(tx, "schedule.updated", schedule)
    return made


async def announce(tx: AsyncSession, event: str, schedule: RunSchedule) -> None:
    """Publish an event about the schedule."""
    data = {"id": schedule.id, "name": schedule.name}
    await events.record(tx, event, schedule.id, target=target_of(schedule), data=data)


def target_of(schedule: RunSchedule) -> Target:
    return Target(schedule.owner_id, schedule.project_id, schedule.domain_id)
