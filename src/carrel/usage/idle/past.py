"""What is known of past sessions: their lives, and usage per minute of the last month."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import ColumnElement, Float, Select, cast, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import ContainerId, PolicyId, SessionId
from carrel.tables.idle import SessionActivity
from carrel.tables.keypairs import Keypair
from carrel.tables.sessions import Container, HistoryEntry, Session
from carrel.tables.tenancy import Project, User
from carrel.tables.usage import MINUTE_S, Sample, UsageMinutes
from carrel.usage import chunks, packing
from carrel.usage.idle import queries
from carrel.usage.idle.replay import Past
from carrel.usage.idle.rules import Life, Minute
from carrel.usage.service import Mean

_MOST_CONTAINERS = 64
"""Whose usage is read at once."""
_MEASURES = 4
"""CPU, memory, accelerator and accelerator memory: the first columns of `packing.COLUMNS`."""


@dataclass(frozen=True)
class PastSession:
    """row: session, owner and project. slots: of all its containers."""

    row: Any
    slots: Mapping[str, int]
    past: Past


def ran_since(since: datetime, policy: PolicyId | None) -> ColumnElement[bool]:
    """A condition for sessions that ran since then. policy: only those that follow it. With `_joined`."""
    ran = Session.started_at.is_not(None) & or_(Session.ended_at.is_(None), Session.ended_at > since)
    follows = func.coalesce(Keypair.policy_id, User.keypair_policy_id) == policy
    return ran & follows if policy else ran


async def count(tx: AsyncSession, since: datetime, policy: PolicyId | None) -> int:
    """The number of these sessions."""
    statement = _joined(select(func.count()).select_from(Session)).where(ran_since(since, policy))
    return int((await tx.execute(statement)).scalar_one())


async def load(
    tx: AsyncSession,
    since: datetime,
    now: datetime,
    policy: PolicyId | None,
    after: SessionId | None,
    limit: int,
) -> list[PastSession]:
    """Some of these sessions, by id; at least one, if there is any."""
    chosen = _joined(_columns()).where(ran_since(since, policy)).order_by(Session.id).limit(limit)
    rows = (await tx.execute(chosen.where(Session.id > after) if after else chosen)).all()
    some: list[Any] = []
    containers = 0
    for row in rows:
        containers += len(row.containers)
        if some and containers > _MOST_CONTAINERS:
            break
        some.append(row)
    series = _Series([one["id"] for row in some for one in row.containers], since, now)
    await series.read(tx)
    keeps = await _keeps(tx, [row.Session.id for row in some])
    return [_session(row, series, keeps[row.Session.id], since, now) for row in some]


def _joined(statement: Select[Any]) -> Select[Any]:
    return statement.join(User, User.id == Session.owner_id).outerjoin(
        Keypair, Keypair.access_key == Session.access_key
    )


def _columns() -> Select[Any]:
    containers = (
        select(func.json_agg(func.json_build_object("id", Container.id, "slots", Container.slots)))
        .where(Container.session_id == Session.id)
        .correlate(Session)
        .scalar_subquery()
    )
    return (
        select(Session, User, Project, SessionActivity, containers.label("containers"))
        .join(Project, Project.id == Session.project_id)
        .outerjoin(SessionActivity, SessionActivity.session_id == Session.id)
    )


async def _keeps(tx: AsyncSession, sessions: Iterable[SessionId]) -> Mapping[SessionId, list[datetime]]:
    """When these sessions were marked as in use, as far as it is recorded."""
    rows = await tx.execute(
        select(HistoryEntry.session_id, HistoryEntry.at)
        .where(HistoryEntry.session_id.in_(list(sessions)), HistoryEntry.cause == "kept")
        .order_by(HistoryEntry.at)
    )
    keeps: dict[SessionId, list[datetime]] = defaultdict(list)
    for session, at in rows:
        keeps[session].append(at)
    return keeps


def _session(
    row: Any, series: "_Series", keeps: Sequence[datetime], since: datetime, now: datetime
) -> PastSession:
    session, activity = row.Session, row.SessionActivity
    slots = queries.total(one["slots"] for one in row.containers)
    begin, end = max(session.started_at, since), session.ended_at or now
    all_keeps = {*keeps, activity.kept_at} if activity and activity.kept_at else keeps
    life = Life(
        kind=session.kind,
        started_at=session.started_at,
        active_at=activity.active_at if activity else None,
        exempt=bool(activity and activity.exempt),
        accelerated=queries.is_accelerated(slots),
    )
    minutes = series.minutes(row.containers, begin, end)
    return PastSession(row, slots, Past(life, begin, end, sorted(all_keeps), minutes))


class _Series:
    """Usage per minute of some containers."""

    def __init__(self, containers: Sequence[ContainerId], since: datetime, now: datetime) -> None:
        self._containers, self._since, self._now = containers, since, now
        self._points: dict[str, list[npt.NDArray[np.float64]]] = defaultdict(list)

    async def read(self, tx: AsyncSession) -> None:
        packed_until = await packing.progress(tx) or self._since
        packed = select(UsageMinutes.container_id, UsageMinutes.at, UsageMinutes.points).where(
            UsageMinutes.container_id.in_(self._containers), UsageMinutes.at >= self._since
        )
        for container, at, points in await tx.execute(packed):
            table = chunks.unpack(points)[:, : _MEASURES + 1].astype(float)
            table[table == chunks.ABSENT] = np.nan
            table[:, 0] += at.timestamp()
            self._points[container].append(table)
        minute = func.date_trunc("minute", Sample.at)
        recent = (
            select(
                Sample.container_id,
                cast(func.extract("epoch", minute), Float),
                *(cast(func.avg(column), Float) for column in packing.COLUMNS[:_MEASURES]),
            )
            .where(Sample.container_id.in_(self._containers), Sample.at >= max(packed_until, self._since))
            .group_by(Sample.container_id, minute)
        )
        for container, *point in await tx.execute(recent):
            self._points[container].append(np.array([point], float))

    def minutes(
        self, containers: Sequence[Mapping[str, Any]], begin: datetime, end: datetime
    ) -> list[Minute]:
        """Of a session: the sum of its containers, and the highest mean of their accelerators, which is not known if
        one of them has accelerators that were not measured. containers: each with its id and slots.
        """
        tables = [table for one in containers for table in self._of_container(one["id"], one["slots"])]
        slots = queries.total(one["slots"] for one in containers)
        if not tables:
            return []
        points = np.concatenate(tables)
        points = points[(points[:, 0] >= begin.timestamp() - MINUTE_S) & (points[:, 0] < end.timestamp())]
        times, of_minute = np.unique(points[:, 0], return_inverse=True)
        sums = [np.bincount(of_minute, weights=points[:, column], minlength=len(times)) for column in (1, 2)]
        highest = np.full((2, len(times)), np.nan)
        for at, column in enumerate((3, 4)):
            np.fmax.at(highest[at], of_minute, points[:, column])
        highest[np.isinf(highest)] = np.nan
        return [
            queries.minute_of(
                slots,
                Mean(
                    datetime.fromtimestamp(at, UTC),
                    cpu,
                    mem,
                    None if np.isnan(accelerator) else accelerator,
                    None if np.isnan(accelerator_mem) else accelerator_mem,
                ),
            )
            for at, cpu, mem, accelerator, accelerator_mem in zip(
                times.tolist(), *(sums[0].tolist(), sums[1].tolist()), *highest.tolist(), strict=True
            )
        ]

    def _of_container(
        self, container: ContainerId, slots: Mapping[str, int]
    ) -> list[npt.NDArray[np.float64]]:
        """Its points; an unknown use of its accelerators is infinite, so that it hides that of others."""
        tables = self._points[container]
        if queries.is_accelerated(slots):
            tables = [table.copy() for table in tables]
            for table in tables:
                table[:, 3:5][np.isnan(table[:, 3:5])] = np.inf
        return tables
