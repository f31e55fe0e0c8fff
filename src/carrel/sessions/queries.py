"""Reading sessions: by reference, by state, and what the controllers know of them."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from sqlalchemy import Select, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import undefer

from carrel.core.errors import Conflict, NotFound
from carrel.core.ids import ID_LENGTH, ContainerId, SessionId, UserId
from carrel.permissions.decide import Actor
from carrel.sessions.visibility import (
    visibility,
    visible_as_text,
)
from carrel.tables.session_states import PLACED, SessionState
from carrel.tables.sessions import IS_LIVE, Container, HistoryEntry, Session, state_in
from carrel.tables.tenancy import User

_VISIBLE = visible_as_text("s")


async def history(tx: AsyncSession, session: SessionId) -> list[tuple[HistoryEntry, str | None]]:
    """The history of a session, oldest first, with the actor's e-mail."""
    rows = await tx.execute(
        select(HistoryEntry, User.email)
        .outerjoin(User, User.id == HistoryEntry.actor)
        .where(HistoryEntry.session_id == session)
        .order_by(HistoryEntry.id)
    )
    return [(row.HistoryEntry, row.email) for row in rows]


def not_found(ref: str) -> NotFound:
    return NotFound("session.not_found", f"There is no session {ref}.", hint="See `carrel session ls --all`.")


_VISIBLE_IDS = text(f"SELECT s.id FROM sessions s WHERE s.id = ANY(:ids) AND {_VISIBLE}")  # noqa: S608


async def visible(tx: AsyncSession, actor: Actor, sessions: list[SessionId]) -> list[SessionId]:
    """The subset of the sessions that the actor may see."""
    ids = await tx.execute(_VISIBLE_IDS, {"ids": sessions, **visibility(actor)})
    return list(ids.scalars())


_NAMED_ARRAY = text(f"""
    SELECT s.id FROM session_arrays r JOIN sessions s ON s.id = r.id WHERE r.name = :ref AND {_VISIBLE}
    ORDER BY (s.owner_id = :me) DESC, EXISTS (
        SELECT FROM sessions m WHERE m.array_id = r.id AND m.ended_at IS NULL) DESC, s.created_at DESC
    LIMIT 1
""")  # noqa: S608 - no input in it


async def first_of_array(tx: AsyncSession, actor: Actor, name: str) -> SessionId | None:
    """The first session of the array with this name: the actor's own ones first, then live ones, then the newest."""
    bound = {"ref": name, "me": actor.user_id, **visibility(actor)}
    return (await tx.execute(_NAMED_ARRAY, bound)).scalar()


_RESOLVE = text(f"""
    SELECT s.id FROM sessions s WHERE {_VISIBLE} AND (s.id = :ref OR s.id LIKE :prefix OR s.name = :ref)
    ORDER BY (s.id = :ref) DESC, (s.name = :ref) DESC, (s.owner_id = :me) DESC,
        (s.ended_at IS NULL) DESC, s.created_at DESC LIMIT 3
""")  # noqa: S608 - no input in it


async def resolve(tx: AsyncSession, actor: Actor, ref: str) -> Session:
    """The session with this id, name (live ones first, then the newest) or unique id prefix.

    Raises: NotFound, Conflict when a prefix fits several.
    """
    if len(ref) == ID_LENGTH:
        exact = await tx.get(Session, ref)
        if exact:
            return exact
    prefix = f"{ref}%" if len(ref) >= 3 and ref.isalnum() else ""
    bound = {"ref": ref, "prefix": prefix, "me": actor.user_id, **visibility(actor)}
    sessions = [await tx.get_one(Session, row.id) for row in await tx.execute(_RESOLVE, bound)]
    if not sessions:
        raise not_found(ref)
    if sessions[0].name != ref and len(sessions) > 1:
        raise Conflict(
            "session.ambiguous",
            f"{ref} matches several sessions.",
            hint="Use more characters of the id.",
            details={"ids": [session.id for session in sessions]},
        )
    return sessions[0]


async def by_idempotency_key(tx: AsyncSession, owner: UserId, key: str) -> SessionId | None:
    """The session created earlier with this idempotency key."""
    result = await tx.execute(
        select(Session.id).where(Session.owner_id == owner, Session.idempotency_key == key)
    )
    return result.scalar_one_or_none()


async def in_states(tx: AsyncSession, *states: SessionState) -> list[Session]:
    """Sessions in these states, oldest first."""
    return list((await tx.execute(_in_order(states))).scalars())


async def placed_among(tx: AsyncSession, some: Collection[SessionId]) -> list[Session]:
    """Those of these sessions that are placed."""
    rows = await tx.execute(select(Session).where(Session.id.in_(some), state_in(PLACED)))
    return list(rows.scalars())


