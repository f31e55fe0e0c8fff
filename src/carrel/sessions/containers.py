"""The containers of sessions. Only this module and `transitions` write their rows.

To change a container, lock its session first, so that the session's state is never derived from stale rows.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

import orjson
from sqlalchemy import ColumnElement, Select, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import NotFound
from carrel.core.ids import ContainerId, EngineId, NodeId, SessionId, new_id
from carrel.scheduling.snapshot import Placement
from carrel.sessions import transitions, updates
from carrel.sessions.derive import Member, derive
from carrel.sessions.spec import SessionSpec
from carrel.tables.nodes import Node
from carrel.tables.notifications import NODE_LEAVING
from carrel.tables.session_states import (
    CONTAINER_LIFECYCLE,
    PLACED,
    ContainerRole,
    ContainerState,
    OnFailure,
    SessionState,
)
from carrel.tables.sessions import Container, Session, state_in

MAIN = str(ContainerRole.MAIN)


@dataclass(frozen=True, slots=True)
class ContainerChange:
    """Fields that a state change of a container sets."""

    id: ContainerId
    address: str | None = None
    exit_code: int | None = None
    image_at: datetime | None = None
    launched_at: datetime | None = None
    image_digest: str | None = None
    image_id: str | None = None


def make(session: SessionId, spec: SessionSpec, pins: Mapping[str, str]) -> list[Container]:
    """Rows for the containers of a new session, the main one first. pins: what to start instead of an image."""
    return [
        Container(
            id=ContainerId(new_id()),
            session_id=session,
            role=ContainerRole.SUB if index else ContainerRole.MAIN,
            index=index,
            host=one.host,
            has_command=bool(one.command),
            image=pins.get(one.image, one.image),
            slots=dict(one.slots),
        )
        for index, one in enumerate(spec.container_requests)
    ]


async def in_states(tx: AsyncSession, *states: SessionState) -> Mapping[SessionId, Sequence[Container]]:
    """The containers of all sessions in these states, the main one first. One query."""
    return await _by_session(tx, Container.session_id.in_(select(Session.id).where(state_in(states))))


async def of_each(tx: AsyncSession, sessions: Iterable[SessionId]) -> Mapping[SessionId, Sequence[Container]]:
    """The containers of these sessions, the main one first. One query."""
    return await _by_session(tx, Container.session_id.in_(list(sessions)))


async def _by_session(
    tx: AsyncSession, which: ColumnElement[bool]
) -> Mapping[SessionId, Sequence[Container]]:
    rows = await tx.execute(select(Container).where(which).order_by(Container.session_id, Container.index))
    by_session: defaultdict[SessionId, list[Container]] = defaultdict(list)
    for container in rows.scalars():
        by_session[container.session_id].append(container)
    return by_session


async def ids_in_states(tx: AsyncSession, *states: SessionState) -> frozenset[ContainerId]:
    """The ids of the containers of all sessions in these states."""
    rows = await tx.execute(
        select(Container.id).join(Session, Session.id == Container.session_id).where(state_in(states))
    )
    return frozenset(rows.scalars())


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """What tells whether a container is as it should be, without the rest of its row."""

    id: ContainerId
    session: SessionId
    session_state: SessionState
    state: ContainerState
    node: NodeId | None
    address: str | None
    warned: bool = False
    """The session has the warning `NODE_LEAVING`."""


async def placed(tx: AsyncSession) -> Sequence[PlacedRow]:
    """The containers of all placed sessions. One query."""
    columns = (
        Container.id, Container.session_id, Session.state, Container.state, Container.node_id, Container.address,
        Session.warnings.contains([NODE_LEAVING]),
    )  # fmt: skip
    joined = select(*columns).join(Session, Session.id == Container.session_id)
    rows = await tx.execute(joined.where(state_in(PLACED)))
    return [
        PlacedRow(
            id_, session, SessionState(session_state), ContainerState(state), node, address, bool(warned)
        )
        for id_, session, session_state, state, node, address, warned in rows
    ]


async def of(tx: AsyncSession, session: SessionId) -> Sequence[Container]:
    """The containers of one session, the main one first."""
    rows = await tx.execute(
        select(Container).where(Container.session_id == session).order_by(Container.index)
    )
    return rows.scalars().all()


async def engine_of(tx: AsyncSession, container: ContainerId) -> EngineId | None:
    """The engine of the container's node; None while it is not placed."""
    query = (
        select(Node.engine_id).join(Container, Container.node_id == Node.id).where(Container.id == container)
    )
    return (await tx.execute(query)).scalar()


