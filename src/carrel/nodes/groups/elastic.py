"""The node that stands for all machines of an elastic group, which the cluster of its engine adds and removes.

The scheduler places on it as on any node, so its capacity, the group's limit, holds for all sessions of the group. The
containers move to their machines, once these are known; what they hold stays on this node.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Invalid, NotFound
from carrel.core.ids import EngineId, GroupId, NodeId, new_id
from carrel.engines import runtimes
from carrel.engines.optional import USER_NAMESPACES
from carrel.engines.port import ELASTIC, NodeInfo
from carrel.nodes.groups import selectors
from carrel.tables.engines import EngineRow, EngineState
from carrel.tables.groups import ResourceGroup
from carrel.tables.nodes import IS_KNOWN, IS_MACHINE, Node, NodeState


async def resolve(tx: AsyncSession, given: dict[str, Any], selector: str | None) -> dict[str, Any]:
    """The settings of an elastic group, with the id of its engine. selector: of the group.

    Raises: NotFound; Invalid for an engine that does not choose nodes, or without a node selector.
    """
    ref = given["engine"]
    chosen = select(EngineRow.id, EngineRow.name).where(or_(EngineRow.id == ref, EngineRow.name == ref))
    engine = (await tx.execute(chosen)).first()
    if engine is None:
        raise NotFound("engine.not_found", f"There is no engine {ref}.", field="elastic.engine")
    machines = select(Node.capabilities).where(Node.engine_id == engine.id, IS_MACHINE)
    known = (await tx.execute(machines)).scalars().all()
    if known and not any(ELASTIC in one for one in known):
        raise Invalid(
            "group.not_elastic",
            f"{engine.name} cannot add machines: only a Kubernetes cluster has elastic groups.",
            field="elastic.engine",
        )
    if not selector:
        raise Invalid(
            "group.no_selector",
            "An elastic group needs a node selector, which says on which nodes of the cluster its sessions may run.",
            field="node_selector",
        )
    return {**given, "engine": engine.id}


async def apply(tx: AsyncSession, group: ResourceGroup, now: datetime) -> None:
    """Make its node as the group is. Twice: no-op."""
    engine = EngineId(group.elastic["engine"]) if group.elastic else None
    of_it = select(Node).where(Node.group_id == group.id, Node.elastic)
    # Of several of one engine, the last is used, which is the one that is not forgotten.
    rows = (await tx.execute(of_it.order_by(Node.forgotten_at, Node.id).with_for_update())).scalars().all()
    nodes = {node.engine_id: node for node in rows}
    for node in rows:
        if node.engine_id != engine and node.forgotten_at is None:
            await _forget(tx, node.id, now)
    if engine is None or group.elastic is None:
        return
    ready = await tx.scalar(select(EngineRow.state).where(EngineRow.id == engine)) == EngineState.READY
    node = nodes.get(engine) or Node(
        id=NodeId(new_id()),
        engine_id=engine,
        group_id=group.id,
        group_fixed=True,
        elastic=True,
        architecture="",
        engine_version="",
        capabilities=[],
        seen_at=now,
    )
    node.name, node.slots = f"elastic group {group.name}", dict(group.elastic["limit"])
    node.state = NodeState.READY if ready else NodeState.DOWN
    node.forgotten_at = node.down_since = None
    tx.add(node)
    await tx.flush()


async def forget(tx: AsyncSession, group: GroupId, now: datetime) -> None:
    """Before the group is removed: its node is no limit of the group to which it moves. Twice: no-op."""
    for node in (await tx.execute(select(Node.id).where(Node.group_id == group, Node.elastic))).scalars():
        await _forget(tx, node, now)
        await tx.execute(update(Node).where(Node.id == node).values(elastic=False, down_since=now))


async def _forget(tx: AsyncSession, node: NodeId, now: datetime) -> None:
    # Another group may get its name.
    await tx.execute(
        update(Node)
        .where(Node.id == node)
        .values(forgotten_at=now, state=NodeState.DOWN, name=f"elastic group {node}")
    )


_ANSWERS = text("""
    UPDATE nodes SET state = :ready, capabilities = CAST(:capabilities AS jsonb), down_since = NULL
    WHERE id = :id AND forgotten_at IS NULL AND (state, capabilities, down_since)
        IS DISTINCT FROM (CAST(:ready AS text), CAST(:capabilities AS jsonb), CAST(NULL AS timestamptz))
    RETURNING id
""")

# Otherwise what the cluster has removed would be listed as DOWN for ever.
_REMOVED = text("""
    UPDATE nodes n SET forgotten_at = :now FROM resource_groups g
    WHERE n.engine_id = :engine AND n.state = :down AND n.forgotten_at IS NULL AND NOT n.elastic
        AND g.id = n.group_id AND g.elastic IS NOT NULL
        AND n.down_since < :now - g.node_loss_s * interval '1 second'
        AND NOT EXISTS (SELECT FROM allocations a JOIN containers c ON c.id = a.container_id
            WHERE a.released_at IS NULL AND c.node_id = n.id)
    RETURNING n.id
""")


async def answers(tx: AsyncSession, engine: EngineId, nodes: Sequence[NodeInfo]) -> Sequence[NodeId]:
    """Record that the engine answers, with its nodes. Returns the elastic nodes that changed."""
    rows = await tx.execute(
        select(Node.id, Node.capabilities, ResourceGroup.node_selector, ResourceGroup.runtime)
        .join(ResourceGroup, ResourceGroup.id == Node.group_id)
        .where(Node.engine_id == engine, Node.elastic, IS_KNOWN)
    )
    changed: list[NodeId] = []
    for row in rows.all():
        capabilities = sorted(_capabilities(row, nodes))
        bound = {
            "id": row.id,
            "ready": NodeState.READY.value,
            "capabilities": orjson.dumps(capabilities).decode(),
        }
        changed += (await tx.execute(_ANSWERS, bound)).scalars()
    return changed


def _capabilities(group: Any, nodes: Sequence[NodeInfo]) -> frozenset[str]:
    """What all machines with its labels can do; without one, all nodes of the cluster; without one, the last.

    group: row of its node.
    """
    requirements = selectors.parse(group.node_selector) if group.node_selector else ()
    if machines := [node for node in nodes if all(one.met_by(node.labels) for one in requirements)]:
        return frozenset.intersection(*[one.capabilities for one in machines])
    known = frozenset[str](group.capabilities)
    if nodes:
        known = frozenset.intersection(*[one.capabilities for one in nodes])
    # The others depend on the machine which the cluster adds.
    own = {runtimes.capability(group.runtime)} if group.runtime and known else set[str]()
    return frozenset(one for one in known if one.partition(":")[0] != USER_NAMESPACES) | own


async def removed(tx: AsyncSession, engine: EngineId, now: datetime) -> Sequence[NodeId]:
    """Forget the machines that the cluster has removed from elastic groups, once they are lost."""
    bound = {"engine": engine, "now": now, "down": NodeState.DOWN.value}
    return (await tx.execute(_REMOVED, bound)).scalars().all()
