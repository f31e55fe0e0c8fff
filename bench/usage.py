"""Collecting the usage of 1,000 sessions as a share of a core, what is stored of them in a year, and a month of
statistics over a million ended sessions.

Real controllers on a real PostgreSQL; the engine is the fake one. Time is virtual: an hour of sweeps is measured in
CPU seconds of this process and of PostgreSQL.
"""

import random
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import psutil
from sqlalchemy import text

from bench.idle import cpu_seconds
from bench.placing import _Place, _place
from bench.table import Line
from carrel.controllers.loop import Tools
from carrel.controllers.usage_history import UsageHistory
from carrel.controllers.usage_packing import UsagePacking
from carrel.controllers.usage_sampling import UsageSampling
from carrel.db.encryption import SecretBox
from carrel.db.leader import lead
from carrel.engines.fake_world import FakeContainer, FakeWorld, VirtualClock
from carrel.engines.port import ContainerSpec, ObservedState
from carrel.folders.hosts.storages import Storages
from carrel.nodes.engines.connections import Engines
from carrel.sessions.logs.store import DIRECTORY, LogStore
from carrel.tables.usage import UsageScope
from carrel.usage import days, packing
from carrel.usage.service import INTERVAL_S, KEPT, UsageStream
from carrel.usage.statistics import queries
from carrel.usage.statistics.schemas import StatisticsBy

_SESSIONS = 1000
_ENDED = 1_000_000
_HOUR = 3600
_START = datetime(2026, 3, 2, 12, tzinfo=UTC)
_GIB = 1 << 30
# Sessions of 200 users with five images each, and their allocations.
_FILL = text("""
    WITH users_ AS (
        INSERT INTO users (id, domain_id, email, name, role, state)
        SELECT 'u' || n, (SELECT id FROM domains LIMIT 1), 'u' || n || '@example.org', '', 'user', 'active'
        FROM generate_series(0, 199) n ON CONFLICT DO NOTHING
    ) SELECT 1
""")
_SESSIONS_SQL = text("""
    INSERT INTO sessions (id, name, kind, owner_id, project_id, domain_id, image, apps, slots, spec, state, warnings,
        attempts, restarts, created_at, started_at, ended_at)
    SELECT CAST(:prefix AS text) || n, 's' || n, 'interactive', 'u' || n % 200, p.id, p.domain_id, 'image:' || n % 5,
        '[]', '{"cpu": 2000, "mem": 4294967296}', '{}', CAST(:state AS varchar), '[]', 0, 0, at, at, ended
    FROM (SELECT n, CAST(:start AS timestamptz) + n * (CAST(:span AS interval) / CAST(:count AS int)) AS at,
            CASE WHEN :state = 'TERMINATED' THEN CAST(:start AS timestamptz)
                + n * (CAST(:span AS interval) / CAST(:count AS int)) + interval '20 minutes' END AS ended
        FROM generate_series(0, CAST(:count AS int) - 1) n) s,
        (SELECT id, domain_id FROM projects LIMIT 1) p
""")
_CONTAINERS_SQL = text("""
    INSERT INTO containers (id, session_id, role, index, host, node_id, image, slots, state, started_at, ended_at)
    SELECT id, id, 'main', 0, 'main1', (SELECT id FROM nodes LIMIT 1), image, slots,
        CASE state WHEN 'TERMINATED' THEN 'GONE' ELSE state END, started_at, ended_at
    FROM sessions WHERE id LIKE CAST(:prefix AS text) || '%'
""")
_ALLOCATIONS_SQL = text("""
    INSERT INTO allocations (session_id, container_id, node_id, slot, amount, created_at, released_at)
    SELECT s.id, s.id, c.node_id, x.key, x.value::bigint, s.created_at, s.ended_at
    FROM sessions s JOIN containers c ON c.session_id = s.id, jsonb_each_text(s.slots) x
    WHERE s.id LIKE CAST(:prefix AS text) || '%'
""")
_HOURS_SQL = text("""
    INSERT INTO usage_hours (container_id, at, seconds, cpu_millis, cpu_peak, mem_bytes, mem_peak)
    SELECT id, date_trunc('hour', created_at), 1200, 500, 900, 1 << 30, 1 << 30 FROM sessions WHERE id LIKE 'e%'
""")


async def measure() -> list[Line]:
    async with _place() as place:
        await _fill(place, "r", _SESSIONS, "RUNNING", _START - timedelta(hours=1), timedelta(minutes=1))
        seconds = await _collected(place)
        gib, shares = await _stored(place)
    async with _place() as place:
        await _fill(place, "e", _ENDED, "TERMINATED", _START.replace(day=1, hour=0), timedelta(days=30))
        lines = await _month(place)
    percent = seconds / _HOUR * 100
    return [
        Line(
            f"usage of {_SESSIONS:,} sessions collected",
            f"{percent:.2f} %",
            f"of one core, PostgreSQL included; an hour of sweeps each {INTERVAL_S} s, packed",
            goal=5,
            value=percent,
        ),
        Line(
            f"usage of {_SESSIONS:,} sessions in a year",
            f"{gib:.1f} GiB",
            f"all of them always running, with noisy measurements: {shares}",
            goal=10,
            value=gib,
        ),
        *lines,
    ]


async def _fill(place: _Place, prefix: str, count: int, state: str, start: datetime, span: timedelta) -> None:
    about = {"prefix": prefix, "count": count, "state": state, "start": start, "span": span}
    async with place.database.transaction() as tx:
        await tx.execute(_FILL)
        await tx.execute(_SESSIONS_SQL, about)
        await tx.execute(_CONTAINERS_SQL, {"prefix": prefix})
        await tx.execute(_ALLOCATIONS_SQL, {"prefix": prefix})
    async with place.database.transaction() as tx:
        await tx.execute(text("ANALYZE sessions, containers, allocations"))


