"""Waiting for a machine that the cluster of an elastic group adds: how long it took before, and why one waits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import GroupId, SessionId
from carrel.core.units import format_duration
from carrel.tables.sessions import Container, Session

_LAST = 10
"""The history is of the last waits."""


@dataclass(frozen=True)
class AwaitedMachine:
    """since: when the cluster first had no node. expected_at: by the last waits; None: there were none."""

    since: datetime
    expected_at: datetime | None


async def last_waits(tx: AsyncSession, group: GroupId) -> Sequence[timedelta]:
    """How long containers in the group waited for machines that came, the last ones."""
    rows = await tx.execute(
        select(Container.machine_due_at, Container.machine_at)
        .join(Session, Session.id == Container.session_id)
        .where(
            Session.group_id == group,
            Container.machine_at.is_not(None),
            Container.machine_due_at.is_not(None),
        )
        .order_by(Container.machine_at.desc())
        .limit(_LAST)
    )
    return [row.machine_at - row.machine_due_at for row in rows]


async def awaited_by(tx: AsyncSession, session: SessionId, group: GroupId) -> AwaitedMachine | None:
    """The machine that a session waits for; None if it waits for none."""
    since = await tx.scalar(
        select(Container.machine_due_at)
        .where(
            Container.session_id == session,
            Container.machine_due_at.is_not(None),
            Container.machine_at.is_(None),
        )
        .order_by(Container.machine_due_at)
        .limit(1)
    )
    if since is None:
        return None
    waits = await last_waits(tx, group)
    return AwaitedMachine(since, since + _median(waits) if waits else None)


def awaited(waits: Sequence[timedelta], message: str) -> str:
    """Why a session waits. waits: the last ones. message: of the engine."""
    if not waits:
        took = "how long that takes is not known yet"
    elif len(waits) == 1:
        took = f"that took {_written(waits[0])} the last time"
    else:
        took = f"the median of the last {len(waits)} times is {_written(_median(waits))}"
    return f"A machine is being added; {took}. {message}"


def none_added(wait: timedelta, message: str) -> str:
    """Why a start has ended."""
    return f"No machine was added within {_written(wait)}. {message}"


def _median(waits: Sequence[timedelta]) -> timedelta:
    return timedelta(seconds=median(wait.total_seconds() for wait in waits))


def _written(wait: timedelta) -> str:
    return format_duration(max(round(wait.total_seconds()), 1))
