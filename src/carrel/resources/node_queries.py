"""Reading nodes: a fixed number of statements for a page, whatever its length."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Forbidden, NotFound
from carrel.core.ids import NodeId
from carrel.db.scope import reaches
from carrel.db.search import escaped
from carrel.groups.model import ResourceGroup
from carrel.http import paging
from carrel.http.paging import Sort
from carrel.nodes import service as nodes
from carrel.nodes.model import IS_KNOWN, Node
from carrel.policy.decide import Actor
from carrel.resources.group_queries import administers, seen
from carrel.resources.group_schemas import GroupRef
from carrel.resources.node_schemas import (
    DeviceView,
    NodeDetail,
    NodeList,
    NodeQuery,
    NodeSession,
    NodeView,
)
from carrel.sessions.model import Session
from carrel.sessions.states import PLACED
from carrel.site import service as site
from carrel.tenancy.model import User
from carrel.tenancy.schemas import UserRef

_SORT = Sort({"name": Node.name, "seen_at": Node.seen_at}, tie=Node.id, default="name")
ON_IT = Session.state.in_(sorted(map(str, PLACED)))
"""A condition for the sessions that have a node."""


async def page(tx: AsyncSession, actor: Actor, wanted: NodeQuery) -> NodeList:
    """The nodes that the actor may see. Raises: Forbidden when they are shown to nobody but administrators."""
    await _require_shown(tx, actor)
    chosen = _rows().where(seen(actor), IS_KNOWN)
    if wanted.q:
        # Nodes are thousands at most: no index is needed to find a part of a name.
        chosen = chosen.where(Node.name.ilike(f"%{escaped(wanted.q)}%"))
    if wanted.group:
        chosen = chosen.where(_called(wanted.group))
    if wanted.state:
        chosen = chosen.where(Node.state == wanted.state)
    if wanted.cordoned is not None:
        chosen = chosen.where(Node.cordoned.is_(wanted.cordoned))
    found = await paging.page(tx, chosen, _SORT, wanted)
    return NodeList(items=await _views(tx, found.rows), next_cursor=found.next_cursor)


async def find(tx: AsyncSession, actor: Actor, ref: str) -> NodeId:
    """The node of this id or name, among those that the actor may see. Raises: NotFound, Forbidden."""
    await _require_shown(tx, actor)
    wanted = (
        select(Node.id)
        .join(ResourceGroup, ResourceGroup.id == Node.group_id)
        .where(or_(Node.id == ref, Node.name == ref), seen(actor), IS_KNOWN)
        .order_by((Node.id == ref).desc())
    )
    found = (await tx.execute(wanted.limit(1))).scalar()
    if found is None:
        raise NotFound("node.not_found", f"There is no node {ref}.", hint="See `carrel node ls`.")
    return found


async def view(tx: AsyncSession, node: NodeId) -> NodeView:
    """One node that exists."""
    return (await _views(tx, (await tx.execute(_rows().where(Node.id == node))).all()))[0]


async def detail(tx: AsyncSession, actor: Actor, node: NodeId) -> NodeDetail:
    """One node that exists, with the sessions on it that the actor may see."""
    short = await view(tx, node)
    images = (await tx.execute(select(Node.images).where(Node.id == node))).scalar_one()
    visible = reaches(
        actor, "session.read", owner=Session.owner_id, domain=Session.domain_id, project=Session.project_id
    )
    return NodeDetail(
        **short.model_dump(), image_names=sorted(images), sessions=await _sessions(tx, node, visible)
    )


async def _require_shown(tx: AsyncSession, actor: Actor) -> None:
    if not administers(actor) and not (await site.settings(tx)).nodes_visible:
        raise Forbidden(
            "node.hidden",
            "Nodes are shown to superadmins only.",
            hint="A superadmin can show them to everybody with the setting nodes_visible.",
        )


def _called(ref: str) -> ColumnElement[bool]:
    return or_(ResourceGroup.id == ref, func.lower(ResourceGroup.name) == ref.lower())


def _rows() -> Select[*tuple[Any, ...]]:
    live = (
        select(Session.node_id, func.count().label("sessions"))
        .where(ON_IT)
        .group_by(Session.node_id)
        .subquery()
    )
    return (
        select(
            Node,
            ResourceGroup.name.label("group_name"),
            func.coalesce(live.c.sessions, 0).label("live_sessions"),
        )
        .join_from(Node, ResourceGroup, ResourceGroup.id == Node.group_id)
        .outerjoin(live, live.c.node_id == Node.id)
    )


async def _views(tx: AsyncSession, rows: Sequence[Row[Any]]) -> list[NodeView]:
    held = await nodes.held(tx)
    on_devices = await nodes.on_devices(tx)
    return [_view(row, held.get(row.Node.id, {}), on_devices.get(row.Node.id, {})) for row in rows]


def _view(row: Row[Any], held: Mapping[str, int], on_devices: Mapping[str, int]) -> NodeView:
    node: Node = row.Node
    return NodeView(
        **{name: getattr(node, name) for name in NodeView.model_fields if name not in _WORKED_OUT},
        group=GroupRef(id=node.group_id, name=row.group_name),
        offered=nodes.offered(node),
        used=dict(held),
        devices=[DeviceView(**device, used=on_devices.get(device["id"], 0)) for device in node.devices],
        images=len(node.images),
        live_sessions=row.live_sessions,
    )


_WORKED_OUT = {"group", "offered", "used", "devices", "images", "live_sessions"}


async def _sessions(tx: AsyncSession, node: NodeId, visible: ColumnElement[bool]) -> list[NodeSession]:
    rows = (
        await tx.execute(
            select(Session, User.email)
            .join(User, User.id == Session.owner_id)
            .where(Session.node_id == node, ON_IT, visible)
            .order_by(Session.created_at, Session.id)
        )
    ).all()
    held = await nodes.devices_of(tx, [session.id for session, _ in rows])
    return [
        NodeSession(
            id=session.id,
            name=session.name,
            owner=UserRef(id=session.owner_id, email=email),
            state=session.state,
            slots=session.slots,
            devices=dict(held.get(session.id, {})),
            started_at=session.started_at,
        )
        for session, email in rows
    ]
