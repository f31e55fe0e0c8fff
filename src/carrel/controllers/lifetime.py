"""Warn and end sessions at their time limit, and cancel sessions at their group's pending timeout."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import SessionId
from carrel.core.units import format_duration
from carrel.sessions import transitions, updates
from carrel.sessions.pending_since import WAITS_FOR_OTHERS, WAITS_SINCE
from carrel.tables.groups import ResourceGroup
from carrel.tables.session_states import Result, SessionState
from carrel.tables.sessions import Session, state_in
from carrel.usage.idle import rules
from carrel.usage.idle.rules import IdleAction

WARNING = "It reaches its time limit of {} in {}."
PENDING_TIMEOUT = "It was pending for {}, the limit of its resource group."


async def enforce(tx: AsyncSession, now: datetime) -> None:
    """End and cancel all sessions past their limit, and warn those that are near it."""
    for run in await _near_limit(tx, now):
        await _limit(tx, run, now)
    for session, limit_s in await _waiting_too_long(tx, now):
        await transitions.move(
            tx,
            [session],
            SessionState.CANCELLED,
            sources=[SessionState.PENDING],
            cause="pending_timeout",
            reason=PENDING_TIMEOUT.format(timedelta(seconds=limit_s)),
            now=now,
        )


async def _limit(tx: AsyncSession, run: Any, now: datetime) -> None:
    finding = rules.at_limit(run.time_limit_s, run.started_at, run.limit_used_s)
    decided = rules.decide_at_limit(finding, run.limit_ends_at, now)
    match decided.step:
        case IdleAction.END:
            await transitions.move(
                tx,
                [run.id],
                SessionState.TERMINATING,
                sources=[SessionState.RUNNING],
                outcome=SessionState.TERMINATED,
                result=Result.TIMED_OUT,
                cause="time_limit",
                reason=finding.why,
                now=now,
            )
        case IdleAction.WARN if decided.ends_at:
            left = format_duration((decided.ends_at - now).total_seconds())
            reason = WARNING.format(timedelta(seconds=run.time_limit_s), left)
            await updates.expect_limit_end(tx, run.id, decided.ends_at, now=now, reason=reason)


async def _near_limit(tx: AsyncSession, now: datetime) -> Sequence[Row[Any]]:
    """Running sessions that may have to be warned or ended."""
    statement: Select[*tuple[Any, ...]] = select(
        Session.id, Session.started_at, Session.time_limit_s, Session.limit_used_s, Session.limit_ends_at
    )
    left_s = Session.time_limit_s - Session.limit_used_s
    over = _over(left_s, Session.started_at, now + rules.LONGEST_NOTICE)
    return (await tx.execute(statement.where(state_in([SessionState.RUNNING]), *over))).all()


async def _waiting_too_long(tx: AsyncSession, now: datetime) -> Sequence[tuple[SessionId, int]]:
    """Pending sessions past the timeout of their group, each with the timeout."""
    timeout_s: Any = ResourceGroup.pending_timeout_s
    rows = await tx.execute(
        select(Session.id, timeout_s)
        .join(ResourceGroup, ResourceGroup.id == Session.group_id)
        .where(state_in([SessionState.PENDING]), *_over(timeout_s, WAITS_SINCE, now), ~WAITS_FOR_OTHERS)
    )
    return [(session, limit_s) for session, limit_s in rows]


def _over(limit_s: Any, since: ColumnElement[Any] | Any, now: datetime) -> Sequence[ColumnElement[bool]]:
    """Conditions for a limit that has passed."""
    length = func.make_interval(0, 0, 0, 0, 0, 0, limit_s)
    # No limit can have passed before this time, so few rows are read.
    return [Session.created_at + length <= now, since + length <= now]
