"""Use cases of nodes: recording what an engine has, the ledger, and what is left."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import NodeId, SessionId, new_id
from carrel.core.units import Slots, add, subtract
from carrel.db.database import notify
from carrel.engines.port import NodeInfo
from carrel.nodes.model import Allocation, Node, NodeState

SYSTEM_MEM_BYTES = 1 << 30
"""Kept for the host itself on machines with more than 4 GiB."""

TOPIC = "nodes"


async def record(tx: AsyncSession, found: Sequence[NodeInfo], now: datetime) -> None:
    """Remember what the engine has; nodes that it no longer names are DOWN."""
    before = {name: state for name, state in (await tx.execute(select(Node.name, Node.state)))}
    for info in found:
        values = {
            "architecture": info.architecture,
            "engine": info.engine,
            "slots": offered(info.slots),
            "capabilities": sorted(info.capabilities),
            "state": NodeState.READY,
            "seen_at": now,
        }
        await tx.execute(
            insert(Node)
            .values(id=NodeId(new_id()), name=info.name, **values)
            .on_conflict_do_update(index_elements=[Node.name], set_=values)
        )
    names = [info.name for info in found]
    await tx.execute(update(Node).where(Node.name.not_in(names)).values(state=NodeState.DOWN))
    after = {name: NodeState.READY if name in names else NodeState.DOWN for name in [*before, *names]}
    if before != after:
        await notify(tx, TOPIC)


async def mark_down(tx: AsyncSession) -> None:
    """The engine does not answer: nothing can be placed on its nodes."""
    gone = await tx.execute(
        update(Node).where(Node.state == NodeState.READY).values(state=NodeState.DOWN).returning(Node.id)
    )
    if gone.first():
        await notify(tx, TOPIC)


def offered(slots: Slots) -> dict[str, int]:
    """What sessions may use of a machine."""
    mem = slots.get("mem", 0)
    return {**slots, "mem": mem - SYSTEM_MEM_BYTES if mem > 4 << 30 else mem}


async def held(tx: AsyncSession) -> dict[NodeId, dict[str, int]]:
    """Slots in use on each node that has any."""
    rows = await tx.execute(
        select(Allocation.node_id, Allocation.slot, func.sum(Allocation.amount))
        .where(Allocation.released_at.is_(None))
        .group_by(Allocation.node_id, Allocation.slot)
    )
    usage: dict[NodeId, dict[str, int]] = defaultdict(dict)
    for node_id, slot, amount in rows:
        usage[node_id][slot] = int(amount)
    return usage


async def allocate(
    tx: AsyncSession, placed: Iterable[tuple[SessionId, NodeId, Mapping[str, int]]], now: datetime
) -> None:
    """Enter placements into the ledger. Only the scheduler calls this."""
    rows = [
        {"session_id": session, "node_id": node, "slot": slot, "amount": amount, "created_at": now}
        for session, node, slots in placed
        for slot, amount in slots.items()
        if amount
    ]
    if rows:
        await tx.execute(insert(Allocation), rows)


async def release(tx: AsyncSession, session: SessionId, now: datetime) -> None:
    """Close what the session holds. Twice: no-op."""
    await tx.execute(
        update(Allocation)
        .where(Allocation.session_id == session, Allocation.released_at.is_(None))
        .values(released_at=now)
    )


@dataclass(frozen=True)
class Resources:
    """What there is and what is left. largest: the biggest single session that could start now."""

    nodes: int
    capacity: dict[str, int]
    used: dict[str, int]
    left: dict[str, int]
    largest: dict[str, int]


async def resources(tx: AsyncSession) -> Resources:
    """Sums over the nodes that are READY."""
    nodes = (await tx.execute(select(Node).where(Node.state == NodeState.READY))).scalars().all()
    usage = await held(tx)
    capacity: dict[str, int] = {"cpu": 0, "mem": 0}
    used: dict[str, int] = {"cpu": 0, "mem": 0}
    largest: dict[str, int] = {"cpu": 0, "mem": 0}
    for node in nodes:
        capacity = add(capacity, node.slots)
        used = add(used, usage.get(node.id, {}))
        free = subtract(node.slots, usage.get(node.id, {}))
        if free.get("cpu", 0) > largest.get("cpu", 0):
            largest = free
    return Resources(len(nodes), capacity, used, subtract(capacity, used), largest)


async def greatest_capacity(tx: AsyncSession) -> dict[str, int]:
    """The most of each slot that any one node has, in whatever state; empty before the first is known."""
    greatest: dict[str, int] = {}
    for slots in (await tx.execute(select(Node.slots))).scalars():
        for slot, amount in slots.items():
            greatest[slot] = max(amount, greatest.get(slot, 0))
    return greatest
