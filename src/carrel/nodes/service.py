"""Use cases of nodes: recording the nodes of an engine, and free capacity."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Row, column, or_, select, table, text, union, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Conflict, first_few
from carrel.core.ids import LOCAL_ENGINE, EngineId, GroupId, NodeId, new_id
from carrel.core.slots import thousandths_of
from carrel.core.units import Slots, add, subtract
from carrel.engines.port import LabelRequirement, NodeInfo
from carrel.nodes import device_conditions, ledger
from carrel.nodes.device_conditions import HealthChange
from carrel.nodes.device_snapshots import device_snapshot
from carrel.nodes.groups import elastic, membership, selectors
from carrel.nodes.groups import service as groups
from carrel.permissions.decide import Actor
from carrel.scheduling.devices import available, families
from carrel.scheduling.snapshot import DeviceSnapshot
from carrel.slot_kinds import service as slot_kinds
from carrel.tables.groups import NodeLoss, ResourceGroup
from carrel.tables.nodes import CLOSED_LENGTH, IS_KNOWN, IS_MACHINE, Node, NodeState, is_offered
from carrel.tables.session_states import ContainerState
from carrel.tables.sessions import IS_LIVE, Container, Session

SYSTEM_MEM_BYTES = 1 << 30
"""Default memory reserve for the host on machines with more than 4 GiB."""


_SEEN_EVERY = timedelta(seconds=5)
"""Minimum interval between writes of `seen_at` alone."""

# Keep the administrator's settings: group, own labels, cordon, reserve, over-commitment.
_RECORD = text("""
WITH reported AS (
    SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS f(
        id text, name text, architecture text, engine_version text, slots jsonb, reserved jsonb, devices jsonb,
        images jsonb, labels jsonb, capabilities jsonb, closed text, sharing jsonb)
), differing AS (
    SELECT f.*, (n.state, n.slots, n.labels, n.closed, n.sharing)
        IS DISTINCT FROM (:ready, f.slots, f.labels, f.closed, f.sharing) AS differs
    FROM reported f LEFT JOIN nodes n ON n.engine_id = :engine AND n.name = f.name
    WHERE n.seen_at IS NULL OR n.seen_at < :stale OR n.state <> :ready OR n.down_since IS NOT NULL
      OR (n.architecture, n.engine_version, n.slots, n.devices, n.images, n.labels, n.capabilities, n.closed,
            n.sharing)
        IS DISTINCT FROM (f.architecture, f.engine_version, f.slots, f.devices, f.images, f.labels, f.capabilities,
            f.closed, f.sharing)
), written AS (
    INSERT INTO nodes AS n (id, engine_id, name, architecture, engine_version, slots, reserved, devices, images,
        labels, capabilities, closed, sharing, state, seen_at)
    SELECT id, :engine, name, architecture, engine_version, slots, reserved, devices, images, labels, capabilities,
        closed, sharing, :ready, CAST(:now AS timestamptz)
    FROM differing
    ON CONFLICT (engine_id, name) DO UPDATE SET architecture = excluded.architecture,
        engine_version = excluded.engine_version, slots = excluded.slots, devices = excluded.devices,
        images = excluded.images, labels = excluded.labels, capabilities = excluded.capabilities,
        closed = excluded.closed, sharing = excluded.sharing, state = excluded.state, down_since = NULL,
        forgotten_at = NULL, seen_at = excluded.seen_at
    RETURNING n.id, n.name
), missing AS (
    UPDATE nodes SET state = :down, down_since = :now
    WHERE engine_id = :engine AND down_since IS NULL AND forgotten_at IS NULL AND NOT elastic
        AND name NOT IN (SELECT name FROM reported)
    RETURNING id
)
SELECT written.id FROM written JOIN differing USING (name) WHERE differs UNION ALL SELECT id FROM missing
""")


async def record(
    tx: AsyncSession, nodes: Sequence[NodeInfo], now: datetime, *, engine: EngineId = LOCAL_ENGINE
) -> Sequence[HealthChange]:
    """Store the nodes that an engine reports. Nodes it no longer reports are DOWN, and lost after a while. Returns the
    devices whose health has changed.

    Only differences are written, because engines report all the time.
    """
    nodes = await device_conditions.kept_aside(tx, engine, nodes)
    bound = {
        "engine": engine,
        "rows": orjson.dumps([_row(info) for info in nodes]).decode(),
        "now": now,
        "stale": now - _SEEN_EVERY,
        "ready": NodeState.READY.value,
        "down": NodeState.DOWN.value,
    }
    await slot_kinds.learn(tx, [kind for info in nodes for kind in info.slot_kinds])
    await membership.keep_selectors(tx)
    if changed := (await tx.execute(_RECORD, bound)).scalars().all():
        await _publish(tx, Node.id.in_(changed), left=await membership.assign(tx, changed))
    if changed := await elastic.answers(tx, engine, nodes):
        await _publish(tx, Node.id.in_(changed))
    if removed := await elastic.removed(tx, engine, now):
        await _publish(tx, Node.id.in_(removed), kind="node.removed")
    return await device_conditions.record(tx, engine, nodes, now)


async def mark_down(tx: AsyncSession, engine: EngineId) -> None:
    """Record that the engine does not respond: its nodes are closed for placement but not lost."""
    ready = (Node.engine_id == engine) & (Node.state == NodeState.READY)
    gone = await tx.execute(update(Node).where(ready).values(state=NodeState.DOWN).returning(Node.id))
    if changed := gone.scalars().all():
        await _publish(tx, Node.id.in_(changed))


@dataclass(frozen=True, slots=True)
class EngineNode:
    """A node of an engine. name: empty for that of an elastic group. closed: as of `Node`. on_loss: the rule of its
    group for sessions that the engine takes from it.
    """

    name: str
    capabilities: frozenset[str] = frozenset()
    closed: str = ""
    on_loss: NodeLoss = NodeLoss.END

    @property
    def elastic(self) -> bool:
        return not self.name


def _in_use() -> ColumnElement[bool]:
    """A condition for the nodes that exist, or have containers of live sessions: the other ones on record are those of
    past sessions, of which a cluster that adds and removes machines leaves any number.
    """
    of_live = Container.session_id.in_(select(Session.id).where(IS_LIVE))
    # A literal, as in the partial index.
    abandoned = Container.state == text(f"'{ContainerState.ABANDONED}'")
    occupied = [select(Container.node_id).where(each) for each in (of_live, abandoned)]
    return Node.id.in_(union(select(Node.id).where(IS_KNOWN), *occupied))


async def of_engine(tx: AsyncSession, engine: EngineId) -> Mapping[NodeId, EngineNode]:
    """The nodes of this engine, including those that it no longer reports while containers are on them."""
    rows = await tx.execute(
        select(Node.id, Node.name, Node.elastic, Node.capabilities, Node.closed, ResourceGroup.on_node_loss)
        .join(ResourceGroup, ResourceGroup.id == Node.group_id)
        .where(Node.engine_id == engine, _in_use())
    )
    return {
        row.id: EngineNode(
            "" if row.elastic else row.name,
            frozenset(row.capabilities),
            row.closed,
            NodeLoss(row.on_node_loss),
        )
        for row in rows
    }


def called(ref: str) -> ColumnElement[bool]:
    """A condition for the nodes that match an id, a name, or NAME@ENGINE."""
    name, at, engine = ref.rpartition("@")
    if not at:
        return or_(Node.id == ref, Node.name == ref)
    engines = select(_ENGINES.c.id).where(or_(_ENGINES.c.id == engine, _ENGINES.c.name == engine))
    return or_(Node.name == ref, (Node.name == name) & Node.engine_id.in_(engines))


def the_one(matches: Sequence[Node], ref: str) -> Node | None:
    """The single matching node. Raises: Conflict when several match."""
    if len(matches) > 1:
        if by_id := [node for node in matches if node.id == ref]:
            return by_id[0]
        ids = sorted(str(node.id) for node in matches)
        raise Conflict(
            "node.ambiguous",
            f"Several engines have a node named {ref}.",
            hint=f"Use NODE@ENGINE, or the node's id: {first_few(ids)}",
            details={"nodes": ids},
        )
    return matches[0] if matches else None


_ENGINES = table("engines", column("id"), column("name"))
"""Only the name of the engine is needed here."""


@dataclass(frozen=True)
class Address:
    """A node's engine and name. engine: None if removed. name: unique within the engine. elastic: of the node of an
    elastic group, which has no name in the engine: what its machines' labels must have. wait: for one of them.
    avoided: names of those that are cordoned.
    """

    engine: EngineId | None
    name: str
    elastic: tuple[LabelRequirement, ...] | None = None
    wait: timedelta = timedelta(0)
    avoided: frozenset[str] = frozenset()


async def addresses(tx: AsyncSession) -> dict[NodeId, Address]:
    """The engine and name of every node that exists or has containers."""
    rows = await tx.execute(
        select(Node.id, Node.engine_id, Node.name, Node.elastic, ResourceGroup.node_selector)
        .add_columns(ResourceGroup.elastic.label("settings"))
        .join(ResourceGroup, ResourceGroup.id == Node.group_id)
        .where(_in_use())
    )
    cordoned: defaultdict[EngineId | None, set[str]] = defaultdict(set)
    for engine, name in await tx.execute(select(Node.engine_id, Node.name).where(IS_MACHINE, Node.cordoned)):
        cordoned[engine].add(name)
    return {row.id: _address(row, cordoned[row.engine_id]) for row in rows}


def _address(row: Row[Any], cordoned: Iterable[str]) -> Address:
    if not row.elastic:
        return Address(row.engine_id, row.name)
    wait = timedelta(seconds=(row.settings or {}).get("wait_s", 0))
    # The group may no longer be elastic.
    requirements = selectors.parse(row.node_selector) if row.node_selector else ()
    return Address(row.engine_id, "", requirements, wait, frozenset(cordoned))


def _row(info: NodeInfo) -> dict[str, object]:
    return {
        "id": new_id(),
        "name": info.name,
        "architecture": info.architecture,
        "engine_version": info.engine,
        "slots": dict(info.slots),
        "reserved": _reserved(info.slots),
        "devices": [
            {**asdict(device), "slots": thousandths_of(info.slot_kinds, device.family)}
            for device in info.devices
        ],
        "images": sorted(info.images),
        "labels": dict(info.labels),
        "capabilities": sorted(info.capabilities),
        "closed": info.closed[:CLOSED_LENGTH],
        "sharing": asdict(info.sharing) if info.sharing else None,
    }


async def _publish(
    tx: AsyncSession,
    changed: ColumnElement[bool],
    kind: str = "node.updated",
    *,
    left: Mapping[NodeId, GroupId] | None = None,
) -> None:
    """Publish the matching nodes and wake the scheduler. left: as for `membership.announce`."""
    nodes = await tx.execute(select(Node).where(changed).execution_options(populate_existing=True))
    await membership.announce(tx, nodes.scalars().all(), kind, left=left)


async def gone(tx: AsyncSession, now: datetime) -> dict[NodeId, NodeLoss | None]:
    """The nodes that are DOWN, if they exist or have containers, with the rule for their sessions; None: still within
    the grace period.
    """
    rows = await tx.execute(
        select(
            Node.id, Node.down_since, Node.forgotten_at, ResourceGroup.on_node_loss, ResourceGroup.node_loss_s
        )
        .join(ResourceGroup, ResourceGroup.id == Node.group_id)
        .where(Node.state == NodeState.DOWN, _in_use())
    )
    return {
        row.id: NodeLoss(row.on_node_loss)
        if row.forgotten_at or (row.down_since and now - row.down_since > timedelta(seconds=row.node_loss_s))
        else None
        for row in rows
    }


async def draining(tx: AsyncSession) -> list[Node]:
    """The nodes that are draining."""
    return list((await tx.execute(select(Node).where(Node.draining.is_not(None)))).scalars())


def _reserved(slots: Slots) -> dict[str, int]:
    return {"mem": SYSTEM_MEM_BYTES} if slots.get("mem", 0) > 4 << 30 else {}


@dataclass(frozen=True)
class Resources:
    """Total and free capacity. largest: the most of each slot free on one node."""

    nodes: int
    capacity: dict[str, int]
    used: dict[str, int]
    left: dict[str, int]
    largest: dict[str, int]


async def resources(tx: AsyncSession, actor: Actor) -> Resources:
    """Sums over the READY nodes of the groups that the actor may use; of all, for superadmins. Free capacity of
    nodes that take no sessions does not count.
    """
    known = select(Node, is_offered()).where(Node.state == NodeState.READY, IS_KNOWN)
    statement = known.outerjoin(ResourceGroup, ResourceGroup.id == Node.group_id).where(groups.seen_by(actor))
    nodes = (await tx.execute(statement)).all()
    usage, on = await ledger.held(tx), await ledger.on_devices(tx)
    nothing: dict[str, int] = {"cpu": 0, "mem": 0}
    capacity, used, left, largest = nothing, nothing, nothing, nothing
    for node, offered in nodes:
        if not offered:
            continue
        there, taken = ledger.offered(node), usage.get(node.id, {})
        capacity, used = add(capacity, there), add(used, taken)
        if node.cordoned or node.closed:
            continue
        # Usage may exceed the offer after an administrator raised the reserve.
        free = {slot: max(amount, 0) for slot, amount in subtract(there, taken).items()}
        # The slots of a family share the same devices.
        devices = _devices(node, on.get(node.id, {}))
        for slot in families(devices).keys() & free.keys():
            free[slot] = min(free[slot], available(devices, slot))
        left = add(left, free)
        largest = {slot: max(largest.get(slot, 0), free.get(slot, 0)) for slot in {**largest, **free}}
    machines = sum(not node.elastic for node, _ in nodes)
    return Resources(machines, capacity, used, left, largest)


def _devices(node: Node, used: Mapping[str, int]) -> list[DeviceSnapshot]:
    return [device_snapshot(one, used.get(one["id"], 0)) for one in node.devices]
