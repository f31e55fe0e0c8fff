"""The condition of accelerators: health, problem and measurements, as engines report them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import orjson
from sqlalchemy import exists, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.accelerators.port import DeviceMetrics, DeviceState, slots_of
from carrel.core.ids import EngineId, NodeId
from carrel.core.slots import thousandths_of
from carrel.engines.port import NodeInfo
from carrel.events import service as events
from carrel.nodes import device_energy
from carrel.permissions.decide import Target
from carrel.tables.nodes import DeviceCondition, Node

FRESH = timedelta(minutes=1)
"""Measurements that are older are not shown."""
_WRITTEN_EVERY = timedelta(seconds=10)
_FORGOTTEN_AFTER = timedelta(days=1)
_MISSING = "The device is missing."
AWAITS_CHECK = "It has no problem any more, and is put back after a check of it."
_LONGEST_PROBLEM = 500


@dataclass(frozen=True)
class HealthChange:
    """A device that became healthy or unhealthy, or is unhealthy when it is seen first. node_name: of its node."""

    node: NodeId
    node_name: str
    device: str
    model: str
    healthy: bool
    problem: str


# Changes of health are compared with the rows, and found in the transaction that writes them: each is found once. A
# driver that was restarted no longer lists the devices that are missing. One whose vendor's tool does not answer lists
# them by their PCI addresses.
_RECORD = text("""
WITH reporting AS (
    SELECT id, name FROM nodes WHERE engine_id = :engine AND name = ANY(:names)
), reported AS (
    SELECT n.id AS node_id, r.*
    FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r(
        node text, device text, description jsonb, healthy boolean, problem text, metrics jsonb, cleared boolean)
    JOIN reporting n ON n.name = r.node
), written AS (
    INSERT INTO device_conditions AS c (node_id, device, description, healthy, problem, since, metrics, measured_at,
        cleared_at)
    SELECT node_id, device, description, healthy, problem, CAST(:now AS timestamptz), metrics, :now,
        CASE WHEN cleared THEN CAST(:now AS timestamptz) END FROM reported ORDER BY node_id, device
    ON CONFLICT (node_id, device) DO UPDATE SET description = excluded.description, healthy = excluded.healthy,
        problem = excluded.problem, metrics = excluded.metrics, measured_at = excluded.measured_at,
        cleared_at = CASE WHEN excluded.cleared_at IS NOT NULL THEN coalesce(c.cleared_at, excluded.cleared_at) END,
        put_back = c.put_back AND excluded.cleared_at IS NOT NULL,
        since = CASE WHEN c.healthy = excluded.healthy THEN c.since ELSE excluded.since END
    WHERE c.measured_at <= :due
      OR (c.description, c.healthy, c.problem) <> (excluded.description, excluded.healthy, excluded.problem)
), missing AS (
    UPDATE device_conditions c SET healthy = FALSE, problem = :missing, since = :now, metrics = '{}',
        cleared_at = NULL, put_back = FALSE
    FROM reporting n WHERE n.id = c.node_id AND (c.healthy OR c.cleared_at IS NOT NULL) AND c.measured_at < :stale
      AND c.description->'identified' IS NULL AND NOT EXISTS (
        SELECT FROM reported r WHERE r.node_id = c.node_id AND (
            r.device = c.device OR r.description->>'pci' = nullif(c.description->>'pci', '')))
    RETURNING c.node_id, c.device, c.description, c.problem
), changed AS (
    SELECT r.node_id, r.device, r.description, r.healthy, r.problem
    FROM reported r LEFT JOIN device_conditions c USING (node_id, device)
    WHERE coalesce(c.healthy, TRUE) <> r.healthy OR c.cleared_at IS NOT NULL AND NOT r.healthy AND NOT r.cleared
    UNION ALL SELECT node_id, device, description, FALSE, problem FROM missing
)
SELECT node_id, n.name AS node_name, device, description->>'model' AS model, healthy, problem
FROM changed JOIN reporting n ON n.id = node_id ORDER BY node_name, device
""")

# What an engine offers without knowing its condition any more is not missing.
_FORGET_UNMONITORED = text("""
DELETE FROM device_conditions c
USING nodes n, jsonb_to_recordset(CAST(:unmonitored AS jsonb)) AS u(node text, device text)
WHERE n.engine_id = :engine AND n.name = u.node AND c.node_id = n.id AND c.device = u.device
""")

# What was taken out of a machine, or got another id.
_FORGET = text("""
DELETE FROM device_conditions c USING nodes n
WHERE n.id = c.node_id AND n.engine_id = :engine AND n.name = ANY(:names) AND c.measured_at < :stale
  AND (c.measured_at < :forgotten OR EXISTS (
    SELECT FROM device_conditions o WHERE o.node_id = c.node_id AND o.device <> c.device
      AND o.measured_at > c.measured_at AND o.description->>'pci' = nullif(c.description->>'pci', '')))
  AND NOT EXISTS (
    SELECT FROM allocations a WHERE a.node_id = c.node_id AND a.released_at IS NULL AND a.devices ? c.device)
