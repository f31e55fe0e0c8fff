"""End sessions at their time limit, and cancel sessions at their group's pending timeout."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import SessionId
from carrel.sessions import transitions
from carrel.sessions.pending_since import WAITS_FOR_OTHERS, WAITS_SINCE
from carrel.tables.groups import ResourceGroup
from carrel.tables.session_states import Result, SessionState
from carrel.tables.sessions import Session

TIME_LIMIT = "It reached its time limit of {}."
PENDING_TIMEOUT = "It was pending for {}, the limit of its resource group."


async def enforce(tx: AsyncSession, now: datetime) -> None:
    """End and cancel all sessions past their limit."""
    runs = await _over(tx, SessionState.RUNNING, Session.time_limit_s, Session.started_at, now)
    for session, limit_s in runs:
        await transitions.move(
            tx,
            [session],
            SessionState.TERMINATING,
            sources=[SessionState.RUNNING],
            outcome=SessionState.TERMINATED,
            result=Result.TIMED_OUT,
            cause="time_limit",
            reason=TIME_LIMIT.format(_in_words(limit_s)),
            now=now,
        )
    waits = await _over(
        tx, SessionState.PENDING, ResourceGroup.pending_timeout_s, WAITS_SINCE, now, ~WAITS_FOR_OTHERS
    )
    for session, limit_s in waits:
        await transitions.move(
            tx,
            [session],
            SessionState.CANCELLED,
            sources=[SessionState.PENDING],
            cause="pending_timeout",
            reason=PENDING_TIMEOUT.format(_in_words(limit_s)),
            now=now,
        )


async def _over(
    tx: AsyncSession,
    state: SessionState,
    limit_s: Any,
    since: ColumnElement[Any] | Any,
    now: datetime,
    *conditions: ColumnElement[bool],
) -> Sequence[tuple[SessionId, int]]:
    """Sessions of the state past their limit, each with the limit."""
    rows = await tx.execute(
        select(Session.id, limit_s)
        .join(ResourceGroup, ResourceGroup.id == Session.group_id)
        .where(
            Session.state == state,
            # No limit can have passed before this time, so few rows are read.
            Session.created_at + func.make_interval(0, 0, 0, 0, 0, 0, limit_s) <= now,
            since + func.make_interval(0, 0, 0, 0, 0, 0, limit_s) <= now,
            *conditions,
        )
    )
    return [(session, limit) for session, limit in rows]


def _in_words(seconds: int) -> str:
    return str(timedelta(seconds=seconds))
