"""Reading users: one statement for a page, whatever its length."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    DateTime,
    Row,
    Select,
    String,
    and_,
    exists,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.accounts.users.schemas import UserDetail, UserList, UserQuery, UserView
from carrel.core.ids import UserId
from carrel.db.scope import permitted
from carrel.db.search import has_part
from carrel.http import paging
from carrel.http.paging import Sort
from carrel.permissions.decide import Actor
from carrel.permissions.roles import is_of_projects
from carrel.tables.keypairs import Keypair
from carrel.tables.limits import ResourcePolicy
from carrel.tables.logins import Login, Passkey, Totp
from carrel.tables.policies import user_policy
from carrel.tables.providers import ExternalIdentity, Provider
from carrel.tables.sessions import IS_LIVE, Session
from carrel.tables.tenancy import Domain, Membership, Project, User, UserState
from carrel.tenancy.queries import allocated_by, is_domain, policy_ref, sees_user

SEARCHED = "(users.email || ' ') || users.name"
# As the index has it; who was never seen was seen longest ago.
_NEVER: ColumnElement[datetime] = literal_column(
    "'1970-01-01 00:00:00+00'::timestamptz", DateTime(timezone=True)
)
_SORT = Sort(
    {
        "email": func.lower(User.email, type_=String),
        "name": func.lower(User.name, type_=String),
        "created_at": User.created_at,
        "last_seen_at": func.coalesce(User.last_seen_at, _NEVER),
    },
    tie=User.id,
    default="-created_at",
)


async def page(tx: AsyncSession, actor: Actor, query: UserQuery) -> UserList:
    """The users that the actor may see."""
    chosen = _views(actor).where(sees_user(actor), *_filters(actor, query))
    page = await paging.page(tx, chosen, _SORT, query)
    return UserList(
        items=[UserView.model_validate(_fields(row)) for row in page.rows], next_cursor=page.next_cursor
    )


def _filters(actor: Actor, query: UserQuery) -> list[ColumnElement[bool]]:
    conditions: list[Any] = [User.state == query.state if query.state else User.state != UserState.PURGED]
    if query.role and is_of_projects(query.role):
        conditions.append(exists().where(Membership.user_id == User.id, Membership.admin))
    elif query.role:
        conditions.append(User.role == query.role)
    if query.domain:
        conditions.append(User.domain_id.in_(select(Domain.id).where(is_domain(query.domain))))
    if query.project:
        members = select(Membership.user_id).join(Project, Project.id == Membership.project_id)
        known = permitted(actor, "project.read", domain=Project.domain_id, project=Project.id)
        conditions.append(User.id.in_(members.where(Project.id == query.project, known)))
    if query.q:
        conditions.append(has_part(SEARCHED, query.q))
    return conditions


async def detail(tx: AsyncSession, actor: Actor, user: UserId) -> UserDetail:
    """One user that exists."""

    def count(column: Any, *more: ColumnElement[bool]) -> ColumnElement[int]:
        return select(func.count()).where(column == User.id, *more).scalar_subquery()

    providers = (
        select(func.json_agg(aggregate_order_by(Provider.name, Provider.name)))
        .join(ExternalIdentity, ExternalIdentity.provider_id == Provider.id)
        .where(ExternalIdentity.user_id == User.id)
    )
    statement = _views(actor).add_columns(
        User.password_hash.is_not(None).label("has_password"),
        User.password_set_at,
        providers.scalar_subquery().label("providers"),
        count(Keypair.user_id).label("keypairs"),
        count(Login.user_id, Login.expires_at > func.now()).label("logins"),
        count(Session.owner_id, IS_LIVE).label("live_sessions"),
    )
    row = (await tx.execute(statement.where(User.id == user))).one()
    return UserDetail.model_validate({**_fields(row), "providers": row.providers or []})


def _views(actor: Actor) -> Select[*tuple[Any, ...]]:
    projects = (
        select(
            func.json_agg(
                aggregate_order_by(
                    func.json_build_object("id", Project.id, "name", Project.name, "admin", Membership.admin),
                    Project.name,
                )
            )
        )
        .join(Membership, Membership.project_id == Project.id)
        .where(
            Membership.user_id == User.id,
            # Who administers one project of theirs need not know of the others.
            permitted(actor, "project.read", domain=Project.domain_id, project=Project.id),
        )
    )
    factors = or_(
        exists().where(and_(Totp.user_id == User.id, Totp.confirmed_at.is_not(None))),
        exists().where(Passkey.user_id == User.id),
    )
    held = allocated_by(Session.owner_id)
    columns = (
        User.id,
        User.email,
        User.name,
        User.description,
        User.role,
        User.state,
        User.must_change_password,
        User.addresses,
        User.created_at,
        User.last_seen_at,
        func.json_build_object("id", Domain.id, "name", Domain.name).label("domain"),
        projects.scalar_subquery().label("projects"),
        factors.label("second_factor"),
        policy_ref(User.policy_id).label("policy"),
        policy_ref(User.keypair_policy_id).label("keypair_policy"),
        ResourcePolicy.limits,
        held.c.slots.label("used"),
    )
    return (
        select(*columns)
        .join_from(User, Domain, Domain.id == User.domain_id)
        .join(ResourcePolicy, ResourcePolicy.id == User.policy_id)
        .outerjoin(held, held.c.holder == User.id)
    )


def _fields(row: Row[Any]) -> dict[str, Any]:
    limits = user_policy(row.limits).slots
    return {**row._mapping, "projects": row.projects or [], "used": row.used or {}, "slot_limits": limits}
