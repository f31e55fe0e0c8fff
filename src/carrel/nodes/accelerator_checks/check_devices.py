"""The devices of checks: which are free, and what the leader writes while it checks them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.accelerators.port import ShareTier
from carrel.core.cuda import DRIVER_LABEL
from carrel.core.host_names import architecture
from carrel.core.ids import AcceleratorCheckId, EngineId, NodeId
from carrel.nodes import device_conditions, ledger
from carrel.tables.accelerator_checks import AcceleratorCheck, CheckState
from carrel.tables.images import Image
from carrel.tables.nodes import IS_MACHINE, DeviceCondition, Node, NodeState

OPEN = AcceleratorCheck.ended_at.is_(None)
_AGAIN = timedelta(minutes=10)
"""Before a device that was not put back is checked again by itself."""

Device = Mapping[str, Any]
"""As in `Node.devices`."""


@dataclass(frozen=True)
class Devices:
    """Those of a node that could be checked, by id: offered ones, and those that are set aside and have no problem any
    more. free: no session holds a part of them. aside: those that are set aside.
    """

    all: Mapping[str, Device]
    free: Mapping[str, Device]
    aside: Collection[str]


@dataclass(frozen=True)
class OpenCheck:
    """An open check. engine: None: its node is gone. measured: it has its results, and containers that are left."""

    id: AcceleratorCheckId
    engine: EngineId | None
    node: str
    cancel: bool
    measured: bool


async def of_node(tx: AsyncSession, node: Node, now: datetime) -> Devices:
    """The devices of a node that exists."""
    conditions = (await device_conditions.of_nodes(tx, [node.id])).get(node.id, {})
    rows = [one.row for one in conditions.values() if one.row.cleared_at]
    aside = [row.description for row in rows if now - row.measured_at < device_conditions.FRESH]
    every: dict[str, Device] = {one["id"]: one for one in (*node.devices, *aside)}
    held = (await ledger.allocated_on_devices(tx))[node.id]
    free = {id: one for id, one in every.items() if id not in held}
    return Devices(every, free, {one["id"] for one in aside})


async def due(tx: AsyncSession) -> Sequence[OpenCheck]:
    """The open checks; those that were hindered come last."""
    rows = await tx.execute(
        select(AcceleratorCheck, Node.engine_id, Node.name, Node.forgotten_at)
        .join(Node, Node.id == AcceleratorCheck.node_id)
        .where(OPEN)
        .order_by(AcceleratorCheck.problem != "", AcceleratorCheck.created_at)
        .execution_options(populate_existing=True)
    )
    return [
        OpenCheck(one.id, None if gone else engine, name, one.cancel, bool(one.results))
        for one, engine, name, gone in rows
    ]


async def containers(tx: AsyncSession) -> frozenset[str]:
    """The ids of the containers of open checks."""
    rows = await tx.execute(select(AcceleratorCheck.containers).where(OPEN))
    return frozenset(id for own in rows.scalars() for id in own)


async def locked(tx: AsyncSession, check: AcceleratorCheckId) -> AcceleratorCheck | None:
    """The row of an open check; None: it has ended."""
    statement = select(AcceleratorCheck).where(AcceleratorCheck.id == check, OPEN).with_for_update()
    return (await tx.execute(statement.execution_options(populate_existing=True))).scalar()


async def take(tx: AsyncSession, check: AcceleratorCheckId, now: datetime) -> Mapping[str, Device] | None:
    """Take the free devices for it, or the one that was asked for; without somebody who requested it, only those that
    are set aside. The caller keeps others from placing sessions. Empty: none is free. None: it has ended or is to be
    cancelled.
    """
    row = await locked(tx, check)
    if row is None or row.cancel:
        return None
    node = (await tx.execute(select(Node).where(Node.id == row.node_id))).scalar_one()
    devices = await of_node(tx, node, now)
    several = devices.all if row.requested_by else devices.aside
    meant = {row.device} if row.device else several
    chosen = {id: one for id, one in devices.free.items() if id in meant}
    row.taken, row.state, row.started_at = list(chosen), CheckState.RUNNING, row.started_at or now
    row.problem, row.progress = "", 0.0
    row.driver = {**node.labels, **node.own_labels}.get(DRIVER_LABEL, "")[:64]
    row.image = row.image or await _image(tx, node)
    await tx.flush()
    return chosen


async def unenforced(tx: AsyncSession, check: AcceleratorCheck) -> str:
    """Why shares of devices are not enforced on its node, as sentences; empty if they are."""
    sharing = (await tx.execute(select(Node.sharing).where(Node.id == check.node_id))).scalar_one()
    if sharing and ShareTier(sharing["tier"]).is_enforced:
        return ""
    return f"Shares are not enforced on this node. {sharing['reason'] if sharing else ''}".strip()


async def to_put_back(tx: AsyncSession, now: datetime) -> Sequence[tuple[NodeId, str | None]]:
    """Nodes that are not being checked, with devices that have no problem any more and that no session holds, to be
    checked now. None: several.
    """
    mine = AcceleratorCheck.node_id == DeviceCondition.node_id
    lately = and_(
        or_(AcceleratorCheck.device == DeviceCondition.device, AcceleratorCheck.device.is_(None)),
        AcceleratorCheck.created_at > now - _AGAIN,
        AcceleratorCheck.created_at >= DeviceCondition.cleared_at,
    )
    rows = await tx.execute(
        select(DeviceCondition.node_id, func.array_agg(DeviceCondition.device))
        .join(Node, Node.id == DeviceCondition.node_id)
        .where(
            ~DeviceCondition.healthy,
            ~DeviceCondition.put_back,
            DeviceCondition.cleared_at.is_not(None),
            DeviceCondition.measured_at > now - device_conditions.FRESH,
            IS_MACHINE,
            Node.state == NodeState.READY,
            ~select(AcceleratorCheck.id).where(mine, or_(OPEN, lately)).exists(),
        )
        .group_by(DeviceCondition.node_id)
        .order_by(DeviceCondition.node_id)
    )
    cleared = rows.all()
    held = await ledger.on_devices(tx) if cleared else {}
    free = {node: [one for one in devices if one not in held.get(node, {})] for node, devices in cleared}
    return [(node, ones[0] if len(ones) == 1 else None) for node, ones in free.items() if ones]


async def _image(tx: AsyncSession, node: Node) -> str | None:
    """The one of the catalogue to check with, which runs on the node: present there, with Python, small."""
    rows = (await tx.execute(select(Image).order_by(Image.size_bytes, Image.name))).scalars().all()
    images = [one for one in rows if one.settings.enabled is not False and _runs(one, node)]
    present = set(node.images)
    ranked = sorted(images, key=lambda one: (one.reference not in present, "python" not in one.contents))
    return ranked[0].reference if ranked else None


def _runs(image: Image, node: Node) -> bool:
    built_for = {architecture(one) for one in image.architectures} - {""}
    machine = architecture(node.architecture)
    return not built_for or not machine or machine in built_for
