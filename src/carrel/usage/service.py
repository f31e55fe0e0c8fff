"""Use cases of usage."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    DateTime,
    Float,
    Row,
    Select,
    String,
    case,
    cast,
    column,
    delete,
    func,
    literal_column,
    select,
    text,
)
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from carrel.core.errors import Unavailable
from carrel.core.ids import ContainerId, SessionId
from carrel.db.database import Database, notify
from carrel.db.listener import Listener
from carrel.events.service import EventStream, PublishedEvent
from carrel.permissions.decide import Target
from carrel.sessions.visibility import audience_as_text
from carrel.tables.nodes import Allocation
from carrel.tables.session_states import SessionState
from carrel.tables.sessions import Container, Session
from carrel.tables.tenancy import User
from carrel.tables.usage import Sample

TOPIC = "usage"
INTERVAL_S = 10
RECENT = 30
_LEAST_SAMPLES = 6
"""A minute: a session that has just started is not idle."""
KEPT = timedelta(hours=25)
"""Retention: a day for charts and for the longest idle window, with a margin."""


@dataclass(frozen=True)
class UsageReading:
    """As `tables.usage.Sample`."""

    container: ContainerId
    cpu_millis: int
    mem_bytes: int
    accelerator_percent: int | None = None
    accelerator_mem_percent: int | None = None
    read_rate: int | None = None
    write_rate: int | None = None
    rx_rate: int | None = None
    tx_rate: int | None = None
    disk_bytes: int | None = None


@dataclass(frozen=True)
class Mean:
    """Mean usage of a session in the minute that begins at `at`."""

    at: datetime
    cpu_millis: float
    mem_bytes: float
    accelerator_percent: float | None
    accelerator_mem_percent: float | None


# A sweep after an engine hang may repeat a moment: one sample of it is enough.
_RECORD = text("""
    INSERT INTO usage_samples (container_id, at, cpu_millis, mem_bytes, accelerator_percent, accelerator_mem_percent,
        read_rate, write_rate, rx_rate, tx_rate, disk_bytes)
    SELECT container, :now, cpu, mem, accelerator, accelerator_mem, read, write, rx, tx, disk
    FROM unnest(CAST(:container AS text[]), CAST(:cpu_millis AS int[]), CAST(:mem_bytes AS bigint[]),
        CAST(:accelerator_percent AS smallint[]), CAST(:accelerator_mem_percent AS smallint[]),
        CAST(:read_rate AS bigint[]), CAST(:write_rate AS bigint[]), CAST(:rx_rate AS bigint[]),
        CAST(:tx_rate AS bigint[]), CAST(:disk_bytes AS bigint[]))
        AS sweep(container, cpu, mem, accelerator, accelerator_mem, read, write, rx, tx, disk)
    ON CONFLICT DO NOTHING
