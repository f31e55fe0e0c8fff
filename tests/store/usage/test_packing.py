"""Usage is thinned out with age: what is kept of an hour, of a day, and what it costs to read it."""

from datetime import UTC, date, datetime, timedelta

import pytest
from databases import scalar, sql
from people import People
from usage_kit import GIB, SLOTS, allocated, packed, ran, sampled

from carrel.db.database import Database
from carrel.sessions import containers
from carrel.usage import packing, series
from carrel.usage.series import SessionSeries

MIDNIGHT = datetime(2026, 3, 2, tzinfo=UTC)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
NOON = MIDNIGHT + 12 * HOUR


async def loaded(
    database: Database, session: str, start: datetime, end: datetime, now: datetime, step_s: int | None = None
) -> SessionSeries:
    async with database.transaction() as tx:
        chosen = await containers.of(tx, session)  # type: ignore[arg-type]
        return await series.load(tx, chosen, start, end, series.step_of(start, end, now, step_s))


async def day_of(database: Database, slot: str, day: date | None = None) -> tuple[float, float, float]:
    """Held, measured and used slot-hours."""
    [row] = await sql(
        database,
        "SELECT (SELECT sum(h) FROM unnest(hours) h) / 3600, measured / 3600, used / 3600 FROM usage_days"
        " WHERE slot = :slot AND day = :day",
        slot=slot,
        day=day or MIDNIGHT.date(),
    )
    return row  # type: ignore[return-value]


async def test_a_series_says_the_same_raw_by_minute_and_by_hour(database: Database, people: People) -> None:
    session, main = await ran(database, people, NOON, None)
    await sampled(database, main, NOON, NOON + HOUR, cpu_millis=500, mem_bytes=GIB, rx_rate=7)
    await sampled(database, main, NOON + HOUR, NOON + 2 * HOUR, cpu_millis=1500, mem_bytes=GIB, tx_rate=9)
    now = NOON + 2 * HOUR + 5 * MINUTE

    async def all_steps() -> list[dict[str, list[float | None]]]:
        shown = [
            await loaded(database, session, NOON, NOON + 2 * HOUR, now, step) for step in (10, 60, 300, 3600)
        ]
        assert [one.step_s for one in shown] == [10, 60, 300, 3600]
        assert [len(one.times) for one in shown] == [720, 120, 24, 2]
        for one in shown:
            mean = one.containers[0].measures["cpu_millis"].mean
            half = len(mean) // 2
            assert mean == [500] * half + [1500] * half
            assert one.containers[0].measures["rx_rate"].mean == [7] * half + [None] * half
            assert one.times[-1] == NOON + 2 * HOUR
            assert one.containers[0].measures.keys() == {"cpu_millis", "mem_bytes", "rx_rate", "tx_rate"}
        return [{name: points.mean for name, points in one.containers[0].measures.items()} for one in shown]

    before = await all_steps()
    await packed(database, now)
    assert await scalar(database, "SELECT count(*) FROM usage_minutes") == 2
    assert await scalar(database, "SELECT count(*) FROM usage_hours") == 2
    assert await all_steps() == before
    # What is newer than the last packed hour comes from samples.
    await sampled(database, main, NOON + 2 * HOUR, now, cpu_millis=100, mem_bytes=GIB)
    latest = await loaded(database, session, NOON + HOUR, now, now, 60)
    assert latest.containers[0].measures["cpu_millis"].mean == [1500] * 60 + [100] * 5


async def test_a_step_is_raised_to_what_is_kept_of_the_period(database: Database, people: People) -> None:
    session, main = await ran(database, people, NOON, None)
    await sampled(database, main, NOON, NOON + HOUR, cpu_millis=500, mem_bytes=GIB)
    await sampled(database, main, NOON + HOUR, NOON + HOUR + MINUTE, cpu_millis=900, mem_bytes=GIB)
    await packed(database, NOON + 3 * HOUR)
    await sql(database, "DELETE FROM usage_samples")
    for later, step_s in ((timedelta(days=2), 60), (timedelta(days=40), 3600)):
        shown = await loaded(database, session, NOON, NOON + 2 * HOUR, NOON + later, 10)
        assert shown.step_s == step_s
        points = shown.containers[0].measures["cpu_millis"]
        assert (points.mean[0], points.peak[-1 if step_s == 3600 else 60]) == (500, 900)
    async with database.transaction() as tx:
        await packing.prune(tx, NOON + timedelta(days=40))
    assert await scalar(database, "SELECT count(*) FROM usage_minutes") == 0
    assert await scalar(database, "SELECT count(*) FROM usage_hours") == 2
    async with database.transaction() as tx:
        await packing.prune(tx, NOON + timedelta(days=1200))
    assert await scalar(database, "SELECT count(*) FROM usage_hours") == 0


