"""Reading projects and their members: one statement for a page, whatever its length."""

from typing import Any

from sqlalchemy import Row, Select, String, exists, func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.accounts.projects.schemas import (
    MemberList,
    MemberQuery,
    MemberView,
    ProjectList,
    ProjectQuery,
    ProjectView,
)
from carrel.core.ids import ProjectId
from carrel.db.scope import permitted
from carrel.db.search import escaped, has_part
from carrel.http import paging
from carrel.http.paging import Sort
from carrel.permissions.decide import Actor
from carrel.tables.sessions import IS_LIVE, Session
from carrel.tables.tenancy import Domain, Membership, Project, User
from carrel.tenancy.queries import allocated_by, is_domain, policy_ref

_SORT = Sort({"name": Project.name, "created_at": Project.created_at}, tie=Project.id, default="name")
_MEMBER_SORT = Sort({"email": func.lower(User.email, type_=String)}, tie=User.id, default="email")
SEARCHED = "(users.email || ' ') || users.name"


async def page(tx: AsyncSession, actor: Actor, query: ProjectQuery) -> ProjectList:
    """The projects that the actor may see."""
    chosen = _views().where(Domain.removed_at.is_(None))
    chosen = chosen.where(permitted(actor, "project.read", domain=Project.domain_id, project=Project.id))
    if query.q:
        # There are at most thousands of projects, so a substring search needs no index.
        chosen = chosen.where(Project.name.ilike(f"%{escaped(query.q)}%"))
    if query.domain:
        chosen = chosen.where(is_domain(query.domain))
    if query.archived is not None:
        chosen = chosen.where(Project.archived_at.is_not(None) == query.archived)
    page = await paging.page(tx, chosen, _SORT, query)
    return ProjectList(items=[_view(row) for row in page.rows], next_cursor=page.next_cursor)


async def detail(tx: AsyncSession, project: ProjectId) -> ProjectView:
    """One project that exists."""
    return _view((await tx.execute(_views().where(Project.id == project))).one())


async def members(tx: AsyncSession, project: ProjectId, query: MemberQuery) -> MemberList:
    """The members of a project, by e-mail."""
    chosen = _members(project)
    if query.q:
        chosen = chosen.where(has_part(SEARCHED, query.q))
    if query.admin is not None:
        chosen = chosen.where(Membership.admin.is_(query.admin))
    page = await paging.page(tx, chosen, _MEMBER_SORT, query)
    return MemberList(
        items=[MemberView.model_validate(row, from_attributes=True) for row in page.rows],
        next_cursor=page.next_cursor,
    )


async def member(tx: AsyncSession, project: ProjectId, user: str) -> MemberView:
    """One member that there is."""
    row = (await tx.execute(_members(project).where(User.id == user))).one()
    return MemberView.model_validate(row, from_attributes=True)


def _members(project: ProjectId) -> Select[*tuple[Any, ...]]:
    return (
        select(User.id, User.email, User.name, User.state, Membership.admin)
        .join_from(Membership, User, User.id == Membership.user_id)
        .where(Membership.project_id == project)
    )


def _views() -> Select[*tuple[Any, ...]]:
    members = select(func.count()).where(Membership.project_id == Project.id)
    admins = (
        select(
            func.json_agg(
                aggregate_order_by(func.json_build_object("id", User.id, "email", User.email), User.email)
            )
        )
        .join_from(Membership, User, User.id == Membership.user_id)
        .where(Membership.project_id == Project.id, Membership.admin)
    )
    live = (
        select(Session.project_id, func.count().label("sessions"))
        .where(IS_LIVE)
        .group_by(Session.project_id)
        .subquery()
    )
    held = allocated_by(Session.project_id)
    return (
        select(
            *Project.__table__.columns,
            func.json_build_object("id", Domain.id, "name", Domain.name).label("domain"),
            members.scalar_subquery().label("members"),
            func.coalesce(live.c.sessions, 0).label("live_sessions"),
            held.c.slots.label("used"),
            exists().where(Session.project_id == Project.id).label("had_sessions"),
            admins.scalar_subquery().label("admins"),
            policy_ref(Project.policy_id).label("policy"),
        )
        .join_from(Project, Domain, Domain.id == Project.domain_id)
        .outerjoin(live, live.c.project_id == Project.id)
        .outerjoin(held, held.c.holder == Project.id)
    )


def _view(row: Row[Any]) -> ProjectView:
    return ProjectView.model_validate({**row._mapping, "admins": row.admins or [], "used": row.used or {}})
