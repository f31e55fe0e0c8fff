"""Which resource group each node is in, and events of nodes, which reach the users of their groups.

A node is in the group that an administrator chose for it; otherwise in the one whose selector its labels meet, and if
several do, in the first of these by name; otherwise in the default group.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import func, literal, select, union_all, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import DEFAULT_GROUP, GroupId, NodeId
from carrel.db.database import notify
from carrel.events import service as events
from carrel.nodes.groups import selectors
from carrel.nodes.groups import service as groups
from carrel.permissions.decide import Target
from carrel.site import service as site
from carrel.tables.groups import ResourceGroup
from carrel.tables.nodes import IS_KNOWN, IS_MACHINE, TOPIC, Node

_SELECTORS = func.hashtext("node selectors")


@dataclass(frozen=True, slots=True)
class SelectingGroup:
    """A group with a node selector."""

    id: GroupId
    name: str
    selector: str

    @property
    def order(self) -> tuple[str, str]:
        """Groups that select the same node are sorted by this; the first one gets it."""
        return self.name.lower(), self.id


class SelectionOutcome(StrEnum):
    """What a selector does to a node that meets it.

    FIXED: an administrator chose its group. TAKEN: another group selects it too, and comes first.
    """

    JOINS = "joins"
    STAYS = "stays"
    FIXED = "fixed"
    TAKEN = "taken"


@dataclass(frozen=True, slots=True)
class SelectedNode:
    """group: its present one. others: names of the other groups that select it, first the one that comes first."""

    id: NodeId
    name: str
    group: tuple[GroupId, str]
    outcome: SelectionOutcome
    others: tuple[str, ...]


async def keep_selectors(tx: AsyncSession) -> None:
    """No selector changes until the transaction ends. Call it before nodes are locked."""
    await tx.execute(select(func.pg_advisory_xact_lock_shared(_SELECTORS)))


async def change_selectors(tx: AsyncSession) -> None:
    """No node is assigned by others until the transaction ends. Call it before groups are locked."""
    await tx.execute(select(func.pg_advisory_xact_lock(_SELECTORS)))


async def selecting(
    tx: AsyncSession, nodes: Collection[NodeId] | None = None
) -> dict[NodeId, list[SelectingGroup]]:
    """The groups whose selectors each of these nodes meets, or each node, in order; without nodes that meet none."""
    rows = await tx.execute(
        select(ResourceGroup.id, ResourceGroup.name, ResourceGroup.node_selector).where(
            ResourceGroup.node_selector.is_not(None)
        )
    )
    known = [SelectingGroup(row.id, row.name, row.node_selector) for row in rows]
    if not known or (nodes is not None and not nodes):
        return {}
    by_id = {one.id: one for one in known}
    parts = [
        select(Node.id, literal(one.id).label("group_id")).where(
            selectors.meets(selectors.parse(one.selector)),
            IS_MACHINE if nodes is None else Node.id.in_(nodes),
        )
        for one in known
    ]
    by_node: defaultdict[NodeId, list[SelectingGroup]] = defaultdict(list)
    for node, group in await tx.execute(union_all(*parts)):
        by_node[node].append(by_id[group])
    return {node: sorted(each, key=lambda one: one.order) for node, each in by_node.items()}


async def assign(tx: AsyncSession, nodes: Collection[NodeId] | None = None) -> dict[NodeId, GroupId]:
    """Put these nodes, or all, into the groups that select them. The moved ones, with the groups that they left."""
    selected = await selecting(tx, nodes)
    rows = await tx.execute(
        select(Node.id, Node.group_id).where(
            ~Node.group_fixed, IS_KNOWN if nodes is None else Node.id.in_(nodes)
        )
    )
    left: dict[NodeId, GroupId] = {}
    joining: defaultdict[GroupId, list[NodeId]] = defaultdict(list)
    for node, now in rows:
        group = selected[node][0].id if node in selected else DEFAULT_GROUP
        if group != now:
            left[node] = now
            joining[group].append(node)
    for group, those in joining.items():
        await tx.execute(update(Node).where(Node.id.in_(those)).values(group_id=group))
    return left


async def preview(tx: AsyncSession, selector: str, name: str) -> list[SelectedNode]:
    """What a selector of the group of this name, existing or new, would do to the nodes that meet it, by name."""
    met = selectors.meets(selectors.parse(selector))
    rows = (
        await tx.execute(
            select(
                Node.id, Node.name, Node.group_id, Node.group_fixed, ResourceGroup.name.label("group_name")
            )
            .join(ResourceGroup, ResourceGroup.id == Node.group_id)
            .where(IS_MACHINE, met)
            .order_by(Node.name, Node.id)
        )
    ).all()
    selected = await selecting(tx, [row.id for row in rows])
    previews = []
    for row in rows:
        others = [one for one in selected.get(row.id, ()) if one.name.lower() != name.lower()]
        if row.group_fixed:
            outcome = SelectionOutcome.FIXED
        elif others and (not name or others[0].order < (name.lower(), "")):
            outcome = SelectionOutcome.TAKEN
        else:
            outcome = (
                SelectionOutcome.STAYS if row.group_name.lower() == name.lower() else SelectionOutcome.JOINS
            )
        names = tuple(one.name for one in others)
        previews.append(SelectedNode(row.id, row.name, (row.group_id, row.group_name), outcome, names))
    return previews


async def announce(
    tx: AsyncSession,
    changed: Iterable[Node],
    kind: str = "node.updated",
    *,
    left: Mapping[NodeId, GroupId] | None = None,
) -> None:
    """Publish these nodes and wake the scheduler. left: the previous groups of moved nodes. If nodes are visible to
    everybody, users of their groups receive the event too.
    """
    shown = (await site.settings(tx)).nodes_visible
    audiences: dict[GroupId, set[str]] = {}
    for node in changed:
        both = {node.group_id, (left or {}).get(node.id, node.group_id)}
        for group in both - audiences.keys() if shown else ():
            audiences[group] = await groups.audience(tx, group)
        audience = set().union(*[audiences.get(group, set()) for group in both])
        data = {
            "id": node.id,
            "name": node.name,
            "state": node.state,
            "cordoned": node.cordoned,
            "draining": node.draining,
            "group_id": node.group_id,
        }
        await events.record(tx, kind, node.id, target=Target(), data=data, audience=audience)
    await notify(tx, TOPIC)


async def announce_moved(tx: AsyncSession, left: Mapping[NodeId, GroupId]) -> Sequence[Node]:
    """Publish the nodes that `assign` moved, and return them."""
    if not left:
        return []
    moved = select(Node).where(Node.id.in_(left)).execution_options(populate_existing=True)
    nodes = (await tx.execute(moved.order_by(Node.name))).scalars().all()
    await announce(tx, nodes, left=left)
    return nodes
