"""Reading resource groups: a fixed number of statements for a page, whatever its length."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, Select, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import GroupId
from carrel.core.units import add
from carrel.db.search import escaped
from carrel.http import paging
from carrel.http.paging import Sort
from carrel.nodes import ledger
from carrel.nodes.groups import service as groups
from carrel.nodes.groups.schemas import AccessView, GroupList, GroupQuery, GroupView, WeightsView
from carrel.permissions.decide import Actor
from carrel.permissions.roles import sees_everything
from carrel.tables.groups import ResourceGroup, ScopeKind
from carrel.tables.nodes import IS_KNOWN, Node, NodeState
from carrel.tables.session_states import SessionState
from carrel.tables.sessions import IS_LIVE, Session

_SORT = Sort(
    {"name": ResourceGroup.name, "created_at": ResourceGroup.created_at}, tie=ResourceGroup.id, default="name"
)

# Entries with display names; deleted ones are omitted.
_NAMED = """
    SELECT x.group_id, x.kind, x.scope_id AS id, coalesce(d.name, p.name, u.email) AS name, h.name AS domain, {more}
    FROM {table} x
    LEFT JOIN domains d ON x.kind = 'domain' AND d.id = x.scope_id AND d.removed_at IS NULL
    LEFT JOIN projects p ON x.kind = 'project' AND p.id = x.scope_id
    LEFT JOIN domains h ON h.id = p.domain_id
    LEFT JOIN users u ON x.kind = 'user' AND u.id = x.scope_id
    WHERE x.group_id = ANY(:groups) AND coalesce(d.id, p.id, u.id) IS NOT NULL ORDER BY 4, 3"""
_ACCESS = text(_NAMED.format(table="resource_group_access", more="NULL AS weight"))
_WEIGHTS = text(_NAMED.format(table="fair_share_weights", more="x.weight"))
_PLURAL = {ScopeKind.DOMAIN: "domains", ScopeKind.PROJECT: "projects", ScopeKind.USER: "users"}


async def page(tx: AsyncSession, actor: Actor, query: GroupQuery) -> GroupList:
    """The groups that the actor may see."""
    chosen = _rows().where(groups.seen_by(actor))
    if query.q:
        # There are few groups, so a substring search needs no index.
        chosen = chosen.where(ResourceGroup.name.ilike(f"%{escaped(query.q)}%"))
    if query.active is not None:
        chosen = chosen.where(ResourceGroup.active.is_(query.active))
    page = await paging.page(tx, chosen, _SORT, query)
    return GroupList(items=await _views(tx, actor, page.rows), next_cursor=page.next_cursor)


async def detail(tx: AsyncSession, actor: Actor, group: GroupId) -> GroupView:
    """One group that exists."""
    rows = (await tx.execute(_rows().where(ResourceGroup.id == group))).all()
    return (await _views(tx, actor, rows))[0]


def _rows() -> Select[*tuple[Any, ...]]:
    live = (
        select(
            Session.group_id,
            func.count().label("live"),
            func.count().filter(Session.state == SessionState.PENDING).label("waiting"),
        )
        .where(IS_LIVE)
        .group_by(Session.group_id)
        .subquery()
    )
    return select(
        *ResourceGroup.__table__.columns,
        func.coalesce(live.c.live, 0).label("live_sessions"),
        func.coalesce(live.c.waiting, 0).label("waiting_sessions"),
    ).outerjoin_from(ResourceGroup, live, live.c.group_id == ResourceGroup.id)


async def _views(tx: AsyncSession, actor: Actor, rows: Sequence[Row[Any]]) -> list[GroupView]:
    ids = [row.id for row in rows]
    machines: defaultdict[GroupId, list[Node]] = defaultdict(list)
    for node in (await tx.execute(select(Node).where(Node.group_id.in_(ids), IS_KNOWN))).scalars():
        machines[node.group_id].append(node)
    held = await ledger.held(tx)
    access, weights = (
        ({}, {})
        if not sees_everything(actor)
        else (await _named(tx, _ACCESS, ids), await _named(tx, _WEIGHTS, ids))
    )
    return [
        GroupView.model_validate(
            {
                **row._mapping,
                **_of_nodes(machines[row.id], held, row),
                "access": AccessView.model_validate(access[row.id]) if row.id in access else None,
                "weights": WeightsView.model_validate(weights[row.id]) if row.id in weights else None,
            }
        )
        for row in rows
    ]


def _of_nodes(
    nodes: Sequence[Node], held: Mapping[Any, Mapping[str, int]], group: Row[Any]
) -> dict[str, object]:
    capacity: dict[str, int] = {}
    used: dict[str, int] = {}
    count = ready = 0
    elastic = any(node.elastic for node in nodes)
    for node in nodes:
        if not node.elastic:
            count += 1
            ready += not ledger.closed(node, group.required_capabilities, group.runtime)
        if node.elastic or not elastic:
            used = add(used, held.get(node.id, {}))
            if node.state == NodeState.READY:
                capacity = add(capacity, ledger.offered(node))
    return {"nodes": count, "ready_nodes": ready, "capacity": capacity, "used": used}


async def _named(
    tx: AsyncSession, statement: Any, ids: Sequence[GroupId]
) -> dict[GroupId, dict[str, list[dict[str, Any]]]]:
    """The access entries or weights of each group."""
    named: dict[GroupId, dict[str, list[dict[str, Any]]]] = {
        group: {plural: [] for plural in _PLURAL.values()} for group in ids
    }
    for row in await tx.execute(statement, {"groups": list(ids)}):
        shown = {
            "id": row.id,
            "name": row.name,
            "email": row.name,
            "domain": row.domain,
            "weight": row.weight,
        }
        named[row.group_id][_PLURAL[ScopeKind(row.kind)]].append(shown)
    return named
