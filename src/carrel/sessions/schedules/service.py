"""Use cases of schedules. Each starts with an authorization check."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, NotFound
from carrel.core.ids import ProjectId, ScheduleId, new_id
from carrel.db.database import notify
from carrel.db.encryption import SecretBox
from carrel.db.scope import permitted
from carrel.http.paging import Sort, page
from carrel.permissions.decide import Actor, Target, require
from carrel.sessions import arrays, environment, resolution
from carrel.sessions import service as sessions
from carrel.sessions.schedules import cron, runs
from carrel.sessions.schedules.schemas import (
    ScheduleCreate,
    ScheduleList,
    ScheduleQuery,
    ScheduleRunList,
    ScheduleRunQuery,
    ScheduleRunView,
    ScheduleUpdate,
    ScheduleView,
)
from carrel.sessions.schemas import OwnerRef
from carrel.sessions.spec import SessionSpec
from carrel.tables.schedules import TOPIC, RunSchedule, ScheduledRun
from carrel.tables.sessions import Session
from carrel.tables.tenancy import Project, User
from carrel.tenancy.schemas import ProjectRef

MAX_SCHEDULES = 100
_SHOWN_TIMES = 5
_SORT = Sort(
    {"name": RunSchedule.name, "created_at": RunSchedule.created_at}, tie=RunSchedule.id, default="name"
)
_RUNS = Sort({"planned_at": ScheduledRun.planned_at}, tie=ScheduledRun.schedule_id, default="-planned_at")
_FIELDS = ("name", "cron", "timezone", "missed", "overlap")


async def create(
    tx: AsyncSession, clock: Clock, actor: Actor, seal: SecretBox, request: ScheduleCreate
) -> ScheduleView:
    """Create a schedule. Raises: Forbidden, NotFound, Invalid; Conflict: name taken, or too many."""
    cron.require_valid(request.cron, request.timezone)
    spec = await _checked(tx, actor, seal, request.session)
    await _require_few(tx, actor)
    schedule = RunSchedule(
        id=ScheduleId(new_id()),
        name=request.name,
        owner_id=actor.user_id,
        project_id=spec.project,
        domain_id=actor.domain_id,
        cron=request.cron,
        timezone=request.timezone,
        missed=request.missed,
        overlap=request.overlap,
        active=request.active,
        next_at=_next(request.cron, request.timezone, clock.now()) if request.active else None,
        spec=spec.to_json(),
        created_at=clock.now(),
    )
    tx.add(schedule)
    await _flush(tx, request.name)
    after = {field: getattr(schedule, field) for field in (*_FIELDS, "active")}
    await _recorded(
        tx, actor, "schedule.create", "schedule.created", schedule, {"after": {**after, "image": spec.image}}
    )
    await notify(tx, TOPIC)
    return await show(tx, clock, actor, seal, schedule.id)


async def _require_few(tx: AsyncSession, actor: Actor) -> None:
    own = select(func.count()).select_from(RunSchedule).where(RunSchedule.owner_id == actor.user_id)
    if (await tx.execute(own)).scalar_one() >= MAX_SCHEDULES:
        raise Conflict(
            "schedule.too_many",
            f"The limit is {MAX_SCHEDULES} schedules for each user.",
            hint="Delete one that you no longer use.",
        )


async def _checked(tx: AsyncSession, actor: Actor, seal: SecretBox, request: SessionSpec) -> SessionSpec:
    """The request as stored, with its project; what depends on limits and capacity is checked at each run.

    Raises: Forbidden, NotFound, Invalid, Conflict.
    """
    project = await resolution.project_of(tx, actor, request.project)
    require(
        actor,
        "schedule.create",
        Target(actor.user_id, project, actor.domain_id),
        read="schedule.create",
        missing=NotFound("project.not_found", f"You are not a member of a project {request.project}."),
    )
    sessions.require_command(request)
    arrays.require_possible(request)
    await resolution.image_of(tx, actor, project, request.image, request.slots)
    spec = environment.closed_spec(seal, request)
    return _plain(replace(spec, project=project, start_at=None, name=None))


def _plain(spec: SessionSpec) -> SessionSpec:
    """As `SessionSpec` itself, not a type of the API."""
    return SessionSpec(**{one.name: getattr(spec, one.name) for one in fields(SessionSpec)})


def _next(expression: str, timezone: str, now: datetime) -> datetime | None:
    upcoming = cron.upcoming(expression, timezone, now, 1)
    return upcoming[0] if upcoming else None


async def update(
    tx: AsyncSession, clock: Clock, actor: Actor, seal: SecretBox, ref: str, changes: ScheduleUpdate
) -> ScheduleView:
    """Change the given fields. Raises: NotFound, Forbidden, Invalid; Conflict when the name is taken."""
    schedule = await find(tx, actor, ref, "schedule.update")
    after = changes.model_dump(exclude_none=True, exclude={"session"})
    before = {field: getattr(schedule, field) for field in after}
    cron.require_valid(changes.cron or schedule.cron, changes.timezone or schedule.timezone)
    for field, value in after.items():
        setattr(schedule, field, value)
    if changes.session:
        spec = await _checked(tx, actor, seal, changes.session)
        assert spec.project
        schedule.spec, schedule.project_id = spec.to_json(), ProjectId(spec.project)
        after["image"] = spec.image
    if schedule.active:
        schedule.next_at = _next(schedule.cron, schedule.timezone, clock.now())
    await _flush(tx, schedule.name)
    await _recorded(
        tx, actor, "schedule.update", "schedule.updated", schedule, {"before": before, "after": after}
    )
    await notify(tx, TOPIC)
    return await show(tx, clock, actor, seal, schedule.id)


async def set_active(
    tx: AsyncSession, clock: Clock, actor: Actor, seal: SecretBox, ref: str, *, active: bool
) -> ScheduleView:
    """Pause or resume a schedule. Times while it was paused are not missed. Twice: no-op."""
    schedule = await find(tx, actor, ref, "schedule.pause")
    if schedule.active != active:
        schedule.active = active
        schedule.next_at = _next(schedule.cron, schedule.timezone, clock.now()) if active else None
        await tx.flush()
        details = {"before": {"active": not active}, "after": {"active": active}}
        await _recorded(tx, actor, "schedule.pause", "schedule.updated", schedule, details)
        await notify(tx, TOPIC)
    return await show(tx, clock, actor, seal, schedule.id)


async def run_now(tx: AsyncSession, clock: Clock, actor: Actor, ref: str) -> ScheduleRunView:
    """Run a schedule now, by its rules, besides its times. Only its owner may. Raises: NotFound, Forbidden."""
    schedule = await find(tx, actor, ref, "schedule.run")
    made = await runs.run(tx, clock, schedule, clock.now(), on_request=True)
    await _recorded(
        tx,
        actor,
        "schedule.run",
        "schedule.updated",
        schedule,
        {"outcome": made.outcome, "session": made.session_id},
    )
    [row] = await tx.execute(
        _run_rows().where(ScheduledRun.schedule_id == schedule.id, ScheduledRun.planned_at == made.planned_at)
    )
    return _run_view(row)


async def remove(tx: AsyncSession, actor: Actor, ref: str) -> None:
    """Delete a schedule and the history of its runs; sessions are unaffected. Raises: NotFound, Forbidden."""
    schedule = await find(tx, actor, ref, "schedule.remove")
    await _recorded(tx, actor, "schedule.remove", "schedule.removed", schedule, {})
    await tx.delete(schedule)
    await tx.flush()


async def find(tx: AsyncSession, actor: Actor, ref: str, action: str = "schedule.read") -> RunSchedule:
    """The schedule with this id, or this name among the actor's own, locked to be changed.

    Raises: NotFound, Forbidden.
    """
    own = (RunSchedule.owner_id == actor.user_id) & (RunSchedule.name == ref)
    statement = select(RunSchedule).where((RunSchedule.id == ref) | own)
    if action != "schedule.read":
        statement = statement.with_for_update()
    schedule = (await tx.execute(statement.order_by(RunSchedule.id == ref))).scalars().first()
    missing = NotFound("schedule.not_found", f"There is no schedule {ref}.", hint="See `carrel schedule ls`.")
    if schedule is None:
        raise missing
    require(actor, action, runs.target_of(schedule), read="schedule.read", missing=missing)
    return schedule


async def show(tx: AsyncSession, clock: Clock, actor: Actor, seal: SecretBox, ref: str) -> ScheduleView:
    """One schedule. Raises: NotFound, Forbidden."""
    schedule = await find(tx, actor, ref)
    [row] = await tx.execute(_rows().where(RunSchedule.id == schedule.id))
    last = await _last_runs(tx, [schedule.id])
    return _view(clock, actor, seal, row, last)


async def listed(
    tx: AsyncSession, clock: Clock, actor: Actor, seal: SecretBox, query: ScheduleQuery
) -> ScheduleList:
    """Schedules that the actor may see, or their own."""
    statement = _rows().where(
        permitted(
            actor,
            "schedule.read",
            owner=RunSchedule.owner_id,
            domain=RunSchedule.domain_id,
            project=RunSchedule.project_id,
        )
    )
    if query.owner != "all":
        statement = statement.where(RunSchedule.owner_id == actor.user_id)
    if query.q:
        statement = statement.where(RunSchedule.name.icontains(query.q, autoescape=True))
    shown = await page(tx, statement, _SORT, query)
    last = await _last_runs(tx, [row[0].id for row in shown.rows])
    items = [_view(clock, actor, seal, row, last) for row in shown.rows]
    return ScheduleList(items=items, next_cursor=shown.next_cursor)


async def history(tx: AsyncSession, actor: Actor, ref: str, query: ScheduleRunQuery) -> ScheduleRunList:
    """The runs of a schedule with their sessions. Raises: NotFound, Forbidden."""
    schedule = await find(tx, actor, ref)
    statement = _run_rows().where(ScheduledRun.schedule_id == schedule.id)
    shown = await page(tx, statement, _RUNS, query)
    return ScheduleRunList(items=[_run_view(row) for row in shown.rows], next_cursor=shown.next_cursor)


def _rows() -> Select[*tuple[Any, ...]]:
    return (
        select(RunSchedule, User.email, Project.name.label("project"))
        .join(User, User.id == RunSchedule.owner_id)
        .join(Project, Project.id == RunSchedule.project_id)
    )


async def _last_runs(tx: AsyncSession, schedules: Iterable[ScheduleId]) -> dict[ScheduleId, ScheduleRunView]:
    """The latest run of each schedule that has one."""
    rows = await tx.execute(
        _run_rows()
        .where(ScheduledRun.schedule_id.in_(list(schedules)))
        .ext(distinct_on(ScheduledRun.schedule_id))
        .order_by(ScheduledRun.schedule_id, ScheduledRun.planned_at.desc())
    )
    return {row[0].schedule_id: _run_view(row) for row in rows}


def _run_rows() -> Select[*tuple[Any, ...]]:
    return select(ScheduledRun, Session).outerjoin(Session, Session.id == ScheduledRun.session_id)


def _run_view(row: Any) -> ScheduleRunView:
    made, session = row[0], row[1]
    return ScheduleRunView(
        planned_at=made.planned_at,
        at=made.at,
        on_request=made.on_request,
        outcome=made.outcome,
        reason=made.reason,
        session=made.session_id,
        session_name=session.name if session else None,
        state=session.state if session else None,
        result=session.result if session else None,
    )


def _view(
    clock: Clock, actor: Actor, seal: SecretBox, row: Any, last: Mapping[ScheduleId, ScheduleRunView]
) -> ScheduleView:
    schedule, email, project = row
    own = schedule.owner_id == actor.user_id
    spec = environment.shown(seal, SessionSpec.from_json(schedule.spec), own=own)
    shown = _SHOWN_TIMES if schedule.active else 0
    return ScheduleView(
        id=schedule.id,
        name=schedule.name,
        owner=OwnerRef(id=schedule.owner_id, email=email),
        project=ProjectRef(id=schedule.project_id, name=project),
        cron=schedule.cron,
        timezone=schedule.timezone,
        missed=schedule.missed,
        overlap=schedule.overlap,
        active=schedule.active,
        next_times=cron.upcoming(schedule.cron, schedule.timezone, clock.now(), shown),
        last=last.get(schedule.id),
        session=replace(spec, project=project).to_json(),
        created_at=schedule.created_at,
    )


async def _flush(tx: AsyncSession, name: str) -> None:
    try:
        await tx.flush()
    except IntegrityError as error:
        if "uq_schedules" not in str(error.orig):
            raise
        raise Conflict(
            "schedule.name_taken",
            f"You already have a schedule named {name}.",
            hint="Choose another name.",
            field="name",
        ) from None


async def _recorded(
    tx: AsyncSession,
    actor: Actor,
    action: str,
    event: str,
    schedule: RunSchedule,
    details: Mapping[str, object],
) -> None:
    """Write the audit entry and publish an event."""
    target = runs.target_of(schedule)
    audit.record(tx, actor, action, schedule.id, name=schedule.name, target=target, details=details)
    await runs.announce(tx, event, schedule)
