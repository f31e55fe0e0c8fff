"""Use cases of usage."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ARRAY, DateTime, Float, String, cast, column, delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Unavailable
from carrel.core.ids import SessionId
from carrel.db.database import Database, notify
from carrel.db.listener import Listener
from carrel.events.service import EventStream, Happening
from carrel.policy.decide import Target
from carrel.sessions.model import Session
from carrel.sessions.states import SessionState
from carrel.usage.model import Sample

TOPIC = "usage"
INTERVAL_S = 5
RECENT = 60
KEPT = timedelta(hours=25)
"""A day of pictures, and of the longest window in which a session may be idle, with something to spare."""


@dataclass(frozen=True)
class Reading:
    """cpu_millis: mean since the reading before. accelerator_*: of the busiest one; None: not measured."""

    session: SessionId
    cpu_millis: int
    mem_bytes: int
    accelerator_percent: int | None = None
    accelerator_mem_percent: int | None = None


@dataclass(frozen=True)
class Mean:
    """What a session used in the minute that begins at `at`, on average."""

    at: datetime
    cpu_millis: float
    mem_bytes: float
    accelerator_percent: float | None
    accelerator_mem_percent: float | None


async def record(tx: AsyncSession, readings: Iterable[Reading], now: datetime) -> None:
    """Keep one sweep of readings and tell the pages."""
    rows = [
        {
            "session_id": r.session,
            "at": now,
            "cpu_millis": r.cpu_millis,
            "mem_bytes": r.mem_bytes,
            "accelerator_percent": r.accelerator_percent,
            "accelerator_mem_percent": r.accelerator_mem_percent,
        }
        for r in readings
    ]
    if rows:
        await tx.execute(insert(Sample), rows)
        await notify(tx, TOPIC)


async def prune(tx: AsyncSession, now: datetime) -> None:
    """Delete samples that are too old to show."""
    await tx.execute(delete(Sample).where(Sample.at < now - KEPT))


async def samples(tx: AsyncSession, session: SessionId, since: datetime) -> list[Sample]:
    """A session's samples since then, oldest first."""
    rows = await tx.execute(
        select(Sample).where(Sample.session_id == session, Sample.at >= since).order_by(Sample.at)
    )
    return list(rows.scalars())


async def minute_means(
    tx: AsyncSession, since: Mapping[SessionId, datetime]
) -> dict[SessionId, list[Mean]]:
    """What each session used in each minute since its time of which there is a sample, oldest first."""
    asked = func.unnest(cast(list(since), ARRAY(String)), cast(list(since.values()), ARRAY(DateTime(timezone=True))))
    wanted = asked.table_valued(column("session_id", String), column("since", DateTime)).render_derived()
    minute = func.date_trunc("minute", Sample.at)
    measures = (
        Sample.cpu_millis,
        Sample.mem_bytes,
        Sample.accelerator_percent,
        Sample.accelerator_mem_percent,
    )
    rows = await tx.execute(
        select(Sample.session_id, minute, *(cast(func.avg(measure), Float) for measure in measures))
        .join(wanted, (Sample.session_id == wanted.c.session_id) & (Sample.at >= wanted.c.since))
        .group_by(Sample.session_id, minute)
        .order_by(Sample.session_id, minute)
    )
    means: dict[SessionId, list[Mean]] = defaultdict(list)
    for session, *mean in rows:
        means[session].append(Mean(*mean))
    return means


async def recent(tx: AsyncSession, sessions: list[SessionId], now: datetime) -> dict[SessionId, list[Sample]]:
    """The last samples of several sessions, oldest first, in one query."""
    since = now - timedelta(seconds=RECENT * INTERVAL_S)
    rows = await tx.execute(
        select(Sample).where(Sample.session_id.in_(sessions), Sample.at >= since).order_by(Sample.at)
    )
    grouped: dict[SessionId, list[Sample]] = defaultdict(list)
    for sample in rows.scalars():
        grouped[sample.session_id].append(sample)
    return grouped


class UsageStream:
    """Passes each sweep of readings on to the followers of the event stream, as "usage" events."""

    def __init__(self, database: Database, listener: Listener, events: EventStream) -> None:
        self._database = database
        self._events = events
        self._wake = asyncio.Event()
        self._last: datetime | None = None
        listener.subscribe(TOPIC, self._wake.set)

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._pass_on()
            except Unavailable:
                await asyncio.sleep(1)

    async def _pass_on(self) -> None:
        async with self._database.transaction() as tx:
            newest = (await tx.execute(select(Sample.at).order_by(Sample.at.desc()).limit(1))).scalar()
            if newest is None or newest == self._last:
                return
            self._last = newest
            rows = await tx.execute(
                select(Sample, Session.owner_id, Session.project_id, Session.domain_id)
                .join(Session, Session.id == Sample.session_id)
                .where(Sample.at == newest, Session.state == SessionState.RUNNING)
            )
            by_target: dict[Target, dict[str, object]] = defaultdict(dict)
            for sample, owner, project, domain in rows:
                by_target[Target(owner, project, domain)][sample.session_id] = {
                    "cpu_millis": sample.cpu_millis,
                    "mem_bytes": sample.mem_bytes,
                }
        for target, amounts in by_target.items():
            self._events.announce(Happening(None, newest, "usage", "session", "", target, amounts))
