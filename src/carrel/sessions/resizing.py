"""Changes of the CPU and memory of running containers: stored as requests, made by the leader, in steps that any crash
may interrupt.

    request     the row has the slots to reach
    grow        the ledger has the larger of both amounts of each slot
                the engine's limits change
    settle      the ledger has exactly the new amounts

So the ledger is never below what the engine allows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import ContainerId, EngineId, NodeId, SessionId, new_id
from carrel.core.units import Slots, format_slot
from carrel.db.database import notify
from carrel.sessions import updates
from carrel.tables.nodes import TOPIC as NODE_TOPIC
from carrel.tables.nodes import Node
from carrel.tables.session_states import ContainerState, SessionState
from carrel.tables.sessions import Container, Session

TOPIC = "resizes"


@dataclass(frozen=True)
class ResizeRequest:
    """A requested change. token: of this request. before: the slots at its time. slots: those to reach. held: those in
    the ledger.
    """

    token: str
    session: SessionId
    container: ContainerId
    node: NodeId
    engine: EngineId | None
    before: Slots
    slots: Slots
    held: Slots

    @property
    def grown(self) -> dict[str, int]:
        """The ledger while the engine changes."""
        return {slot: max(amount, self.slots.get(slot, 0)) for slot, amount in self.held.items()}

    @property
    def missing(self) -> dict[str, int]:
        """What the ledger does not have yet."""
        grown = {slot: amount - self.held[slot] for slot, amount in self.grown.items()}
        return {slot: amount for slot, amount in grown.items() if amount > 0}


async def request(tx: AsyncSession, container: Container, slots: Slots) -> None:
    """Store a request; it replaces one that is not settled yet. Lock the session first."""
    before = (container.resize or {}).get("before", container.slots)
    container.resize = {"token": new_id(), "before": dict(before), "slots": dict(slots)}
    await tx.flush()
    await notify(tx, TOPIC)


async def pending(tx: AsyncSession, engine: EngineId) -> Sequence[ResizeRequest]:
    """The requests for containers that run on the engine."""
    rows = await tx.execute(
        select(Container)
        .join(Session, Session.id == Container.session_id)
        .join(Node, Node.id == Container.node_id)
        .where(
            Container.resize.is_not(None),
            Node.engine_id == engine,
            Container.state == ContainerState.RUNNING,
            Session.state == SessionState.RUNNING,
        )
        .order_by(Container.id)
    )
    return [_resize(container, engine) for container in rows.scalars()]


async def current(tx: AsyncSession, one: ResizeRequest) -> ResizeRequest | None:
    """The request as it is now, with its session locked; None if it was replaced or settled, or does not run."""
    locked = await tx.execute(
        select(Session.id)
        .where(Session.id == one.session, Session.state == SessionState.RUNNING)
        .with_for_update()
    )
    if locked.first() is None:
        return None
    row = await tx.get(Container, one.container, populate_existing=True)
    if row is None or row.state != ContainerState.RUNNING or (row.resize or {}).get("token") != one.token:
        return None
    return _resize(row, one.engine)


def _resize(container: Container, engine: EngineId | None) -> ResizeRequest:
    assert container.resize is not None
    assert container.node_id is not None
    return ResizeRequest(
        container.resize["token"],
        container.session_id,
        container.id,
        container.node_id,
        engine,
        container.resize["before"],
        container.resize["slots"],
        container.slots,
    )


async def hold(tx: AsyncSession, one: ResizeRequest, slots: Slots, now: datetime) -> None:
    """Set the slots of the container in its row, in that of its session, and in the ledger. Twice: no-op."""
    bound = {"id": one.container, "session": one.session, "now": now}
    await tx.execute(_SET, {**bound, "slots": orjson.dumps(dict(slots)).decode()})
    await tx.execute(_OF_SESSION, bound)
    released = (await tx.execute(_RELEASE, {"id": one.container, "now": now})).all()
    if released:
        rows = [{**row._mapping, "amount": slots[row.slot], **bound} for row in released]
        await tx.execute(_ENTER, rows)


_SET = text("UPDATE containers SET slots = CAST(:slots AS jsonb) WHERE id = :id")
_OF_SESSION = text("""
    UPDATE sessions s SET slots = m.slots,
        mixed = (SELECT count(DISTINCT c.slots) > 1 FROM containers c WHERE c.session_id = s.id)
    FROM containers m WHERE s.id = :session AND m.session_id = s.id AND m.index = 0
""")
# The history of the ledger has what was held when.
_RELEASE = text("""
    UPDATE allocations a SET released_at = :now FROM containers c
    WHERE a.container_id = :id AND c.id = a.container_id AND a.released_at IS NULL
        AND a.amount <> CAST(c.slots ->> a.slot AS bigint)
    RETURNING a.slot, a.node_id
""")
_ENTER = text("""
    INSERT INTO allocations (session_id, container_id, node_id, group_id, slot, amount, created_at)
    VALUES (:session, :id, :node_id, (SELECT group_id FROM sessions WHERE id = CAST(:session AS varchar)),
        :slot, :amount, :now)
""")


async def settle(tx: AsyncSession, one: ResizeRequest, now: datetime) -> None:
    """Record that the engine has the new limits."""
    await hold(tx, one, one.slots, now)
    changed = ", ".join(
        format_slot(slot, amount) for slot, amount in one.slots.items() if amount != one.before.get(slot)
    )
    await _close(tx, one, "resized", f"It has {changed} now.", now)


async def refuse(tx: AsyncSession, one: ResizeRequest, slots: Slots, reason: str, now: datetime) -> None:
    """Record that the request cannot be met. slots: those that the container has."""
    await hold(tx, one, slots, now)
    await _close(tx, one, "resize_refused", f"Its CPU and memory were not changed: {reason}", now)


async def _close(tx: AsyncSession, one: ResizeRequest, cause: str, reason: str, now: datetime) -> None:
    await tx.execute(_CLOSE, {"id": one.container})
    await updates.remark(tx, one.session, cause=cause, reason=reason, topic=NODE_TOPIC, now=now)


_CLOSE = text("UPDATE containers SET resize = NULL WHERE id = :id")
