"""The fragmentation of devices, of what the scheduler reads."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.ids import SessionId
from carrel.core.slots import SlotKind
from carrel.nodes.groups.schemas import GroupRef
from carrel.permissions.decide import Actor, Target, require
from carrel.queue import loading
from carrel.queue.fragmentation_schemas import (
    DeviceMove,
    DeviceRef,
    FragmentationList,
    FragmentationView,
    FreedDeviceView,
)
from carrel.scheduling.fragmentation import Fragmentation, Place, fragmentation
from carrel.scheduling.snapshot import NodeSnapshot
from carrel.slot_kinds import service as slot_kinds
from carrel.tables.groups import ResourceGroup
from carrel.tables.sessions import Session
from carrel.tables.tenancy import User
from carrel.tenancy.schemas import UserRef


async def report(tx: AsyncSession, clock: Clock, actor: Actor) -> FragmentationList:
    """Of all groups, for administrators of nodes. Raises: Forbidden."""
    require(actor, "node.update", Target())
    snapshot = await loading.snapshot(tx, clock.now(), (), running=True)
    smallest = _smallest((await slot_kinds.known(tx)).values())
    # Tens of thousands of devices take a while.
    reports = await asyncio.to_thread(fragmentation, snapshot.nodes, snapshot.running, smallest)
    groups = {row.id: row.name for row in await tx.execute(select(ResourceGroup.id, ResourceGroup.name))}
    view = _Views(snapshot.nodes, await _sessions(tx, reports))
    return FragmentationList(
        items=[view.of(one, GroupRef(id=one.group, name=groups[one.group])) for one in reports]
    )


def _smallest(kinds: Iterable[SlotKind]) -> Mapping[str, int]:
    """By family: the least that a container gets of a device, in thousandths."""
    least: dict[str, int] = {}
    for kind in kinds:
        amount = min(kind.allowed, default=kind.quantum) * kind.thousandths
        least[kind.family] = min(amount, least.get(kind.family, amount))
    return least


async def _sessions(tx: AsyncSession, reports: Sequence[Fragmentation]) -> Mapping[SessionId, Any]:
    ids = [move.session for one in reports for step in one.freed for move in step.moves]
    # not narrowed: only superadmins see the report, and they see every session
    rows = await tx.execute(
        select(Session.id, Session.name, Session.owner_id, User.email)
        .join(User, User.id == Session.owner_id)
        .where(Session.id.in_(ids))
    )
    return {row.id: row for row in rows}


class _Views:
    """With the names of nodes and sessions."""

    def __init__(self, nodes: Iterable[NodeSnapshot], sessions: Mapping[SessionId, Any]) -> None:
        self._names = {node.id: node.name for node in nodes}
        self._sessions = sessions

    def of(self, one: Fragmentation, group: GroupRef) -> FragmentationView:
        return FragmentationView(
            group=group,
            family=one.family,
            devices=one.devices,
            free=one.free,
            broken=one.broken,
            full=one.full,
            smallest=one.smallest,
            stranded=one.stranded,
            freed=[
                FreedDeviceView(
                    device=self._place(step.device),
                    moves=[self._move(move.session, move.amount, move.to) for move in step.moves],
                )
                for step in one.freed
            ],
        )

    def _move(self, id: SessionId, amount: int, to: Place) -> DeviceMove:
        row = self._sessions[id]
        owner = UserRef(id=row.owner_id, email=row.email)
        return DeviceMove(session=id, name=row.name, owner=owner, amount=amount, to=self._place(to))

    def _place(self, place: Place) -> DeviceRef:
        node, device = place
        return DeviceRef(node=node, node_name=self._names[node], device=device)