def ids_of(session: SessionId) -> Select[ContainerId]:
    """The container ids of a session, as a subquery."""
    return select(Container.id).where(Container.session_id == session)


async def named(tx: AsyncSession, session: Session, name: str | None) -> Container:
    """The container with this name, such as sub1, or id; None: the main one. Raises: NotFound."""
    own = await of(tx, session.id)
    for container in own:
        if (name or MAIN) in (container.name, container.id):
            return container
    raise NotFound(
        "container.not_found",
        f"{session.name} has no container {name}.",
        hint="It has " + ", ".join(container.name for container in own) + ".",
        field="container",
    )


_PLACE = text("""
WITH given AS (
    SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb))
        AS g(session_id text, index smallint, node_id text, devices jsonb, group_id text)
), waiting AS (
    SELECT id FROM sessions WHERE id IN (SELECT session_id FROM given) AND state = 'PENDING' ORDER BY id FOR UPDATE
), placed AS (
    UPDATE containers c SET state = 'SCHEDULED', node_id = g.node_id
    FROM given g JOIN waiting w ON w.id = g.session_id
    WHERE c.session_id = g.session_id AND c.index = g.index AND c.state = 'PENDING'
    RETURNING c.id, c.session_id, c.node_id, c.slots, g.devices, g.group_id
), entered AS (
    INSERT INTO allocations (session_id, container_id, node_id, group_id, slot, amount, devices, created_at)
    SELECT p.session_id, p.id, p.node_id, p.group_id, s.key, CAST(s.value AS bigint), p.devices -> s.key, :now
    FROM placed p, jsonb_each_text(p.slots) s WHERE CAST(s.value AS bigint) > 0
), elsewhere AS (
    UPDATE sessions s SET group_id = g.group_id FROM waiting w, given g
    WHERE s.id = w.id AND g.session_id = w.id AND g.index = 0 AND s.group_id <> g.group_id
)
SELECT DISTINCT session_id FROM placed
""")


async def place(tx: AsyncSession, placements: Iterable[Placement], now: datetime) -> list[SessionId]:
    """Assign nodes to the containers of pending sessions, and the sessions to the group of these, and record the
    allocations. Returns the sessions still pending.

    Only the scheduler calls this. Move the sessions to SCHEDULED in the same transaction.
    """
    rows = [
        {
            "session_id": one.session,
            "index": index,
            "node_id": part.node,
            "devices": part.devices,
            "group_id": one.group,
        }
        for one in placements
        for index, part in enumerate(one.parts)
    ]
    placed = await tx.execute(_PLACE, {"rows": orjson.dumps(rows).decode(), "now": now})
    return [SessionId(session) for session in placed.scalars()]


_CHANGE = text("""
WITH given AS (
    SELECT g.*, CAST(:target AS text) AS target, CAST(:now AS timestamptz) AS now
    FROM jsonb_to_recordset(CAST(:rows AS jsonb))
        AS g(id text, address text, exit_code int, image_at timestamptz, launched_at timestamptz, image_digest text,
            image_id text)
), changed AS (
    UPDATE containers c SET
        state = g.target,
        address = g.address,
        exit_code = CASE WHEN g.target = 'GONE' THEN c.exit_code ELSE g.exit_code END,
        image_at = coalesce(g.image_at, c.image_at),
        launched_at = coalesce(g.launched_at, c.launched_at),
        -- Both are of the same image: another one may have no digest.
        image_digest = CASE WHEN g.image_id IS NULL THEN c.image_digest ELSE g.image_digest END,
        image_id = coalesce(g.image_id, c.image_id),
        started_at = CASE WHEN g.target = 'RUNNING' THEN coalesce(c.started_at, g.now) ELSE c.started_at END,
        ended_at = CASE WHEN g.target IN ('EXITED', 'GONE') THEN coalesce(c.ended_at, g.now) END
    FROM given g WHERE c.id = g.id AND c.session_id = :session AND c.state = ANY(:sources)
    RETURNING c.id, c.state, c.exit_code
)
SELECT c.role, coalesce(changed.state, c.state) AS state, coalesce(changed.exit_code, c.exit_code) AS exit_code,
    c.has_command
FROM containers c LEFT JOIN changed ON changed.id = c.id WHERE c.session_id = :session
""")