""")


async def record(
    tx: AsyncSession, engine: EngineId, nodes: Sequence[NodeInfo], now: datetime
) -> Sequence[HealthChange]:
    """Store the conditions that an engine reports, and publish and return changes of health.

    Measurements are written every few seconds, without an event.
    """
    nodes = await _with_known_ids(tx, engine, nodes)
    bound = {
        "engine": engine,
        "names": [info.name for info in nodes],
        "rows": orjson.dumps([row for info in nodes for row in _rows(info)]).decode(),
        "unmonitored": orjson.dumps([row for info in nodes for row in _unmonitored(info)]).decode(),
        "now": now,
        "due": now - _WRITTEN_EVERY,
        "stale": now - FRESH,
        "missing": _MISSING,
    }
    if any(info.device_states for info in nodes):
        await device_energy.add(tx, bound)
    if any(info.devices for info in nodes):
        await tx.execute(_FORGET_UNMONITORED, bound)
    changes = [HealthChange(*row) for row in await tx.execute(_RECORD, bound)]
    await tx.execute(_FORGET, {**bound, "forgotten": now - _FORGOTTEN_AFTER})
    for change in changes:
        data = {
            "id": change.node,
            "name": change.node_name,
            "device": change.device,
            "model": change.model,
            "problem": change.problem,
        }
        kind = "node.device_healthy" if change.healthy else "node.device_unhealthy"
        await events.record(tx, kind, change.node, target=Target(), data=data)
    return changes


_KNOWN = text("""
    SELECT n.name, c.description->>'pci' AS pci, c.description->>'family' AS family, min(c.device) AS device
    FROM device_conditions c JOIN nodes n ON n.id = c.node_id
    WHERE n.engine_id = :engine AND n.name = ANY(:names) AND c.description->>'pci' = ANY(:addresses)
      AND c.device <> c.description->>'pci'
    GROUP BY 1, 2, 3 HAVING count(*) = 1