async def _collected(place: _Place) -> float:
    """CPU seconds of an hour."""
    clock = VirtualClock(_START)
    world = place.engine.world = FakeWorld(clock)
    for number in range(_SESSIONS):
        spec = ContainerSpec(f"r{number}", "image", {"cpu": 2000, "mem": 4 * _GIB})
        world.containers[spec.id] = FakeContainer(
            spec, state=ObservedState.RUNNING, started_at=_START, transfers=(1 << 20, 1 << 18, 5000, 3000)
        )
    tools = Tools(
        place.database,
        Engines(place.database, lambda row: place.engine),
        clock,
        await lead(place.database.url),
        SecretBox(place.settings.key()),
        Storages(place.database),
        LogStore(place.settings.data_dir / DIRECTORY),
    )
    ignored = SimpleNamespace(subscribe=lambda *_: None, announce=lambda *_: None)
    stream = UsageStream(place.database, ignored, ignored)  # type: ignore[arg-type]
    sampling, history, thinning = UsageSampling(tools), UsageHistory(tools), UsagePacking(tools)
    await _noisy(world)
    await sampling.step()
    before = _cpu_seconds(place)
    for sweep in range(_HOUR // INTERVAL_S):
        await clock.advance(INTERVAL_S)
        await _noisy(world)
        await sampling.step()
        await stream._pass_on()
        if sweep % 6 == 5:
            await history.step()
            await thinning.step()
    await clock.advance(120)
    await thinning.step()
    used = _cpu_seconds(place) - before
    await sampling.close()
    await history.close()
    await tools.leader.resign()
    return used


async def _noisy(world: FakeWorld) -> None:
    for container in world.containers.values():
        container.mem_bytes = random.randrange(_GIB, 2 * _GIB)
        container.disk_bytes = random.randrange(1 << 20, 1 << 24)
        container.accelerator_percent = random.randrange(101)
        container.accelerator_mem_percent = random.randrange(101)


async def _stored(place: _Place) -> tuple[float, str]:
    """GiB in a year, and its parts. Rates are noise as well: the worst case of the packed minutes."""
    async with place.database.transaction() as tx:
        assert (await tx.execute(text("SELECT count(*) FROM usage_minutes"))).scalar_one() == _SESSIONS
        await tx.execute(text("DELETE FROM usage_minutes"))
        await tx.execute(text("DELETE FROM usage_hours"))
        await tx.execute(
            text(
                "UPDATE usage_samples SET cpu_millis = random() * 2000, read_rate = random() * 1e8,"
                " write_rate = random() * 1e8, rx_rate = random() * 1e7, tx_rate = random() * 1e7"
            )
        )
        await packing._pack_hour(tx, _START)
    sizes = {}
    async with place.database.transaction() as tx:
        await tx.execute(text("CREATE TABLE measured (LIKE usage_samples INCLUDING ALL)"))
        await tx.execute(text("INSERT INTO measured SELECT * FROM usage_samples"))
        for table, hours in (
            ("measured", KEPT / timedelta(hours=1)),
            ("usage_minutes", packing.MINUTES_KEPT / timedelta(hours=1)),
            ("usage_hours", 365 * 24),
            ("usage_days", 365),
        ):
            # Rewritten, so that the size is not that of rows that are gone.
            await tx.execute(text(f"CREATE TABLE size_of (LIKE {table} INCLUDING ALL)"))
            await tx.execute(text(f"INSERT INTO size_of SELECT * FROM {table}"))  # noqa: S608 - a name from here
            size = (await tx.execute(text("SELECT pg_total_relation_size('size_of')"))).scalar_one()
            await tx.execute(text("DROP TABLE size_of"))
            sizes[table] = size * hours / _GIB
    names = {"measured": "samples", "usage_minutes": "minutes", "usage_hours": "hours", "usage_days": "days"}
    return sum(sizes.values()), ", ".join(f"{names[table]} {gib:.1f}" for table, gib in sizes.items())


async def _month(place: _Place) -> list[Line]:
    """Computing a day, and reading a month."""
    async with place.database.transaction() as tx:
        await tx.execute(_HOURS_SQL)
    async with place.database.transaction() as tx:
        await tx.execute(text("ANALYZE usage_hours"))
    first = _START.date().replace(day=1)
    took = []
    for number in range(30):
        day = first + timedelta(days=number)
        began = time.perf_counter()
        async with place.database.transaction() as tx:
            await days.compute(
                tx, day, datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
            )
        took.append(time.perf_counter() - began)
    async with place.database.transaction() as tx:
        await tx.execute(text("ANALYZE usage_days"))
    read = []
    for _ in range(5):
        began = time.perf_counter()
        async with place.database.transaction() as tx:
            sums = await queries.load(
                tx, UsageScope.SITE, "", StatisticsBy.USER, first, first + timedelta(days=29)
            )
        read.append(time.perf_counter() - began)
    assert sum(sums.of(queries.TOTAL).waits.values()) == _ENDED
    conditions = f"{_ENDED:,} ended sessions in the month, 200 users, 5 images"
    compute_s, read_s = sorted(took)[len(took) // 2], sorted(read)[2]
    return [
        Line(
            "statistics of a day computed", f"{compute_s * 1000:.0f} ms", conditions, value=compute_s * 1000
        ),
        Line(
            "statistics of a month read",
            f"{read_s * 1000:.0f} ms",
            conditions,
            goal=1000,
            value=read_s * 1000,
        ),
    ]


def _cpu_seconds(place: _Place) -> float:
    pid = int((Path(place.settings.data_dir) / "postgres" / "data" / "postmaster.pid").read_text().split()[0])
    processes = [psutil.Process(), psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    return cpu_seconds(processes)