async def test_packing_twice_changes_nothing(database: Database, people: People) -> None:
    _, main = await ran(database, people, NOON, NOON + HOUR)
    await sampled(database, main, NOON, NOON + HOUR, cpu_millis=500, mem_bytes=GIB)
    now = NOON + 3 * HOUR
    await packed(database, now)
    tables = ("usage_minutes", "usage_hours", "usage_days")
    before = [await sql(database, f"SELECT * FROM {table} ORDER BY 1, 2, 6") for table in tables[1:]]
    await sql(database, "UPDATE usage_progress SET until = :until", until=MIDNIGHT)
    await packed(database, now)
    assert [await sql(database, f"SELECT * FROM {table} ORDER BY 1, 2, 6") for table in tables[1:]] == before
    assert await scalar(database, "SELECT count(*) FROM usage_minutes") == 1


async def test_an_hour_is_packed_only_once_its_last_sweep_is_stored(
    database: Database, people: People
) -> None:
    await ran(database, people, NOON, None)
    await packed(database, NOON + HOUR + MINUTE / 2)
    assert await scalar(database, "SELECT until FROM usage_progress") == NOON
    await packed(database, NOON + HOUR + MINUTE)
    assert await scalar(database, "SELECT until FROM usage_progress") == NOON + HOUR


async def test_a_day_has_what_was_held_and_what_of_the_measured_part_was_used(
    database: Database, people: People
) -> None:
    start, end = NOON + 30 * MINUTE, NOON + 2 * HOUR
    slots = {**SLOTS, "cuda.device": 2}
    _, main = await ran(database, people, start, end, slots=slots)
    measured = {"cpu_millis": 500, "mem_bytes": GIB, "accelerator_percent": 25}
    await sampled(database, main, start, NOON + HOUR, **measured)
    await packed(database, NOON + 3 * HOUR)
    assert await day_of(database, "cpu") == pytest.approx((3000, 1000, 250))
    assert await day_of(database, "mem") == pytest.approx((6 * GIB, 2 * GIB, GIB / 2))
    assert await day_of(database, "cuda.device") == pytest.approx((3, 1, 0.25))
    assert await day_of(database, "sessions") == pytest.approx((1.5, 0, 0))
    hours = await scalar(database, "SELECT hours FROM usage_days WHERE slot = 'cpu'")
    assert hours == pytest.approx([0] * 12 + [2000 * 1800, 2000 * 3600] + [0] * 10)


async def test_a_device_that_nobody_measures_is_no_unused_device(database: Database, people: People) -> None:
    _, main = await ran(database, people, NOON, NOON + HOUR, slots={**SLOTS, "cuda.device": 1})
    await sampled(database, main, NOON, NOON + HOUR, cpu_millis=500, mem_bytes=GIB)
    await packed(database, NOON + 2 * HOUR)
    assert await day_of(database, "cuda.device") == pytest.approx((1, 0, 0))


async def test_a_session_over_midnight_counts_on_both_days(database: Database, people: People) -> None:
    next_day = MIDNIGHT + timedelta(days=1)
    await ran(database, people, next_day - HOUR, None)
    await packed(database, next_day + 2 * HOUR + MINUTE)
    assert (await day_of(database, "cpu"))[0] == pytest.approx(2000)
    assert (await day_of(database, "cpu", next_day.date()))[0] == pytest.approx(4000)
    # It was placed on one of them.
    waits = await sql(database, "SELECT day, waits FROM usage_days WHERE waits IS NOT NULL")
    assert waits == [(MIDNIGHT.date(), {"0": 1})]


async def test_a_restart_within_an_hour_shares_its_samples(database: Database, people: People) -> None:
    session, main = await ran(database, people, NOON, NOON + 15 * MINUTE)
    await allocated(database, session, NOON + 15 * MINUTE, NOON + HOUR)
    await sampled(database, main, NOON, NOON + HOUR, cpu_millis=1000, mem_bytes=GIB)
    await packed(database, NOON + 2 * HOUR)
    assert await day_of(database, "cpu") == pytest.approx((2000, 2000, 1000))


async def test_days_before_an_upgrade_are_computed_from_the_ledger(
    database: Database, people: People
) -> None:
    await ran(database, people, MIDNIGHT - timedelta(days=30), MIDNIGHT - timedelta(days=29))
    await ran(database, people, MIDNIGHT - timedelta(days=500), MIDNIGHT - timedelta(days=499))
    await packed(database, NOON)
    days = await sql(database, "SELECT DISTINCT day FROM usage_days")
    assert days == [((MIDNIGHT - timedelta(days=30)).date(),)]
    assert await scalar(database, "SELECT until FROM usage_progress") == NOON - HOUR
