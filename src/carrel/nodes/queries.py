"""Reading nodes: a fixed number of statements for a page, whatever its length."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.accelerators.port import UNKNOWN, ShareTier
from carrel.core.errors import Forbidden, NotFound
from carrel.core.ids import NodeId, SessionId
from carrel.core.units import add
from carrel.db.scope import permitted
from carrel.db.search import escaped
from carrel.http import paging
from carrel.http.paging import Sort
from carrel.nodes import device_conditions, host_load, ledger, machine_labels, node_devices
from carrel.nodes import service as nodes
from carrel.nodes.device_conditions import Conditions, ReportedCondition
from carrel.nodes.engines.schemas import EngineRef
from carrel.nodes.groups import membership, selectors
from carrel.nodes.groups.membership import SelectingGroup
from carrel.nodes.groups.schemas import GroupRef
from carrel.nodes.groups.service import seen_by
from carrel.nodes.host_load import HostLoad
from carrel.nodes.schemas import (
    DeviceMetricsView,
    DeviceView,
    HostLoadView,
    NodeDetail,
    NodeList,
    NodeQuery,
    NodeSession,
    NodeView,
    SharingView,
)
from carrel.permissions.decide import Actor, Target, allows
from carrel.permissions.roles import sees_everything
from carrel.site import service as site
from carrel.tables.engines import EngineRow
from carrel.tables.groups import ResourceGroup
from carrel.tables.nodes import IS_MACHINE, Node
from carrel.tables.session_states import PLACED, ContainerState
from carrel.tables.sessions import Container, Session
from carrel.tables.tenancy import User
from carrel.tenancy.schemas import UserRef

_SORT = Sort({"name": Node.name, "seen_at": Node.seen_at}, tie=Node.id, default="name")
_IS_THERE = Container.state != ContainerState.GONE
ON_IT = Session.state.in_(sorted(map(str, PLACED)))
"""A condition for the sessions that have a node."""


def is_on(node: NodeId) -> ColumnElement[bool]:
    """A condition for sessions with a container on the node; with ON_IT: currently."""
    there = exists().where(Container.session_id == Session.id, Container.node_id == node, _IS_THERE)
    return there.correlate(Session)


async def page(tx: AsyncSession, actor: Actor, query: NodeQuery) -> NodeList:
    """The nodes that the actor may see. Raises: Forbidden if only administrators may see nodes."""
    await require_shown(tx, actor)
    chosen = _rows().where(seen_by(actor), IS_MACHINE)
    if query.q:
        # There are at most thousands of nodes, so a substring search needs no index.
        chosen = chosen.where(Node.name.ilike(f"%{escaped(query.q)}%"))
    if query.group:
        chosen = chosen.where(_called(query.group))
    if query.selector:
        chosen = chosen.where(selectors.meets(selectors.parse(query.selector)))
    if query.state:
        chosen = chosen.where(Node.state == query.state)
    if query.cordoned is not None:
        chosen = chosen.where(Node.cordoned.is_(query.cordoned))
    page = await paging.page(tx, chosen, _SORT, query)
    return NodeList(items=await _views(tx, page.rows, actor), next_cursor=page.next_cursor)


async def find(tx: AsyncSession, actor: Actor, ref: str) -> NodeId:
    """The node of this id, name, or NAME@ENGINE, among those that the actor may see.

    Raises: NotFound, Forbidden; Conflict when nodes of several engines have the name.
    """
    await require_shown(tx, actor)
    statement = (
        select(Node)
        .join(ResourceGroup, ResourceGroup.id == Node.group_id)
        .where(nodes.called(ref), seen_by(actor), IS_MACHINE)
    )
    node = nodes.the_one((await tx.execute(statement)).scalars().all(), ref)
    if node is None:
        raise NotFound("node.not_found", f"There is no node {ref}.", hint="See `carrel node ls`.")
    return node.id


async def view(tx: AsyncSession, actor: Actor, node: NodeId) -> NodeView:
    """One node that exists."""
    return (await _views(tx, (await tx.execute(_rows().where(Node.id == node))).all(), actor))[0]


async def detail(tx: AsyncSession, actor: Actor, node: NodeId) -> NodeDetail:
    """One node that exists, with the sessions on it that the actor may see."""
    short = await view(tx, actor, node)
    images = (await tx.execute(select(Node.images).where(Node.id == node))).scalar_one()
    visible = permitted(
        actor, "session.read", owner=Session.owner_id, domain=Session.domain_id, project=Session.project_id
    )
    return NodeDetail(
        **short.model_dump(), image_names=sorted(images), sessions=await _sessions(tx, node, visible)
    )


async def require_shown(tx: AsyncSession, actor: Actor) -> None:
    """Raises: Forbidden if only administrators may see nodes, and the actor is none."""
    if not sees_everything(actor) and not (await site.settings(tx)).nodes_visible:
        raise Forbidden(
            "node.hidden",
            "Nodes are visible to superadmins only.",
            hint="A superadmin can make them visible to everybody with the setting nodes_visible.",
        )


def _called(ref: str) -> ColumnElement[bool]:
    return or_(ResourceGroup.id == ref, func.lower(ResourceGroup.name) == ref.lower())


def _rows() -> Select[*tuple[Any, ...]]:
    live = (
        select(Container.node_id, func.count(Session.id.distinct()).label("sessions"))
        .join(Session, Session.id == Container.session_id)
        .where(ON_IT, _IS_THERE)
        .group_by(Container.node_id)
        .subquery()
    )
    return (
        select(
            Node,
            ResourceGroup.name.label("group_name"),
            EngineRow.name.label("engine_name"),
            func.coalesce(live.c.sessions, 0).label("live_sessions"),
        )
        .join_from(Node, ResourceGroup, ResourceGroup.id == Node.group_id)
        .join(EngineRow, EngineRow.id == Node.engine_id)
        .outerjoin(live, live.c.node_id == Node.id)
    )


async def _views(tx: AsyncSession, rows: Sequence[Row[Any]], actor: Actor) -> list[NodeView]:
    held = await ledger.held(tx)
    ids = [row.Node.id for row in rows]
    holders = await node_devices.holders(tx, actor, ids)
    selected = await membership.selecting(tx, ids) if sees_everything(actor) else {}
    measured = allows(actor, "usage.read", Target())
    loads = await host_load.latest(tx, ids) if measured else {}
    conditions = await device_conditions.of_nodes(tx, ids)
    return [
        _view(
            row,
            held.get(row.Node.id, {}),
            _devices(
                row.Node,
                holders.get(row.Node.id, {}),
                conditions.get(row.Node.id, {}),
                measured=measured,
            ),
            loads.get(row.Node.id),
            selected.get(row.Node.id, ()),
        )
        for row in rows
    ]


def _view(
    row: Row[Any],
    held: Mapping[str, int],
    devices: list[DeviceView],
    measured: tuple[datetime, HostLoad] | None,
    selected_by: Iterable[SelectingGroup],
) -> NodeView:
    node: Node = row.Node
    labels = {**node.labels, **node.own_labels}
    return NodeView(
        **{name: getattr(node, name) for name in NodeView.model_fields if name not in _WORKED_OUT},
        group=GroupRef(id=node.group_id, name=row.group_name),
        selected_by=[GroupRef(id=one.id, name=one.name) for one in selected_by],
        labels=labels,
        machine=machine_labels.machine(labels),
        engine=EngineRef(id=node.engine_id or "", name=row.engine_name),
        offered=ledger.offered(node),
        used=dict(held),
        devices=devices,
        sharing=_sharing(node.sharing),
        images=len(node.images),
        live_sessions=row.live_sessions,
        host=None if measured is None else HostLoadView(at=measured[0], **asdict(measured[1])),
    )


def _sharing(sharing: Mapping[str, str] | None) -> SharingView | None:
    if sharing is None:
        return None
    tier = ShareTier(sharing["tier"])
    return SharingView(tier=tier, enforced=tier.is_enforced, reason=sharing["reason"])


def _devices(
    node: Node, holders: node_devices.Holders, conditions: Conditions, *, measured: bool
) -> list[DeviceView]:
    """measured: with measurements."""
    return [
        node_devices.view(
            device,
            holders.get(device["id"], ()),
            _condition(conditions.get(device["id"]), measured=measured),
        )
        for device in device_conditions.descriptions(node, conditions)
    ]


def _condition(condition: ReportedCondition | None, *, measured: bool) -> dict[str, Any]:
    shown = condition if measured else None
    return {
        "healthy": condition is None or condition.row.healthy,
        "problem": condition.row.problem if condition else "",
        "metrics": DeviceMetricsView(
            **asdict(shown.metrics if shown else UNKNOWN), measured_at=shown and shown.measured_at
        ),
    }


_WORKED_OUT = {
    "sharing",
    "group",
    "selected_by",
    "labels",
    "machine",
    "engine",
    "offered",
    "used",
    "devices",
    "images",
    "live_sessions",
    "host",
}


async def _sessions(tx: AsyncSession, node: NodeId, visible: ColumnElement[bool]) -> list[NodeSession]:
    rows = (
        await tx.execute(
            select(Session, User.email)
            .join(User, User.id == Session.owner_id)
            .where(is_on(node), ON_IT, visible)
            .order_by(Session.created_at, Session.id)
        )
    ).all()
    there = await _containers(tx, node, [session.id for session, _ in rows])
    held = await ledger.devices_of(tx, [one.id for own in there.values() for one in own])
    return [
        NodeSession(
            id=session.id,
            name=session.name,
            owner=UserRef(id=session.owner_id, email=email),
            state=session.state,
            slots=_sum(one.slots for one in there[session.id]),
            devices=_sum(held.get(one.id, {}) for one in there[session.id]),
            started_at=session.started_at,
        )
        for session, email in rows
    ]


async def _containers(
    tx: AsyncSession, node: NodeId, sessions: Sequence[SessionId]
) -> Mapping[SessionId, Sequence[Container]]:
    """The subset of the sessions that is on the node."""
    rows = await tx.execute(
        select(Container).where(Container.session_id.in_(sessions), Container.node_id == node, _IS_THERE)
    )
    by_session: defaultdict[SessionId, list[Container]] = defaultdict(list)
    for container in rows.scalars():
        by_session[container.session_id].append(container)
    return by_session


def _sum(amounts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in amounts:
        total = add(total, one)
    return total
