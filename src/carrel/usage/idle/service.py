"""Use cases of idle sessions. Each starts with an authorization check."""

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import Conflict
from carrel.core.ids import SessionId
from carrel.permissions.decide import Actor
from carrel.sessions import queries as session_queries
from carrel.sessions import service as sessions
from carrel.sessions import updates
from carrel.tables.idle import SessionActivity
from carrel.tables.session_states import LIFECYCLE, SessionState
from carrel.usage.idle import queries, rules
from carrel.usage.idle.schemas import IdleRuleView, IdleView


async def show(tx: AsyncSession, clock: Clock, actor: Actor, ref: str) -> IdleView:
    """The current result of each rule for the session. Raises: NotFound, Forbidden."""
    session = await sessions.find(tx, actor, ref)
    now = clock.now()
    case = await queries.one(tx, session.id)
    known = await queries.activity(tx, session.id)
    warned_of = case.warned_of if case else None
    cases = []
    if case:
        minutes = (await queries.minutes(tx, [case], now)).get(session.id, ())
        cases = rules.findings(case.rules, case.life, minutes, now)
    return IdleView(
        session=session.id,
        active_at=known.active_at if known else None,
        kept_at=known.kept_at if known else None,
        exempt=known.exempt if known else False,
        idle_ends_at=warned_of,
        rules=[
            IdleRuleView.model_validate(rules.as_announced(one, warned_of), from_attributes=True)
            for one in cases
        ],
    )


async def keep(tx: AsyncSession, clock: Clock, actor: Actor, ref: str) -> SessionId:
    """Mark the session as in use: its idle clocks restart now. Twice: they restart again.

    Raises: NotFound, Forbidden; Conflict when it does not run.
    """
    session = await sessions.find(tx, actor, ref, "session.keep")
    # The controller that ends it takes the same lock and checks again.
    if not await session_queries.lock(tx, session.id, SessionState.RUNNING):
        raise Conflict(
            "session.not_running",
            f"{session.name} is not running.",
            details={"state": session.state},
        )
    now = clock.now()
    await _write(tx, session.id, kept_at=now)
    await updates.expect_idle_end(
        tx, session.id, None, now=now, cause="kept", reason=f"Kept by {actor.email}.", actor=actor.user_id
    )
    sessions.note(tx, actor, "session.keep", session, details={})
    return session.id


async def exempt(tx: AsyncSession, clock: Clock, actor: Actor, ref: str, *, exempt: bool) -> SessionId:
    """Exempt the session from idle rules, or revoke the exemption. No change: no-op.

    Raises: NotFound, Forbidden; Conflict when it has ended.
    """
    session = await sessions.find(tx, actor, ref, "session.exempt")
    await session_queries.lock(tx, session.id)
    await tx.refresh(session, ["state"])
    if session.state in LIFECYCLE.final:
        raise Conflict("session.ended", f"{session.name} has ended.", details={"state": session.state})
    known = await queries.activity(tx, session.id)
    before = known.exempt if known else False
    if before == exempt:
        return session.id
    # Its clocks restart when the exemption is revoked.
    now = clock.now()
    await _write(tx, session.id, exempt=exempt, kept_at=now)
    await updates.expect_idle_end(tx, session.id, None, now=now)
    details = {"before": {"exempt": before}, "after": {"exempt": exempt}}
    sessions.note(tx, actor, "session.exempt", session, details=details)
    return session.id


async def _write(tx: AsyncSession, session: SessionId, **values: object) -> None:
    await tx.execute(
        insert(SessionActivity)
        .values(session_id=session, **values)
        .on_conflict_do_update(index_elements=[SessionActivity.session_id], set_=values)
    )