""")


async def record(tx: AsyncSession, readings: Sequence[UsageReading], now: datetime) -> None:
    """Store one sweep of readings, in one statement, and publish it."""
    if readings:
        columns = {
            field.name: [getattr(reading, field.name) for reading in readings]
            for field in fields(UsageReading)
        }
        await tx.execute(_RECORD, {**columns, "now": now})
        await notify(tx, TOPIC)


async def prune(tx: AsyncSession, now: datetime) -> None:
    """Delete samples past their retention."""
    await tx.execute(delete(Sample).where(Sample.at < now - KEPT))


def _amounts() -> Select[*tuple[Any, ...]]:
    """Usage per session and sweep: the sum of its containers, and the highest mean of their accelerators, which is not
    known if one of them has accelerators that were not measured.
    """
    has_devices = (Container.slots.op("-")("cpu").op("-")("mem") != text("'{}'")).self_group()

    def highest(measure: InstrumentedAttribute[int | None]) -> ColumnElement[int | None]:
        return case((func.bool_or(has_devices & measure.is_(None)), None), else_=func.max(measure))

    return (
        select(
            Container.session_id,
            Sample.at,
            func.sum(Sample.cpu_millis).label("cpu_millis"),
            cast(func.sum(Sample.mem_bytes), BigInteger).label("mem_bytes"),
            highest(Sample.accelerator_percent).label("accelerator_percent"),
            highest(Sample.accelerator_mem_percent).label("accelerator_mem_percent"),
        )
        .join(Container, Container.id == Sample.container_id)
        .group_by(Container.session_id, Sample.at)
    )


async def minute_means(tx: AsyncSession, since: Mapping[SessionId, datetime]) -> dict[SessionId, list[Mean]]:
    """Usage per minute of each session since its given time, oldest first."""
    windows = func.unnest(
        cast(list(since), ARRAY(String)), cast(list(since.values()), ARRAY(DateTime(timezone=True)))
    )
    requested = windows.table_valued(column("session_id", String), column("since", DateTime)).render_derived()
    used = (
        _amounts()
        .join(requested, (Container.session_id == requested.c.session_id) & (Sample.at >= requested.c.since))
        .subquery()
    )
    minute = func.date_trunc("minute", used.c.at)
    measures = (
        used.c.cpu_millis,
        used.c.mem_bytes,
        used.c.accelerator_percent,
        used.c.accelerator_mem_percent,
    )
    rows = await tx.execute(
        select(used.c.session_id, minute, *(cast(func.avg(measure), Float) for measure in measures))
        .group_by(used.c.session_id, minute)
        .order_by(used.c.session_id, minute)
    )
    means: dict[SessionId, list[Mean]] = defaultdict(list)
    for session, *mean in rows:
        means[session].append(Mean(*mean))
    return means


async def recent(
    tx: AsyncSession, sessions: list[SessionId], now: datetime
) -> dict[SessionId, list[Row[Any]]]:
    """Recent samples of several sessions, as columns, oldest first, in one query."""
    since = now - timedelta(seconds=RECENT * INTERVAL_S)
    rows = await tx.execute(
        _amounts().where(Container.session_id.in_(sessions), Sample.at >= since).order_by(Sample.at)
    )
    grouped: dict[SessionId, list[Row[Any]]] = defaultdict(list)
    for sample in rows:
        grouped[sample.session_id].append(sample)
    return grouped


async def idle(
    tx: AsyncSession, visible: ColumnElement[bool], now: datetime, *, below: int, limit: int
) -> Sequence[Row[Any]]:
    """Running sessions with a mean CPU usage below a percentage of their allocation in the last minutes, as columns;
    the largest allocation first. `total` counts them without the limit. Sessions with few samples are omitted.
    """
    since = now - timedelta(seconds=RECENT * INTERVAL_S)
    used = _amounts().where(Sample.at >= since).subquery()
    mean = (
        select(used.c.session_id, cast(func.avg(used.c.cpu_millis), Float).label("cpu"))
        .group_by(used.c.session_id)
        .having(func.count() >= _LEAST_SAMPLES)
        .subquery()
    )
    held = (
        select(Allocation.session_id, cast(func.sum(Allocation.amount), BigInteger).label("cpu"))
        .where(Allocation.released_at.is_(None), Allocation.slot == "cpu")
        .group_by(Allocation.session_id)
        .subquery()
    )
    percent = mean.c.cpu * 100 / held.c.cpu
    owner = func.json_build_object("id", User.id, "email", User.email).label("owner")
    total = func.count().over().label("total")
    rows = await tx.execute(
        select(Session.id, Session.name, Session.slots, owner, percent.label("cpu_percent"), total)
        .join(User, User.id == Session.owner_id)
        .join(mean, mean.c.session_id == Session.id)
        .join(held, held.c.session_id == Session.id)
        .where(Session.state == SessionState.RUNNING, percent < below, visible)
        .order_by(held.c.cpu.desc(), Session.id)
        .limit(limit)
    )
    return rows.all()


_AUDIENCE = literal_column(audience_as_text("sessions"), ARRAY(String)).label("audience")


class UsageStream:
    """Publishes each sweep of readings to the event stream, as "usage" events."""

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
                _amounts()
                .add_columns(Session.owner_id, Session.project_id, Session.domain_id, _AUDIENCE)
                .join(Session, Session.id == Container.session_id)
                .where(Sample.at == newest, Session.state == SessionState.RUNNING)
                .group_by(Session.id)
            )
            by_readers: dict[tuple[Target, tuple[str, ...]], dict[str, object]] = defaultdict(dict)
            for row in rows:
                target = Target(row.owner_id, row.project_id, row.domain_id)
                by_readers[target, tuple(sorted(row.audience))][row.session_id] = {
                    "cpu_millis": row.cpu_millis,
                    "mem_bytes": row.mem_bytes,
                    "accelerator_percent": row.accelerator_percent,
                }
        for (target, audience), amounts in by_readers.items():
            event = PublishedEvent(None, newest, "usage", "session", "", target, amounts, audience)
            self._events.announce(event)