""")


async def _with_known_ids(
    tx: AsyncSession, engine: EngineId, nodes: Sequence[NodeInfo]
) -> Sequence[NodeInfo]:
    """A device out of order that is reported by its PCI address has the id that it had before: a driver that was
    restarted does not know it while the vendor's tool does not answer.
    """
    addresses = [one.device.pci for info in nodes for one in info.device_states if _lacks_id(one)]
    if not addresses:
        return nodes
    bound = {"engine": engine, "names": [info.name for info in nodes], "addresses": addresses}
    known = {(row.name, row.pci, row.family): row.device for row in await tx.execute(_KNOWN, bound)}

    def named(info: NodeInfo, state: DeviceState) -> DeviceState:
        id = known.get((info.name, state.device.pci, state.device.family), state.device.id)
        return replace(state, device=replace(state.device, id=id)) if _lacks_id(state) else state

    return [
        replace(info, device_states=tuple(named(info, state) for state in info.device_states))
        for info in nodes
    ]


def _lacks_id(state: DeviceState) -> bool:
    return not state.healthy and state.device.id == state.device.pci != ""


def _rows(info: NodeInfo) -> Iterable[dict[str, object]]:
    # One statement cannot write a row twice.
    for state in {one.device.id: one for one in info.device_states}.values():
        slots = thousandths_of(info.slot_kinds, state.device.family)
        unidentified = {} if state.identified else {"identified": False}
        yield {
            "node": info.name,
            "device": state.device.id,
            "description": {**asdict(state.device), "slots": slots, **unidentified},
            "healthy": state.healthy,
            "problem": state.problem[:_LONGEST_PROBLEM],
            "metrics": asdict(state.metrics),
            "cleared": state.problem == AWAITS_CHECK,
        }


def _unmonitored(info: NodeInfo) -> Iterable[dict[str, str]]:
    monitored = {state.device.id for state in info.device_states}
    return ({"node": info.name, "device": one.id} for one in info.devices if one.id not in monitored)


async def kept_aside(tx: AsyncSession, engine: EngineId, nodes: Sequence[NodeInfo]) -> Sequence[NodeInfo]:
    """The nodes that an engine reports, without the devices that were out of order and are not put back yet.

    Those whose condition the engine does not know, or that it does not identify, stay.
    """
    if not any(info.device_states for info in nodes):
        return nodes
    rows = await tx.execute(
        select(Node.name, DeviceCondition.device)
        .join(Node, Node.id == DeviceCondition.node_id)
        .where(Node.engine_id == engine, ~DeviceCondition.healthy, ~DeviceCondition.put_back)
    )
    aside: defaultdict[str, set[str]] = defaultdict(set)
    for name, device in rows:
        aside[name].add(device)
    return [_without(info, aside[info.name]) if info.name in aside else info for info in nodes]


def _without(info: NodeInfo, aside: Collection[str]) -> NodeInfo:
    known = {state.device.id for state in info.device_states if state.identified}
    aside = known & set(aside)
    states = tuple(
        replace(state, healthy=False, problem=AWAITS_CHECK)
        if state.healthy and state.device.id in aside
        else state
        for state in info.device_states
    )
    devices = tuple(device for device in info.devices if device.id not in aside)
    kinds = {kind.name for kind in info.slot_kinds}
    others = {slot: amount for slot, amount in info.slots.items() if slot not in kinds}
    slots = {**others, **slots_of(devices, info.slot_kinds)}
    return replace(info, devices=devices, device_states=states, slots=slots)


async def put_back(tx: AsyncSession, node: NodeId, devices: Collection[str]) -> None:
    """Offer devices again that were out of order, from the next report that has no problem of them. Twice: no-op."""
    mine = (DeviceCondition.node_id == node) & DeviceCondition.device.in_(devices)
    cleared = ~DeviceCondition.healthy & DeviceCondition.cleared_at.is_not(None)
    # In the order in which `record` writes them.
    rows = select(DeviceCondition.device).where(mine, cleared).order_by(DeviceCondition.device)
    ready = (await tx.execute(rows.with_for_update(key_share=True))).scalars().all()
    offered = DeviceCondition.device.in_(ready)
    await tx.execute(update(DeviceCondition).where(mine, cleared, offered).values(put_back=True))


async def any_unhealthy(tx: AsyncSession) -> bool:
    """True if a device is out of order."""
    return bool((await tx.execute(select(exists().where(~DeviceCondition.healthy)))).scalar())


Conditions = Mapping[str, "ReportedCondition"]
"""Of the devices of a node, by device."""


@dataclass(frozen=True)
class ReportedCondition:
    """fresh: measured in the last minute; otherwise, its metrics are not known. row: as reported last."""

    row: DeviceCondition
    fresh: bool

    @property
    def metrics(self) -> DeviceMetrics:
        known: Mapping[str, Any] = self.row.metrics if self.fresh else {}
        return DeviceMetrics(**known)

    @property
    def measured_at(self) -> datetime | None:
        """When it was measured last; None if nothing of it is measured."""
        return self.row.measured_at if any(one is not None for one in self.row.metrics.values()) else None


async def of_nodes(tx: AsyncSession, nodes: Collection[NodeId]) -> Mapping[NodeId, Conditions]:
    """The conditions of devices by node; nodes of engines that report none are omitted."""
    fresh = func.now() - DeviceCondition.measured_at <= FRESH
    rows = await tx.execute(
        select(DeviceCondition, fresh)
        .where(DeviceCondition.node_id.in_(nodes))
        .order_by(DeviceCondition.device)
        .execution_options(populate_existing=True)
    )
    conditions: defaultdict[NodeId, dict[str, ReportedCondition]] = defaultdict(dict)
    for row, is_fresh in rows:
        conditions[row.node_id][row.device] = ReportedCondition(row, is_fresh)
    return conditions


def descriptions(node: Node, conditions: Conditions) -> list[dict[str, Any]]:
    """Of all its devices: those that sessions can get, and behind them those that are out of order."""
    unhealthy = (one.row.description for one in conditions.values() if not one.row.healthy)
    return [*node.devices, *unhealthy]
