"""The devices of nodes, with what sessions hold of them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import GroupId, NodeId
from carrel.db.scope import permitted
from carrel.nodes.schemas import DeviceHolder, DeviceSession, DeviceView
from carrel.permissions.decide import Actor
from carrel.tables.nodes import Allocation
from carrel.tables.sessions import Session
from carrel.tables.tenancy import User
from carrel.tenancy.schemas import UserRef

Holders = Mapping[str, Sequence[DeviceHolder]]
"""By device, in the order of their allocation."""
_UNKNOWN = {"pci": "", "numa": None, "clique": "", "mem_bytes": None, "switch": ""}
"""What rows lack of nodes that have not been reported since these fields exist."""


async def holders(tx: AsyncSession, actor: Actor, nodes: Sequence[NodeId]) -> Mapping[NodeId, Holders]:
    """Who holds parts of the devices of these nodes; without the sessions that the actor may not read."""
    readable = permitted(
        actor, "session.read", owner=Session.owner_id, domain=Session.domain_id, project=Session.project_id
    )
    rows = await tx.execute(
        select(Allocation, Session.name, Session.owner_id, User.email, readable.label("readable"))
        .join(Session, Session.id == Allocation.session_id)
        .join(User, User.id == Session.owner_id)
        .where(
            Allocation.released_at.is_(None), Allocation.devices.is_not(None), Allocation.node_id.in_(nodes)
        )
        .order_by(Allocation.id)
    )
    by_node: defaultdict[NodeId, defaultdict[str, list[DeviceHolder]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        session = _session(row) if row.readable else None
        for device, amount in (row.Allocation.devices or {}).items():
            by_node[row.Allocation.node_id][device].append(DeviceHolder(amount=amount, session=session))
    return by_node


_MEMORY = text("""
    SELECT d.device ->> 'family' AS family, min(CAST(d.device ->> 'mem_bytes' AS bigint)) AS mem_bytes
    FROM nodes n, jsonb_array_elements(n.devices) AS d(device)
    WHERE n.group_id = :group AND n.forgotten_at IS NULL
    GROUP BY 1
    HAVING count(*) = count(d.device ->> 'mem_bytes') AND count(DISTINCT d.device ->> 'mem_bytes') = 1
""")


async def mem_bytes(tx: AsyncSession, group: GroupId) -> dict[str, int]:
    """By family, the memory of a device in the group; without families whose devices differ or do not tell."""
    return {row.family: row.mem_bytes for row in await tx.execute(_MEMORY, {"group": group})}


def view(
    device: Mapping[str, Any], held_by: Sequence[DeviceHolder], condition: Mapping[str, Any]
) -> DeviceView:
    """A device of a row of nodes. condition: its health and measurements."""
    return DeviceView(
        **_UNKNOWN | dict(device) | dict(condition),
        used=sum(one.amount for one in held_by),
        holders=list(held_by),
    )


def _session(row: Any) -> DeviceSession:
    return DeviceSession(
        id=row.Allocation.session_id,
        name=row.name,
        owner=UserRef(id=row.owner_id, email=row.email),
        container=row.Allocation.container_id,
    )
