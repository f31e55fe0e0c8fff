"""Reading domains: one statement for a page, whatever its length."""

from typing import Any

from sqlalchemy import Row, Select, func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.accounts.domains.schemas import DomainList, DomainQuery, DomainView
from carrel.core.ids import DomainId
from carrel.db.scope import permitted
from carrel.db.search import escaped
from carrel.http import paging
from carrel.http.paging import Sort
from carrel.permissions.decide import Actor
from carrel.tables.sessions import IS_LIVE, Session
from carrel.tables.tenancy import IS_DOMAIN_ADMIN, Domain, Project, User, UserState
from carrel.tenancy.queries import allocated_by

_SORT = Sort({"name": Domain.name, "created_at": Domain.created_at}, tie=Domain.id, default="name")


async def page(tx: AsyncSession, actor: Actor, query: DomainQuery) -> DomainList:
    """The domains that the actor may see."""
    chosen = _views().where(Domain.removed_at.is_(None))
    chosen = chosen.where(permitted(actor, "domain.read", domain=Domain.id))
    if query.q:
        # There are few domains, so a substring search needs no index.
        chosen = chosen.where(Domain.name.ilike(f"%{escaped(query.q)}%"))
    if query.active is not None:
        chosen = chosen.where(Domain.active.is_(query.active))
    page = await paging.page(tx, chosen, _SORT, query)
    return DomainList(items=[_view(row) for row in page.rows], next_cursor=page.next_cursor)


async def detail(tx: AsyncSession, domain: DomainId) -> DomainView:
    """One domain that exists."""
    return _view((await tx.execute(_views().where(Domain.id == domain))).one())


def _views() -> Select[*tuple[Any, ...]]:
    users = select(func.count()).where(User.domain_id == Domain.id, User.state != UserState.PURGED)
    projects = select(func.count()).where(Project.domain_id == Domain.id, Project.archived_at.is_(None))
    admins = select(
        func.json_agg(
            aggregate_order_by(func.json_build_object("id", User.id, "email", User.email), User.email)
        )
    ).where(User.domain_id == Domain.id, IS_DOMAIN_ADMIN, User.state == UserState.ACTIVE)
    live = (
        select(Session.domain_id, func.count().label("sessions"))
        .where(IS_LIVE)
        .group_by(Session.domain_id)
        .subquery()
    )
    held = allocated_by(Session.domain_id)
    columns = (
        *Domain.__table__.columns,
        users.scalar_subquery().label("users"),
        projects.scalar_subquery().label("projects"),
        func.coalesce(live.c.sessions, 0).label("live_sessions"),
        held.c.slots.label("used"),
        admins.scalar_subquery().label("admins"),
    )
    return (
        select(*columns)
        .outerjoin_from(Domain, live, live.c.domain_id == Domain.id)
        .outerjoin(held, held.c.holder == Domain.id)
    )


def _view(row: Row[Any]) -> DomainView:
    return DomainView.model_validate({**row._mapping, "admins": row.admins or [], "used": row.used or {}})
