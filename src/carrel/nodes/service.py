"""Use cases of nodes: recording what an engine has, the ledger, and what is left."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import NodeId, SessionId, new_id
from carrel.core.units import Slots, add, subtract
from carrel.db.database import notify
from carrel.engines.port import NodeInfo
from carrel.events import service as events
from carrel.groups.model import NodeLoss, ResourceGroup
from carrel.groups.service import may_use
from carrel.nodes.model import Allocation, Node, NodeState
from carrel.policy.actions import Role
from carrel.policy.decide import Actor, Target
from carrel.scheduling.snapshot import Placement

SYSTEM_MEM_BYTES = 1 << 30
"""Reserved for the host itself on machines with more than 4 GiB, until an administrator says otherwise."""

TOPIC = "nodes"


async def record(tx: AsyncSession, found: Sequence[NodeInfo], now: datetime) -> None:
    """Remember what the engine has; nodes that it no longer names are DOWN, and lost after a while."""
    before = {row.name: (row.state, row.slots) for row in await tx.execute(_LOOK)}
    if found:
        fresh = insert(Node)
        # What an administrator set stays: the group, the cordon, the reserve, the over-commitment.
        said = {name: fresh.excluded[name] for name in _SAID_BY_ENGINE}
        upsert = fresh.on_conflict_do_update(index_elements=[Node.name], set_=said)
        await tx.execute(upsert, [_row(info, now) for info in found])
    missing = Node.name.not_in([info.name for info in found])
    await tx.execute(
        update(Node).where(missing, Node.down_since.is_(None)).values(state=NodeState.DOWN, down_since=now)
    )
    after = {row.name: (row.state, row.slots) for row in await tx.execute(_LOOK)}
    await _tell(tx, Node.name.in_([name for name in after if after[name] != before.get(name)]))


async def mark_down(tx: AsyncSession) -> None:
    """The engine does not answer: nothing can be placed on its nodes, and none of them is lost for that."""
    ready = Node.state == NodeState.READY
    gone = await tx.execute(update(Node).where(ready).values(state=NodeState.DOWN).returning(Node.id))
    await _tell(tx, Node.id.in_(gone.scalars().all()))


_LOOK = select(Node.name, Node.state, Node.slots)
_SAID_BY_ENGINE = (
    "architecture", "engine", "slots", "devices", "images", "labels", "capabilities", "state", "down_since", "seen_at",
)  # fmt: skip


def _row(info: NodeInfo, now: datetime) -> dict[str, object]:
    return {
        "id": new_id(),
        "name": info.name,
        "architecture": info.architecture,
        "engine": info.engine,
        "slots": dict(info.slots),
        "reserved": _reserved(info.slots),
        "devices": [asdict(device) for device in info.devices],
        "images": sorted(info.images),
        "labels": dict(info.labels),
        "capabilities": sorted(info.capabilities),
        "state": NodeState.READY,
        "down_since": None,
        "seen_at": now,
    }


async def _tell(tx: AsyncSession, changed: ColumnElement[bool]) -> None:
    """Tell pages and the scheduler of the nodes that the condition names, if there are any."""
    nodes = (
        (await tx.execute(select(Node).where(changed).execution_options(populate_existing=True)))
        .scalars()
        .all()
    )
    if nodes:
        await announce(tx, nodes)


async def announce(tx: AsyncSession, changed: Iterable[Node]) -> None:
    """Tell pages what these nodes are now, and have the scheduler look again."""
    for node in changed:
        data = {
            "id": node.id,
            "name": node.name,
            "state": node.state,
            "cordoned": node.cordoned,
            "draining": node.draining,
            "group_id": node.group_id,
        }
        await events.record(tx, "node.updated", node.id, target=Target(), data=data)
    await notify(tx, TOPIC)


async def gone(tx: AsyncSession, now: datetime) -> dict[NodeId, NodeLoss | None]:
    """The nodes that are DOWN, with what becomes of their sessions; None: they may come back yet."""
    rows = await tx.execute(
        select(Node.id, Node.down_since, ResourceGroup.on_node_loss, ResourceGroup.node_loss_s)
        .join(ResourceGroup, ResourceGroup.id == Node.group_id)
        .where(Node.state == NodeState.DOWN)
    )
    return {
        row.id: NodeLoss(row.on_node_loss)
        if row.down_since and now - row.down_since > timedelta(seconds=row.node_loss_s)
        else None
        for row in rows
    }


async def draining(tx: AsyncSession) -> list[Node]:
    """The nodes that are being emptied."""
    return list((await tx.execute(select(Node).where(Node.draining.is_not(None)))).scalars())


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


async def on_devices(tx: AsyncSession) -> Mapping[NodeId, Mapping[str, int]]:
    """Thousandths of each device in use, on each node where some are."""
    rows = await tx.execute(
        select(Allocation.node_id, Allocation.devices).where(
            Allocation.released_at.is_(None), Allocation.devices.is_not(None)
        )
    )
    used: defaultdict[NodeId, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for node, devices in rows:
        for device, amount in (devices or {}).items():
            used[node][device] += amount
    return used


async def devices_of(
    tx: AsyncSession, sessions: Iterable[SessionId]
) -> Mapping[SessionId, Mapping[str, int]]:
    """What each of the sessions holds of devices, in thousandths; those that hold none are left out."""
    rows = await tx.execute(
        select(Allocation.session_id, Allocation.devices).where(
            Allocation.session_id.in_(list(sessions)),
            Allocation.released_at.is_(None),
            Allocation.devices.is_not(None),
        )
    )
    found: defaultdict[SessionId, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for session, devices in rows:
        for device, amount in (devices or {}).items():
            found[session][device] += amount
    return found


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


async def resources(tx: AsyncSession, actor: Actor) -> Resources:
    """Sums over the nodes that are READY, of the groups that the actor may use; of all, for superadmins.

    What is free on a cordoned node is not left: nothing can start there.
    """
    wanted = select(Node).where(Node.state == NodeState.READY)
    if actor.role != Role.SUPERADMIN:
        usable = may_use(actor.user_id, actor.domain_id, sorted(actor.projects))
        wanted = wanted.join(ResourceGroup, ResourceGroup.id == Node.group_id).where(usable)
    nodes = (await tx.execute(wanted)).scalars().all()
    usage = await held(tx)
    nothing: dict[str, int] = {"cpu": 0, "mem": 0}
    capacity, used, left, largest = nothing, nothing, nothing, nothing
    for node in nodes:
        there, taken = offered(node), usage.get(node.id, {})
        capacity, used = add(capacity, there), add(used, taken)
        if node.cordoned:
            continue
        # More may be held than is offered since an administrator reserved some.
        free = {slot: max(amount, 0) for slot, amount in subtract(there, taken).items()}
        left = add(left, free)
        if free.get("cpu", 0) > largest.get("cpu", 0):
            largest = free
    return Resources(len(nodes), capacity, used, left, largest)
