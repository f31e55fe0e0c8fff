"""The devices of all nodes: few fields of each, because there may be tens of thousands."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.nodes import ledger, queries
from carrel.nodes.device_schemas import DeviceQuery, DeviceUse, NodeDeviceList, NodeDevices
from carrel.nodes.groups.schemas import GroupRef
from carrel.nodes.groups.service import seen_by
from carrel.permissions.decide import Actor
from carrel.tables.groups import ResourceGroup
from carrel.tables.nodes import IS_MACHINE, Node, NodeState


async def all_devices(tx: AsyncSession, actor: Actor, query: DeviceQuery) -> NodeDeviceList:
    """The devices of the nodes that the actor may see. Raises: Forbidden if only administrators may see nodes."""
    await queries.require_shown(tx, actor)
    rows = await tx.execute(
        select(Node.id, Node.name, Node.group_id, Node.state, Node.cordoned, Node.closed, Node.devices)
        .add_columns(ResourceGroup.name.label("group_name"))
        .join(ResourceGroup, ResourceGroup.id == Node.group_id)
        .where(seen_by(actor), IS_MACHINE, func.jsonb_array_length(Node.devices) > 0)
        .order_by(func.lower(ResourceGroup.name), Node.name, Node.id)
    )
    nodes = rows.all()
    used = await ledger.on_devices(tx)
    views = [_view(row, used.get(row.id, {}), query.family) for row in nodes if _is_in(row, query.group)]
    families = {device["family"] for row in nodes for device in row.devices}
    return NodeDeviceList(items=[one for one in views if one.devices], families=sorted(families))


def _is_in(row: Row[Any], group: str | None) -> bool:
    return not group or row.group_id == group or row.group_name.lower() == group.lower()


def _view(row: Row[Any], used: Mapping[str, int], family: str | None) -> NodeDevices:
    devices = [one for one in row.devices if family in (None, one["family"])]
    devices.sort(key=lambda one: (one["family"], one["set"]))
    return NodeDevices(
        id=row.id,
        name=row.name,
        group=GroupRef(id=row.group_id, name=row.group_name),
        state=row.state,
        open=row.state == NodeState.READY and not row.cordoned and not row.closed,
        devices=[
            DeviceUse(id=one["id"], family=one["family"], used=used.get(one["id"], 0)) for one in devices
        ],
    )