async def change(
    tx: AsyncSession,
    session: SessionId,
    changes: Iterable[ContainerChange],
    target: ContainerState,
    *,
    states: Iterable[SessionState],
    cause: str,
    now: datetime,
    reason: str | None = None,
) -> bool:
    """Bring containers of one session into a state, and the session into the one that follows from it.

    Returns False and changes nothing if the session has left these states. cause, reason: of the session's
    transition, if there is one; reason None keeps the reason of a terminating session.
    """
    # 1. lock the session
    result = await tx.execute(
        select(
            Session.kind,
            Session.state,
            Session.outcome,
            Session.reason,
            Session.retries_left,
            Session.on_failure,
        )
        .where(Session.id == session, Session.state.in_(list(states)))
        .with_for_update()
    )
    if (before := result.first()) is None:
        return False
    # 2. update the containers and read all of them
    rows = await tx.execute(
        _CHANGE,
        {
            "session": session,
            "rows": orjson.dumps([asdict(one) for one in changes]).decode(),
            "target": str(target),
            "sources": sorted(map(str, CONTAINER_LIFECYCLE.sources(target))),
            "now": now,
        },
    )
    members = [
        Member(ContainerRole(row.role), ContainerState(row.state), row.exit_code, row.has_command)
        for row in rows
    ]
    # 3. derive the session's state
    outcome = SessionState(before.outcome) if before.outcome else None
    after = derive(
        before.kind,
        members,
        outcome,
        retries=before.retries_left,
        on_failure=OnFailure(before.on_failure),
    )
    if after.state != before.state:
        await transitions.move(
            tx,
            [session],
            after.state,
            sources=[SessionState(before.state)],
            outcome=after.outcome,
            result=after.result,
            cause=cause,
            reason=reason or (before.reason if outcome else None),
            now=now,
        )
    return True


async def mounted(tx: AsyncSession, session: SessionId, now: datetime) -> None:
    """Record that the folders of a session that starts can be mounted."""
    await tx.execute(_MOUNTED, {"session": session, "now": now})


_MOUNTED = text("UPDATE containers SET mounted_at = :now WHERE session_id = :session")


async def ids_of_abandoned(tx: AsyncSession) -> frozenset[ContainerId]:
    """The ids of the ABANDONED containers."""
    rows = await tx.execute(select(Container.id).where(Container.state == text("'ABANDONED'")))
    return frozenset(rows.scalars())


async def give_up(tx: AsyncSession, container: ContainerId) -> SessionId | None:
    """Record that an ABANDONED container is gone. Returns its session; None if it was not ABANDONED."""
    return (await tx.execute(_GIVE_UP, {"id": container})).scalar()


_GIVE_UP = text("""
    UPDATE containers SET state = 'GONE' WHERE id = :id AND state = 'ABANDONED' RETURNING session_id
""")


@dataclass(frozen=True, slots=True)
class MachineChange:
    """A container of an elastic group whose machine is known. elastic: the group's node, where it is until then.
    attempts: of its session, whose later starts it does not concern.
    """

    container: ContainerId
    session: SessionId
    attempts: int
    elastic: NodeId
    machine: NodeId


async def await_machine(tx: AsyncSession, waiting: Iterable[ContainerId], now: datetime) -> None:
    """Record that the cluster has no node for these containers yet. Twice: the first time counts."""
    await tx.execute(_AWAIT_MACHINE, {"ids": list(waiting), "now": now})


_AWAIT_MACHINE = text("""
    UPDATE containers SET machine_due_at = :now WHERE id = ANY(:ids) AND machine_due_at IS NULL
""")


async def put_on_machine(tx: AsyncSession, one: MachineChange, now: datetime) -> None:
    """Record the machine of a container; what it holds of the group's limit stays there. Twice: no-op."""
    moved = await tx.execute(_PUT_ON_MACHINE, {**asdict(one), "now": now})
    if moved.first():
        await updates.machine_known(tx, one.session)


_PUT_ON_MACHINE = text("""
    UPDATE containers c SET node_id = :machine, machine_at = :now FROM sessions s
    WHERE c.id = :container AND c.node_id = :elastic AND s.id = c.session_id AND s.attempts = :attempts
    RETURNING c.id
""")


async def relocate(tx: AsyncSession, addresses: Mapping[ContainerId, str | None]) -> None:
    """Update the addresses of running containers. One query: a whole cluster may get others."""
    await tx.execute(_RELOCATE, {"ids": list(addresses), "addresses": list(addresses.values())})


_RELOCATE = text("""
    UPDATE containers SET address = moved.address
    FROM unnest(CAST(:ids AS text[]), CAST(:addresses AS text[])) AS moved(id, address)
    WHERE containers.id = moved.id AND state = 'RUNNING'
""")