async def with_containers_to_remove(tx: AsyncSession) -> list[Session]:
    """Terminating sessions, and those that were ended by force and have ABANDONED containers; oldest first."""
    abandoned = select(Container.session_id).where(Container.state == text("'ABANDONED'"))
    terminating = select(Session.id).where(Session.state == text("'TERMINATING'"))
    query = select(Session).where(Session.id.in_(terminating.union_all(abandoned)))
    return list((await tx.execute(query.order_by(Session.created_at, Session.id))).scalars())


async def with_specs(tx: AsyncSession, *states: SessionState) -> list[Session]:
    """Sessions in these states with their specs, oldest first."""
    rows = await tx.execute(_in_order(states).options(undefer(Session.spec)))
    return list(rows.scalars())


def _in_order(states: Iterable[SessionState]) -> Select[Session]:
    return select(Session).where(state_in(states)).order_by(Session.created_at, Session.id)


_REASONS = text("SELECT id, reason, queue_position FROM sessions WHERE id = ANY(:ids)")


async def reasons_of_pending(
    tx: AsyncSession, sessions: Sequence[SessionId]
) -> dict[SessionId, tuple[str | None, int | None]]:
    """The last published reason and queue position of each of these sessions."""
    rows = await tx.execute(_REASONS, {"ids": sessions})
    return {row.id: (row.reason, row.queue_position) for row in rows}


async def lock(tx: AsyncSession, session: SessionId, *states: SessionState) -> bool:
    """Lock the session until the transaction ends; False if it is in none of these states.

    states: any, when empty.
    """
    statement = select(Session.id).where(Session.id == session).with_for_update()
    if states:
        statement = statement.where(Session.state.in_(states))
    return (await tx.execute(statement)).first() is not None


Mark = tuple[SessionState, int, int]
"""State, attempts and restarts: equal at two points in time means that the session stayed in that state."""


def mark(session: Session) -> Mark:
    return SessionState(session.state), session.attempts, session.restarts


async def marks(tx: AsyncSession, also: Collection[SessionId]) -> dict[SessionId, Mark]:
    """The `mark` of each placed session, and of these other ones."""
    which = or_(state_in(PLACED), Session.id.in_(also)) if also else state_in(PLACED)
    rows = await tx.execute(
        select(Session.id, Session.state, Session.attempts, Session.restarts).where(which)
    )
    return {row.id: (SessionState(row.state), row.attempts, row.restarts) for row in rows}


async def live_with(tx: AsyncSession, some: Collection[ContainerId]) -> list[Session]:
    """The live sessions that have any of these containers."""
    owners = select(Container.session_id).where(Container.id.in_(some))
    rows = await tx.execute(select(Session).where(Session.id.in_(owners), IS_LIVE))
    return list(rows.scalars())


async def failed_starts(tx: AsyncSession, session: SessionId, cause: str) -> int:
    """How many starts failed with this cause and were retried since the session last ran."""
    entry = HistoryEntry
    ran = (
        select(func.max(entry.id))
        .where(entry.session_id == session, entry.to_state == SessionState.RUNNING)
        .scalar_subquery()
    )
    failed = await tx.execute(
        select(func.count()).where(
            entry.session_id == session,
            entry.to_state == SessionState.PENDING,
            entry.cause == cause,
            entry.id > func.coalesce(ran, 0),
        )
    )
    return failed.scalar_one()


EVICTED = "evicted"
"""The cause of an eviction in the history."""


async def restarts_since(
    tx: AsyncSession, sessions: Iterable[SessionId], since: datetime
) -> dict[SessionId, int]:
    """Restarts of each of these sessions since then, and evictions; sessions without one are omitted."""
    rows = await tx.execute(
        select(HistoryEntry.session_id, func.count())
        .where(
            HistoryEntry.session_id.in_(list(sessions)),
            HistoryEntry.from_state == SessionState.RUNNING,
            or_(HistoryEntry.to_state == SessionState.STARTING, HistoryEntry.cause == EVICTED),
            HistoryEntry.at > since,
        )
        .group_by(HistoryEntry.session_id)
    )
    return {session: count for session, count in rows}


async def with_bootstrap(tx: AsyncSession, sessions: Iterable[SessionId]) -> frozenset[SessionId]:
    """Those of the sessions that have a bootstrap script."""
    rows = await tx.execute(
        select(Session.id).where(Session.id.in_(list(sessions)), Session.spec.has_key("bootstrap"))
    )
    return frozenset(rows.scalars())


async def overdue(tx: AsyncSession, now: datetime) -> list[Session]:
    """Sessions in a transitional state past its deadline."""
    rows = await tx.execute(select(Session).where(IS_LIVE, Session.deadline < now))
    return list(rows.scalars())
