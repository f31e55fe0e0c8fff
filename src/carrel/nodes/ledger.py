"""The ledger: slots and devices that containers hold on nodes, as sums over allocations."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Select, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import ContainerId, NodeId
from carrel.core.slots import WHOLE
from carrel.engines import runtimes
from carrel.engines.optional import NETWORK_POLICY, USER_NAMESPACES
from carrel.tables.nodes import Allocation, Node, NodeState

_ISOLATING = {NETWORK_POLICY, USER_NAMESPACES}
_LACKS = {NETWORK_POLICY: "does not enforce network policies"}


def offered(node: Node) -> dict[str, int]:
    """Capacity of a node for sessions, with reserve and CPU over-commitment applied."""
    slots = {slot: max(amount - node.reserved.get(slot, 0), 0) for slot, amount in node.slots.items()}
    return {**slots, "cpu": int(slots.get("cpu", 0) * node.cpu_overcommit)}


def closed(node: Node, required: Collection[str], runtime: str | None) -> str:
    """Why nothing new is placed on a node, for `NodeSnapshot.closed`; empty if it is open. required: capabilities.
    runtime: of the containers; None: the engine's usual one.

    Of an elastic group nothing is known before its cluster has had a node, so only what isolates sessions is required.
    """
    if node.state != NodeState.READY:
        return "not ready"
    if node.cordoned or node.closed:
        return "cordoned" if node.cordoned else node.closed
    lacks = set(runtimes.required(required, runtime)) - set(node.capabilities)
    if node.elastic and not node.capabilities:
        lacks = {one for one in lacks if one.partition(":")[0] in _ISOLATING}
    missing = min(lacks, default="")
    return _LACKS.get(missing) or runtimes.lacking(missing) if missing else ""


HELD = """
    SELECT node_id, slot, sum(amount) AS amount FROM allocations WHERE released_at IS NULL GROUP BY 1, 2
    UNION ALL
    SELECT c.node_id, a.slot, sum(a.amount) FROM nodes e JOIN allocations a ON a.node_id = e.id
        JOIN containers c ON c.id = a.container_id
    WHERE e.elastic AND a.released_at IS NULL AND c.node_id <> e.id GROUP BY 1, 2
"""
"""What is held, by node and slot; two rows for one node of both kinds."""
_HELD = text(HELD)


_NOT_OFFERED = text("""
    SELECT a.node_id, a.slot, -sum(a.amount * part.lost / part.total) AS amount
    FROM allocations a JOIN nodes n ON n.id = a.node_id
    CROSS JOIN LATERAL (
        SELECT sum(CAST(d.value AS bigint)) AS total, sum(CAST(d.value AS bigint)) FILTER (
            WHERE NOT n.devices @> jsonb_build_array(jsonb_build_object('id', d.key))) AS lost
        FROM jsonb_each_text(a.devices) d
    ) part
    WHERE a.released_at IS NULL AND a.devices IS NOT NULL AND part.lost > 0 GROUP BY 1, 2
""")


async def held(tx: AsyncSession) -> dict[NodeId, dict[str, int]]:
    """Allocated slots by node; nodes without allocations are omitted. What is held of the limit of an elastic group
    counts on the machine too, once that is known. Devices that are out of order do not count: the capacity lacks them.
    """
    usage: defaultdict[NodeId, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for statement in (_HELD, _NOT_OFFERED):
        for node_id, slot, amount in await tx.execute(statement):
            usage[node_id][slot] += int(amount)
    return {node: dict(slots) for node, slots in usage.items()}


OF_CHECKS = f"""
    SELECT c.node_id, t.device, {WHOLE} AS amount FROM accelerator_checks c, unnest(c.taken) AS t(device)
    WHERE c.ended_at IS NULL
"""  # noqa: S608 - no input in it
"""The whole devices that checks of accelerators have, by node and device."""


async def on_devices(tx: AsyncSession) -> Mapping[NodeId, Mapping[str, int]]:
    """Thousandths by device and node that sessions hold, or checks; nodes without any are omitted."""
    used = await allocated_on_devices(tx)
    for node, device, amount in await tx.execute(text(OF_CHECKS)):
        used[node][device] += amount
    return used


async def allocated_on_devices(tx: AsyncSession) -> defaultdict[NodeId, defaultdict[str, int]]:
    """Allocated thousandths by device and node; nodes without any are omitted."""
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
    tx: AsyncSession, containers: Iterable[ContainerId]
) -> Mapping[ContainerId, Mapping[str, int]]:
    """Device allocations of each container, in thousandths; containers without any are omitted."""
    rows = await tx.execute(
        select(Allocation.container_id, Allocation.devices).where(
            Allocation.container_id.in_(list(containers)),
            Allocation.released_at.is_(None),
            Allocation.devices.is_not(None),
        )
    )
    by_container: defaultdict[ContainerId, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for container, devices in rows:
        for device, amount in (devices or {}).items():
            by_container[container][device] += amount
    return by_container


async def release(
    tx: AsyncSession, containers: Sequence[ContainerId] | Select[ContainerId], now: datetime
) -> None:
    """Release the allocations of the containers. Twice: no-op."""
    await tx.execute(
        update(Allocation)
        .where(Allocation.container_id.in_(containers), Allocation.released_at.is_(None))
        .values(released_at=now)
    )
