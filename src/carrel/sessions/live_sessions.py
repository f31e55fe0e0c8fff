"""Keep or end the live sessions of an owner or project that is being removed."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict
from carrel.core.ids import SessionId
from carrel.permissions.decide import Actor, Target
from carrel.sessions import transitions
from carrel.tables.session_states import PLACED, SessionState
from carrel.tables.sessions import IS_LIVE, Session
from carrel.tables.tenancy import User
from carrel.tenancy.schemas import SessionsChoice

_NAMED = 20


@dataclass(frozen=True)
class LiveSession:
    """A live session."""

    id: SessionId
    name: str
    owner: str
    target: Target


async def keep_or_end(
    tx: AsyncSession,
    clock: Clock,
    actor: Actor,
    whose: ColumnElement[bool],
    choice: SessionsChoice | None,
    *,
    code: str,
    reason: str,
) -> list[SessionId]:
    """Keep or end the live sessions that match the condition. Returns those that end.

    choice None: there must be none. reason: recorded in their history.
    Raises: Conflict with the code, listing the sessions, if there are live ones and no choice.
    """
    live = await _live(tx, whose)
    if not live or choice is SessionsChoice.KEEP:
        return []
    if choice is None:
        raise _needs_choice(code, live)
    ids = [each.id for each in live]
    now = clock.now()
    moved = await transitions.move(
        tx,
        ids,
        SessionState.CANCELLED,
        sources=[SessionState.PENDING],
        cause="user",
        reason=reason,
        actor=actor.user_id,
        now=now,
    )
    await transitions.keep_ended(tx, ids, reason=reason)
    moved += await transitions.move(
        tx,
        ids,
        SessionState.TERMINATING,
        sources=PLACED,
        outcome=SessionState.CANCELLED,
        cause="user",
        reason=reason,
        actor=actor.user_id,
        now=now,
    )
    for each in live:
        if each.id in moved:
            audit.record(
                tx,
                actor,
                "session.remove",
                each.id,
                name=each.name,
                target=each.target,
                details={"reason": reason},
            )
    return moved


async def _live(tx: AsyncSession, whose: ColumnElement[bool]) -> list[LiveSession]:
    """The sessions, locked, so that none changes state between the two transitions above."""
    rows = await tx.execute(
        select(Session, User.email)
        .join(User, User.id == Session.owner_id)
        .where(whose, IS_LIVE)
        .order_by(Session.id)
        .with_for_update(of=Session)
    )
    return [
        LiveSession(s.id, s.name, email, Target(s.owner_id, s.project_id, s.domain_id)) for s, email in rows
    ]


def _needs_choice(code: str, live: Sequence[LiveSession]) -> Conflict:
    names = ", ".join(each.name for each in live[:3])
    rest = f" and {len(live) - 3} more" if len(live) > 3 else ""
    return Conflict(
        code,
        f"{'A session is' if len(live) == 1 else f'{len(live)} sessions are'} still live: {names}{rest}.",
        hint="Choose whether to keep or end them.",
        field="sessions",
        details={
            "live": len(live),
            "sessions": [{"id": s.id, "name": s.name, "owner": s.owner} for s in live[:_NAMED]],
        },
    )
