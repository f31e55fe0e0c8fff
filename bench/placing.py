"""Latency from the commit of a request to the commit of its placement, and committed placements per second.

Real controllers on a real PostgreSQL; the engine is the fake one, so that only scheduling is measured.
"""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import psycopg
from sqlalchemy import text

from bench.control_plane import EMAIL, _bootstrap, _fresh_dir
from bench.load import median
from bench.table import Line
from carrel.controllers.loop import Tools
from carrel.controllers.schedule import Schedule
from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.db.embedded import Embedded
from carrel.db.encryption import SecretBox
from carrel.db.leader import lead
from carrel.db.migrate import migrate
from carrel.engines.fake import FakeEngine
from carrel.engines.port import NodeInfo
from carrel.folders.hosts.storages import Storages
from carrel.nodes import service as nodes
from carrel.nodes.engines.connections import Engines
from carrel.permissions.decide import Actor
from carrel.server import compose
from carrel.server.settings import Settings
from carrel.sessions import service
from carrel.sessions.logs.store import DIRECTORY, LogStore
from carrel.sessions.spec import SessionSpec
from carrel.tenancy import service as tenancy

_ALONE = 100
_AT_ONCE = 2000
_NODES = [
    NodeInfo(f"node{number:03}", "x86_64", {"cpu": 64_000, "mem": 256 << 30}, "Fake 1")
    for number in range(100)
]
_SLOTS = {"cpu": 1000, "mem": 1 << 30}


@dataclass(frozen=True)
class _Place:
    database: Database
    settings: Settings
    engine: FakeEngine
    actor: Actor


async def measure() -> list[Line]:
    async with _place() as place:
        took = await _alone(place)
    async with _place() as place:
        rate = await _at_once(place)
    conditions = f"{_ALONE} requests one after the other, {len(_NODES)} nodes"
    p99 = sorted(took)[int(_ALONE * 0.99)] * 1000
    return [
        Line(
            "request committed to placement committed, p50",
            f"{median(took) * 1000:.1f} ms",
            conditions,
            goal=20,
            value=median(took) * 1000,
        ),
        Line("request committed to placement committed, p99", f"{p99:.1f} ms", conditions, value=p99),
        Line(
            "placements committed in a second",
            f"{rate:.0f}",
            f"{_AT_ONCE} requests at once, {len(_NODES)} nodes",
            goal=500,
            value=rate,
            best="high",
        ),
    ]


@asynccontextmanager
async def _place() -> AsyncIterator[_Place]:
    folder = _fresh_dir()
    embedded = Embedded(folder / "postgres")
    url = embedded.start()
    database = Database(url)
    try:
        migrate(url)
        await _bootstrap(database, "debian:12", "correct horse battery 9")
        async with database.transaction() as tx:
            user = await tenancy.user_by_email(tx, EMAIL)
            assert user is not None
            actor = await tenancy.actor_of(tx, user, credential="bench", address="")
            await nodes.record(tx, _NODES, SystemClock().now())
        engine = FakeEngine()
        engine.world.nodes = list(_NODES)
        engine.world.local_images.add("debian:12")
        yield _Place(database, Settings(data_dir=folder, database_url=url), engine, actor)
    finally:
        await database.close()
        embedded.stop()
        shutil.rmtree(folder, ignore_errors=True)


async def _alone(place: _Place) -> list[float]:
    """One request at a time with all controllers running, as in a real installation."""
    took: list[float] = []
    async with (
        compose.controllers(
            place.settings, place.database, Engines(place.database, lambda row: place.engine)
        ),
        await psycopg.AsyncConnection.connect(place.database.url, autocommit=True) as listening,
    ):
        await listening.execute("LISTEN carrel")
        await asyncio.sleep(2)
        for number in range(_ALONE):
            request = SessionSpec(image="debian:12", slots=_SLOTS, name=f"bench-{number:04}")
            await service.enqueue(place.database, SystemClock(), place.actor, request)
            committed = time.perf_counter()
            async for notification in listening.notifies(timeout=10):
                if notification.payload == "sessions.SCHEDULED":
                    break
            took.append(time.perf_counter() - committed)
            # Wait for its launch to end, so that the next one starts on an idle system.
            await asyncio.sleep(0.15)
    return took


async def _at_once(place: _Place) -> float:
    actor = replace(place.actor, credential="cookie")
    request = SessionSpec(image="debian:12", slots=_SLOTS)
    first = await service.enqueue(place.database, SystemClock(), actor, replace(request, name="bench-first"))
    async with place.database.transaction() as tx:
        await tx.execute(
            text("""
            INSERT INTO sessions SELECT (jsonb_populate_record(s, jsonb_build_object(
                'id', 'bench' || n, 'name', 'bench-' || n))).*
            FROM sessions s, generate_series(2, :count) n WHERE s.id = :first"""),
            {"first": first, "count": _AT_ONCE},
        )
        await tx.execute(
            text("""
            INSERT INTO containers SELECT (jsonb_populate_record(c, jsonb_build_object(
                'id', 'bench' || n, 'session_id', 'bench' || n))).*
            FROM containers c, generate_series(2, :count) n WHERE c.session_id = :first"""),
            {"first": first, "count": _AT_ONCE},
        )
    leader = await lead(place.database.url)
    schedule = Schedule(
        Tools(
            place.database,
            Engines(place.database, lambda row: place.engine),
            SystemClock(),
            leader,
            SecretBox(place.settings.key()),
            Storages(place.database),
            LogStore(place.settings.data_dir / DIRECTORY),
        )
    )
    began = time.perf_counter()
    await schedule.step()
    took = time.perf_counter() - began
    async with place.database.transaction() as tx:
        placed = (
            await tx.execute(text("SELECT count(*) FROM sessions WHERE state = 'SCHEDULED'"))
        ).scalar_one()
    await leader.resign()
    assert placed == _AT_ONCE, placed
    return float(placed / took)
