"""Store what becomes of sessions whose containers are removed: requeued, ended, or ended by force."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import ContainerId, NodeId, SessionId
from carrel.nodes import ledger
from carrel.permissions.decide import Actor
from carrel.sessions import containers, queries, transitions, updates
from carrel.sessions.containers import ContainerChange
from carrel.tables.session_states import LAUNCHING, LIFECYCLE, ContainerState, SessionState
from carrel.tables.sessions import Session

_NOTE_LEFTOVERS = text("""
    INSERT INTO session_history (session_id, at, from_state, to_state, cause, reason)
    SELECT s.id, :now, s.state, s.state, 'left_behind', 'Until the engine confirms their removal, these may remain: '
        || string_agg(CASE WHEN c.index = 0 THEN 'main' ELSE c.host END || coalesce(' on ' || n.name, ''), ', '
            ORDER BY c.index) || '.'
    FROM sessions s JOIN containers c ON c.session_id = s.id LEFT JOIN nodes n ON n.id = c.node_id
    WHERE s.id = ANY(:ids) AND c.state = 'ABANDONED' GROUP BY s.id
""")


async def requeue(
    tx: AsyncSession,
    session: SessionId,
    *,
    cause: str,
    reason: str,
    now: datetime,
    not_before: datetime | None = None,
    blamed: NodeId | None = None,
) -> None:
    """Requeue a session whose containers are removed, preferably onto other nodes, and release its slots.

    blamed: the node where it could not start; None: it avoids all of them.
    """
    moved = await transitions.move(
        tx,
        [session],
        SessionState.PENDING,
        sources=LAUNCHING,
        cause=cause,
        reason=reason,
        now=now,
        not_before=not_before,
        blamed=blamed,
    )
    if moved:
        await ledger.release(tx, containers.ids_of(session), now)


async def remove_container(
    tx: AsyncSession, session: SessionId, container: ContainerId, *, cause: str, now: datetime
) -> None:
    """Record that the engine removed a container of a terminating session, and release its slots. With the last
    container the session reaches its final state. Twice: no-op.
    """
    gone, states = [ContainerChange(container)], [SessionState.TERMINATING]
    if await containers.change(tx, session, gone, ContainerState.GONE, states=states, cause=cause, now=now):
        await ledger.release(tx, [container], now)


async def finish(tx: AsyncSession, session: SessionId, *, cause: str, reason: str, now: datetime) -> None:
    """Move a TERMINATING session to its final state, even if containers remain, and release its slots."""
    outcome = next(iter(await _outcomes(tx, [session])), None)
    if outcome is None:
        return
    if outcome == SessionState.SCHEDULED:
        # What may remain of it must not be taken for the restarted session.
        outcome = SessionState.PENDING
    await transitions.move(
        tx,
        [session],
        outcome,
        sources=[SessionState.TERMINATING],
        cause=cause,
        reason=reason,
        now=now,
    )
    await ledger.release(tx, containers.ids_of(session), now)


async def abandon(tx: AsyncSession, sessions: Collection[SessionId], actor: Actor, now: datetime) -> None:
    """Move TERMINATING sessions to their final states; their containers may remain, and keep their slots."""
    for outcome, ended in (await _outcomes(tx, sessions)).items():
        await transitions.move(
            tx,
            ended,
            outcome,
            sources=[SessionState.TERMINATING],
            cause="forced",
            reason=f"Ended by {actor.email} by force.",
            actor=actor.user_id,
            abandon=True,
            now=now,
        )
        await tx.execute(_NOTE_LEFTOVERS, {"ids": list(ended), "now": now})


async def release_abandoned(tx: AsyncSession, container: ContainerId, now: datetime) -> None:
    """Record that the engine removed a container of a session that was ended by force, and release its slots. Twice:
    no-op.
    """
    if session := await containers.give_up(tx, container):
        await ledger.release(tx, [container], now)
        await updates.announce(tx, session, SessionState.TERMINATED)


async def end_in_a_copy(tx: AsyncSession, now: datetime) -> None:
    """End every live session in the database without touching containers. For a copy of an installation: the
    containers belong to the original and keep running there.
    """
    cause, reason = "copied", "It runs in the installation that this one was copied from."
    for session in await queries.in_states(tx, *sorted(LIFECYCLE.live)):
        if session.state == SessionState.PENDING:
            await transitions.move(
                tx, [session.id], SessionState.CANCELLED, cause=cause, reason=reason, now=now
            )
        else:
            await transitions.terminate(tx, [session.id], cause=cause, reason=reason, now=now)
            await finish(tx, session.id, cause=cause, reason=reason, now=now)


async def _outcomes(
    tx: AsyncSession, sessions: Collection[SessionId]
) -> Mapping[SessionState, Collection[SessionId]]:
    """Those of the sessions that are TERMINATING, by the state they end in, which may have changed meanwhile. Locks
    them.
    """
    statement = select(Session.id, Session.outcome).where(
        Session.id.in_(sessions), Session.state == SessionState.TERMINATING
    )
    by_outcome = defaultdict[SessionState, list[SessionId]](list)
    for session, outcome in await tx.execute(statement.order_by(Session.id).with_for_update()):
        if outcome:
            by_outcome[SessionState(outcome)].append(session)
    return by_outcome
