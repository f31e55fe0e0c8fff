"""/schedules: decode, one service call, encode."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.sessions.schedules import cron, service
from carrel.sessions.schedules.schemas import (
    ScheduleCreate,
    ScheduleList,
    ScheduleQuery,
    ScheduleRunList,
    ScheduleRunQuery,
    ScheduleRunView,
    ScheduleUpdate,
    ScheduleView,
    TimesQuery,
    TimesView,
)

router = APIRouter(tags=["schedules"])
Ref = Annotated[str, Path(max_length=64, description="An id, or the name of one of your schedules.")]
_SHOWN_TIMES = 5


@router.get(
    "/schedules",
    operation_id="schedules.list",
    summary="List schedules",
    openapi_extra=names("schedule.read"),
)
async def list_schedules(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[ScheduleQuery, Query()]
) -> ScheduleList:
    """Your schedules of recurring sessions; with owner=all, every one that you may see."""
    async with services.database.transaction() as tx:
        return await service.listed(tx, services.clock, actor, services.seal, query)


@router.post(
    "/schedules",
    operation_id="schedules.create",
    summary="Create a schedule",
    openapi_extra=names("schedule.create"),
    status_code=201,
)
async def create(services: ServicesOf[Services], actor: CurrentActor, body: ScheduleCreate) -> ScheduleView:
    """Create a schedule: a session is created at each of its times, with your rights at that time."""
    async with services.database.transaction() as tx:
        return await service.create(tx, services.clock, actor, services.seal, body)


@router.get(
    "/schedule-times",
    operation_id="schedules.times",
    summary="Show the next times of a cron expression",
    openapi_extra=names("schedule.preview"),
)
async def times(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[TimesQuery, Query()]
) -> TimesView:
    """The next five times of a cron expression in a time zone. Nothing is created."""
    cron.require_valid(query.cron, query.timezone)
    return TimesView(items=cron.upcoming(query.cron, query.timezone, services.clock.now(), _SHOWN_TIMES))


@router.get(
    "/schedules/{ref}",
    operation_id="schedules.show",
    summary="Get a schedule",
    openapi_extra=names("schedule.read"),
)
async def show(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> ScheduleView:
    """One schedule with its next times."""
    async with services.database.transaction() as tx:
        return await service.show(tx, services.clock, actor, services.seal, ref)


@router.patch(
    "/schedules/{ref}",
    operation_id="schedules.update",
    summary="Update a schedule",
    openapi_extra=names("schedule.update"),
)
async def update(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: ScheduleUpdate
) -> ScheduleView:
    """Change a schedule. Only its owner may; sessions of earlier runs are unaffected."""
    async with services.database.transaction() as tx:
        return await service.update(tx, services.clock, actor, services.seal, ref, body)


@router.post(
    "/schedules/{ref}/pause",
    operation_id="schedules.pause",
    summary="Pause a schedule",
    openapi_extra=names("schedule.pause"),
)
async def pause(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> ScheduleView:
    """Pause a schedule: its times pass without a run. Idempotent."""
    async with services.database.transaction() as tx:
        return await service.set_active(tx, services.clock, actor, services.seal, ref, active=False)


@router.post(
    "/schedules/{ref}/resume",
    operation_id="schedules.resume",
    summary="Resume a schedule",
    openapi_extra=names("schedule.pause"),
)
async def resume(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> ScheduleView:
    """Resume a paused schedule with its next time. Idempotent."""
    async with services.database.transaction() as tx:
        return await service.set_active(tx, services.clock, actor, services.seal, ref, active=True)


@router.post(
    "/schedules/{ref}/run",
    operation_id="schedules.run",
    summary="Run a schedule now",
    openapi_extra=names("schedule.run"),
)
async def run(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> ScheduleRunView:
    """Run a schedule now, by its rules, besides its times. Only its owner may."""
    async with services.database.transaction() as tx:
        return await service.run_now(tx, services.clock, actor, ref)


@router.delete(
    "/schedules/{ref}",
    operation_id="schedules.remove",
    summary="Delete a schedule",
    openapi_extra=names("schedule.remove"),
    status_code=204,
)
async def remove(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> None:
    """Delete a schedule and the history of its runs; sessions are unaffected."""
    async with services.database.transaction() as tx:
        await service.remove(tx, actor, ref)


@router.get(
    "/schedules/{ref}/runs",
    operation_id="schedules.runs",
    summary="List the runs of a schedule",
    openapi_extra=names("schedule.read"),
)
async def list_runs(
    services: ServicesOf[Services],
    actor: CurrentActor,
    ref: Ref,
    query: Annotated[ScheduleRunQuery, Query()],
) -> ScheduleRunList:
    """The runs of a schedule with the results of their sessions, newest first: started, skipped or refused."""
    async with services.database.transaction() as tx:
        return await service.history(tx, actor, ref, query)
