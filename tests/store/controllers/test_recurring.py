"""Schedules run each planned time once, by their rules, also after an outage."""

from datetime import UTC, datetime, timedelta

import pytest
from controller_kit import tools
from databases import sql
from session_kit import enqueue
from sqlalchemy import text

from carrel.controllers.recurring import Recurring
from carrel.core.ids import ScheduleId
from carrel.db.encryption import SecretBox
from carrel.db.leader import lead
from carrel.sessions.schedules import runs, service
from carrel.sessions.schedules.schemas import ScheduleCreate
from carrel.sessions.schemas import SessionCreate
from carrel.tables.schedules import Missed, Overlap

SEAL = SecretBox(b"0" * 32)
NOW = datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC)


class SetClock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.time = NOW

    def now(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


async def scheduled(database, people, clock, **changes: object) -> ScheduleId:
    session = SessionCreate(
        image="debian:12", slots={"cpu": 100, "mem": 64 << 20}, kind="batch", command=("true",)
    )
    request = ScheduleCreate(**{"name": "hourly", "cron": "0 * * * *", "session": session, **changes})
    async with database.transaction() as tx:
        return (await service.create(tx, clock, people.user, SEAL, request)).id


async def step(database, clock) -> None:
    leader = await lead(database.url)
    own = tools(database, leader)
    object.__setattr__(own, "clock", clock)
    await Recurring(own).step()
    await leader.resign()


async def history(database) -> list[tuple[str, str, str | None]]:
    async with database.transaction() as tx:
        rows = await tx.execute(
            text("SELECT planned_at, outcome, reason FROM schedule_runs ORDER BY planned_at")
        )
        return [(f"{row.planned_at:%H:%M}", row.outcome, row.reason) for row in rows]


async def test_each_time_runs_once_and_in_time(database, people, clock):
    await scheduled(database, people, clock)
    await step(database, clock)
    assert await history(database) == []
    clock.time = NOW + timedelta(hours=1)
    for _ in range(3):
        await step(database, clock)
    clock.time += timedelta(hours=1)
    await step(database, clock)
    assert await history(database) == [("13:00", "started", None), ("14:00", "started", None)]
    async with database.transaction() as tx:
        rows = await tx.execute(text("SELECT name, owner_id, kind FROM sessions ORDER BY name"))
        assert [tuple(row) for row in rows] == [
            ("hourly-20260301-1300", people.user.user_id, "batch"),
            ("hourly-20260301-1400", people.user.user_id, "batch"),
        ]


@pytest.mark.parametrize(
    ("missed", "expected"),
    [
        (Missed.SKIP, [("17:00", "skipped", "Missed 5 times while Carrel was down.")]),
        (Missed.RUN_ONCE, [("17:00", "started", None)]),
    ],
)
async def test_missed_times_run_at_most_once(database, people, clock, missed, expected):
    await scheduled(database, people, clock, missed=missed)
    clock.time = NOW + timedelta(hours=5, minutes=30)
    await step(database, clock)
    await step(database, clock)
    assert await history(database) == expected
    clock.time = NOW + timedelta(hours=6)
    await step(database, clock)
    assert (await history(database))[1:] == [("18:00", "started", None)]


async def test_a_paused_schedule_does_not_run(database, people, clock):
    schedule = await scheduled(database, people, clock)
    async with database.transaction() as tx:
        await service.set_active(tx, clock, people.user, SEAL, schedule, active=False)
    clock.time = NOW + timedelta(hours=3)
    await step(database, clock)
    assert await history(database) == []


async def test_a_run_beside_an_unfinished_one_follows_the_rule(database, people, clock):
    await scheduled(database, people, clock, overlap=Overlap.FORBID)
    for _ in range(2):
        clock.time += timedelta(hours=1)
        await step(database, clock)
    assert await history(database) == [
        ("13:00", "started", None),
        ("14:00", "skipped", "The session of an earlier run has not ended."),
    ]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("UPDATE users SET state = 'inactive'", "Its owner is not active."),
        ("UPDATE projects SET archived_at = now()", "is archived and takes no new sessions."),
        ("DELETE FROM memberships", "You are not a member of any project."),
    ],
)
async def test_what_is_refused_is_recorded_with_the_reason(database, people, clock, change, reason):
    await scheduled(database, people, clock)
    await sql(database, change)
    clock.time = NOW + timedelta(hours=1)
    await step(database, clock)
    [(_, outcome, recorded)] = await history(database)
    assert outcome == "refused"
    assert recorded is not None
    assert recorded.endswith(reason)


async def test_one_schedule_that_is_refused_does_not_stop_the_others(database, people, clock):
    await scheduled(database, people, clock, name="aaaa")
    await scheduled(database, people, clock, name="bbbb")
    small = '{"slots": {"cpu": 1, "mem": 1}}'
    await sql(
        database, "UPDATE schedules SET spec = spec || CAST(:small AS jsonb) WHERE name = 'aaaa'", small=small
    )
    clock.time = NOW + timedelta(hours=1)
    await step(database, clock)
    assert sorted(outcome for _, outcome, _ in await history(database)) == ["refused", "started"]


async def test_taken_names_stop_no_schedule(database, people, clock):
    await scheduled(database, people, clock, name="aaaa")
    await scheduled(database, people, clock, name="bbbb")
    for name in ("aaaa-20260301-1300", "aaaa-20260301-130000"):
        await enqueue(database, people.user, name=name)
    clock.time = NOW + timedelta(hours=1)
    await step(database, clock)
    assert [outcome for _, outcome, _ in await history(database)] == ["started", "started"]


async def test_a_schedule_that_fails_stops_no_other(database, people, clock):
    await scheduled(database, people, clock, name="aaaa")
    await scheduled(database, people, clock, name="bbbb")
    await sql(database, "UPDATE schedules SET spec = '{}' WHERE name = 'aaaa'")
    clock.time = NOW + timedelta(hours=1)
    await step(database, clock)
    assert [outcome for _, outcome, _ in await history(database)] == ["started"]


async def test_a_time_that_has_run_does_not_run_again(database, people, clock):
    """The clock of another machine may be behind."""
    await scheduled(database, people, clock)
    clock.time = NOW + timedelta(hours=1)
    await step(database, clock)
    await sql(database, "UPDATE schedules SET next_at = '2026-03-01 13:00+00'")
    await step(database, clock)
    assert await history(database) == [("13:00", "started", None)]
    clock.time = NOW + timedelta(hours=2)
    await step(database, clock)
    assert [at for at, _, _ in await history(database)] == ["13:00", "14:00"]


async def test_old_runs_are_deleted_but_not_the_latest_nor_those_that_live(database, people, clock):
    await scheduled(database, people, clock)
    for _ in range(4):
        clock.time += timedelta(hours=1)
        await step(database, clock)
    live = "(SELECT id FROM sessions WHERE name = 'hourly-20260301-1400')"
    await sql(
        database,
        f"UPDATE sessions SET state = 'CANCELLED', result = 'cancelled', ended_at = now() WHERE id <> {live}",
    )
    async with database.transaction() as tx:
        await runs.prune(tx, clock.time + runs.KEPT - timedelta(hours=1, seconds=1))
    assert [at for at, _, _ in await history(database)] == ["14:00", "15:00", "16:00"]
    async with database.transaction() as tx:
        await runs.prune(tx, clock.time + runs.KEPT + timedelta(days=1))
    assert [at for at, _, _ in await history(database)] == ["14:00", "16:00"]
