"""Use cases of nodes: recording what an engine has, the ledger, and what is left."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import Update, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import NodeId, SessionId, new_id
from carrel.core.units import Slots, add, subtract
from carrel.db.database import notify
from carrel.engines.port import NodeInfo
from carrel.nodes.model import Allocation, Node, NodeState
from carrel.scheduling.snapshot import Placement

SYSTEM_MEM_BYTES = 1 << 30
"""Reserved for the host itself on machines with more than 4 GiB, until an administrator says otherwise."""

TOPIC = "nodes"


async def record(tx: AsyncSession, found: Sequence[NodeInfo], now: datetime) -> None:
    """Remember what the engine has; nodes that it no longer names are DOWN."""
    before = {name: state for name, state in (await tx.execute(select(Node.name, Node.state)))}
    for info in found:
        values = {
            "architecture": info.architecture,
            "engine": info.engine,
            "slots": dict(info.slots),
            "devices": [asdict(device) for device in info.devices],
            "images": sorted(info.images),
            "labels": dict(info.labels),
            "capabilities": sorted(info.capabilities),
            "state": NodeState.READY,
            "down_since": None,
            "seen_at": now,
        }
        await tx.execute(
            insert(Node)
            .values(id=NodeId(new_id()), name=info.name, reserved=_reserved(info.slots), **values)
            .on_conflict_do_update(index_elements=[Node.name], set_=values)
        )
    names = [info.name for info in found]
    await tx.execute(_down(now).where(Node.name.not_in(names)))
    after = {name: NodeState.READY if name in names else NodeState.DOWN for name in [*before, *names]}
    if before != after:
        await notify(tx, TOPIC)


async def mark_down(tx: AsyncSession, now: datetime) -> None:
    """The engine does not answer: nothing can be placed on its nodes."""
    gone = await tx.execute(_down(now).returning(Node.id))
    if gone.first():
        await notify(tx, TOPIC)


def _down(now: datetime) -> Update:
    return update(Node).where(Node.state == NodeState.READY).values(state=NodeState.DOWN, down_since=now)


def _reserved(slots: Slots) -> dict[str, int]:
    return {"mem": SYSTEM_MEM_BYTES} if slots.get("mem", 0) > 4 << 30 else {}


def offered(node: Node) -> dict[str, int]:
    """What sessions may use of a node: without what is reserved, and with CPU over-committed."""
    slots = {slot: max(amount - node.reserved.get(slot, 0), 0) for slot, amount in node.slots.items()}
    return {**slots, "cpu": int(slots.get("cpu", 0) * node.cpu_overcommit)}


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
    tx: AsyncSession, placed: Iterable[tuple[Placement, Mapping[str, int]]], now: datetime
) -> None:
    """Enter placements into the ledger, each with the slots of one container. Only the scheduler calls this."""
    rows = [
        {
            "session_id": placement.session,
            "container": number,
            "node_id": part.node,
            "slot": slot,
            "amount": amount,
            "devices": dict(part.devices[slot]) if slot in part.devices else None,
            "created_at": now,
        }
        for placement, slots in placed
        for number, part in enumerate(placement.parts)
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
        there = offered(node)
        capacity = add(capacity, there)
        used = add(used, usage.get(node.id, {}))
        free = subtract(there, usage.get(node.id, {}))
        if free.get("cpu", 0) > largest.get("cpu", 0):
            largest = free
    return Resources(len(nodes), capacity, used, subtract(capacity, used), largest)


async def greatest_capacity(tx: AsyncSession) -> dict[str, int]:
    """The most of each slot that any one node has, in whatever state; empty before the first is known."""
    greatest: dict[str, int] = {}
    for node in (await tx.execute(select(Node))).scalars():
        for slot, amount in offered(node).items():
            greatest[slot] = max(amount, greatest.get(slot, 0))
    return greatest
