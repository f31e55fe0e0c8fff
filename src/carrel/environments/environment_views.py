"""Environments as the API shows them. A list costs three statements whatever its length."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import false, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import EnvironmentId
from carrel.db.search import escaped
from carrel.environments import environment_access as access
from carrel.environments.schemas import (
    EnvironmentList,
    EnvironmentOwner,
    EnvironmentQuery,
    EnvironmentView,
    VersionView,
)
from carrel.environments.session_images import PREFIX
from carrel.http.paging import Sort, page
from carrel.permissions.decide import Actor
from carrel.tables.engines import EngineRow
from carrel.tables.environments import Environment, EnvironmentShare, EnvironmentVersion, VersionState
from carrel.tables.nodes import Node
from carrel.tables.session_states import LIFECYCLE
from carrel.tables.sessions import Container, Session, state_in
from carrel.tables.tenancy import Project, User
from carrel.tenancy.schemas import ProjectRef, UserRef

_SORT = Sort(
    {"name": Environment.name, "created_at": Environment.created_at, "updated_at": Environment.updated_at},
    tie=Environment.id,
    default="name",
)


async def listed(tx: AsyncSession, actor: Actor, query: EnvironmentQuery) -> EnvironmentList:
    """Environments that the actor may see."""
    seen = access.visible(actor)
    if query.owner == EnvironmentOwner.ME:
        seen = access.own(actor)
    elif query.owner == EnvironmentOwner.USABLE:
        seen = access.startable(actor)
    statement = _rows(actor).where(access.IN_USE, access.visible(actor), seen)
    if query.q:
        part = f"%{escaped(query.q)}%"
        statement = statement.where(or_(Environment.name.ilike(part), Environment.description.ilike(part)))
    if query.project:
        statement = statement.where(or_(Project.id == query.project, Project.name == query.project))
    shown = await page(tx, statement, _SORT, query)
    return EnvironmentList(items=await _views(tx, actor, shown.rows), next_cursor=shown.next_cursor)


async def show(tx: AsyncSession, actor: Actor, environment: EnvironmentId) -> EnvironmentView:
    """One environment, which the actor may see."""
    rows = (await tx.execute(_rows(actor).where(Environment.id == environment))).all()
    [view] = await _views(tx, actor, rows)
    return view


def _rows(actor: Actor) -> Any:
    # not narrowed: callers choose among those that the actor may see
    shared = select(func.count()).where(EnvironmentShare.environment_id == Environment.id).scalar_subquery()
    return (
        select(
            Environment,
            User.email,
            Project.name.label("project"),
            shared,
            func.coalesce(access.startable(actor), false()),
        )
        .outerjoin(User, User.id == Environment.owner_id)
        .outerjoin(Project, Project.id == Environment.project_id)
    )


async def _views(tx: AsyncSession, actor: Actor, rows: Sequence[Any]) -> list[EnvironmentView]:
    versions = await _versions(tx, [row[0] for row in rows])
    return [_view(actor, row, versions[row[0].id]) for row in rows]


def _view(actor: Actor, row: Any, versions: list[VersionView]) -> EnvironmentView:
    one, email, project, shared, may_start = row
    return EnvironmentView(
        id=one.id,
        name=one.name,
        description=one.description,
        owner=UserRef(id=one.owner_id, email=email) if one.owner_id else None,
        project=ProjectRef(id=one.project_id, name=project) if one.project_id else None,
        default_version=next((version.name for version in versions if version.default), None),
        versions=versions,
        added_bytes=sum(version.added_bytes or 0 for version in versions),
        shared_with=shared,
        image=PREFIX + (one.name if one.owner_id == actor.user_id else one.id),
        may_start=may_start,
        may_change=access.may(actor, "environment.update", one),
        created_at=one.created_at,
        updated_at=one.updated_at,
    )


async def _versions(
    tx: AsyncSession, environments: Sequence[Environment]
) -> defaultdict[EnvironmentId, list[VersionView]]:
    """The versions of each, the latest first."""
    table = EnvironmentVersion
    names = {one.id: one for one in environments}
    rows = (
        await tx.execute(
            select(table, EngineRow.name, Node.name.label("node"), User.email)
            .join(EngineRow, EngineRow.id == table.engine_id)
            .outerjoin(Node, Node.id == table.node_id)
            .outerjoin(User, User.id == table.created_by)
            .where(table.environment_id.in_(names), table.state != VersionState.REMOVING)
            .order_by(table.created_at.desc(), table.id)
        )
    ).all()
    users = await _users(tx, [row[0].reference for row in rows])
    ready: dict[EnvironmentId, str] = {}
    for version, *_ in rows:
        if version.state == VersionState.READY:
            ready.setdefault(version.environment_id, version.name)
    views: defaultdict[EnvironmentId, list[VersionView]] = defaultdict(list)
    for version, engine, node, creator in rows:
        environment = names[version.environment_id]
        default = environment.default_version or ready.get(environment.id)
        views[environment.id].append(
            VersionView(
                **{
                    field: getattr(version, field)
                    for field in VersionView.model_fields
                    if hasattr(version, field) and field not in ("apps", "created_by")
                },
                environment=environment.name,
                default=version.name == default,
                engine=engine,
                node=node,
                session=version.session_name,
                apps=[app["name"] for app in version.apps],
                used_by=users.get(version.reference, 0),
                created_by=creator,
            )
        )
    return views


async def _users(tx: AsyncSession, references: Collection[str]) -> dict[str, int]:
    """Live sessions by image."""
    if not references:
        return {}
    rows = await tx.execute(
        select(Container.image, func.count(Session.id.distinct()))
        .join(Session, Session.id == Container.session_id)
        .where(state_in(LIFECYCLE.live), Container.image.in_(references))
        .group_by(Container.image)
    )
    return {image: count for image, count in rows}
