"""Look up tenants by id, name or e-mail. What the actor may not see is reported as not found."""

from collections.abc import Iterable
from typing import Any, Literal, TypeVar

from sqlalchemy import (
    ColumnElement,
    ScalarSelect,
    Select,
    Subquery,
    and_,
    column,
    func,
    literal,
    or_,
    select,
    table,
)
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from carrel.core.errors import Conflict, NotFound
from carrel.core.ids import DomainId
from carrel.db.scope import permitted
from carrel.permissions.decide import Actor, Target, require, sight
from carrel.tables.nodes import Allocation
from carrel.tables.sessions import Session
from carrel.tables.tenancy import IS_SUPERADMIN, Domain, Membership, Project, User, UserState

T = TypeVar("T")
_SUPERADMINS = 0x5375706572
_POLICIES = table("resource_policies", column("id"), column("name"))
_PLACES = {
    "group": (table("resource_groups", column("name")), "resource group", "carrel group ls"),
    "storage_host": (table("storage_hosts", column("name")), "storage host", "carrel storage-host ls"),
}


def domain_target(domain: Domain) -> Target:
    return Target(domain_id=domain.id)


def project_target(project: Project) -> Target:
    return Target(project_id=project.id, domain_id=project.domain_id)


def user_target(user: User) -> Target:
    return Target(owner_id=user.id, domain_id=user.domain_id)


def user_data(user: User) -> dict[str, object]:
    """The event data of a user."""
    return {"id": user.id, "email": user.email, "name": user.name, "state": user.state, "role": user.role}


async def domain(
    tx: AsyncSession, actor: Actor, ref: str, action: str = "domain.read", *, field: str | None = None
) -> Domain:
    """The domain with this id or name, locked for a change. Raises: NotFound, Forbidden. field: of the request that
    references the domain; it is then protected from removal.
    """
    statement = select(Domain).where(is_domain(ref), Domain.removed_at.is_(None))
    if field:
        statement = statement.with_for_update(read=True, key_share=True)
    row = await _first(tx, statement.order_by((Domain.id == ref).desc()), action)
    missing = NotFound(
        "domain.not_found", f"There is no domain {ref}.", hint="See `carrel domain ls`.", field=field
    )
    if row is None:
        raise missing
    require(actor, action, domain_target(row), read="domain.read", missing=missing)
    return row


def is_domain(ref: str) -> ColumnElement[bool]:
    """A condition for the domain with this id or name; removed ones match by id only."""
    named = (func.lower(Domain.name) == ref.lower()) & Domain.removed_at.is_(None)
    return or_(Domain.id == ref, named)


async def project(
    tx: AsyncSession, actor: Actor, ref: str, action: str = "project.read", *, domain: str | None = None
) -> Project:
    """The project with this id, or this name among those that the actor may see, locked for a change.

    domain: where the name is looked up; None: in all.
    Raises: NotFound, Forbidden; Conflict when several have the name.
    """
    seen = permitted(actor, "project.read", domain=Project.domain_id, project=Project.id)
    there = Project.domain_id.in_(select(Domain.id).where(Domain.removed_at.is_(None)))
    named = Project.name == ref if domain is None else and_(Project.name == ref, Project.domain_id == domain)
    statement = select(Project).where(or_(Project.id == ref, named), seen, there)
    if action != "project.read":
        statement = statement.with_for_update(key_share=True)
    matches = list((await tx.execute(statement.limit(10))).scalars())
    exact = [each for each in matches if each.id == ref] or matches
    if not exact:
        raise NotFound("project.not_found", f"There is no project {ref}.", hint="See `carrel project ls`.")
    if len(exact) > 1:
        raise Conflict(
            "project.ambiguous",
            f"Several projects have the name {ref}.",
            hint="Use the id.",
            details={"ids": [each.id for each in exact]},
        )
    require(actor, action, project_target(exact[0]))
    return exact[0]


async def user(tx: AsyncSession, actor: Actor, ref: str, action: str = "user.read") -> User:
    """The user with this id or e-mail, locked for a change. Raises: NotFound, Forbidden. Purged users are found by
    id.
    """
    statement = select(User).where(
        or_(User.id == ref, func.lower(User.email) == ref.strip().lower()), sees_user(actor)
    )
    row = await _first(tx, statement.order_by((User.id == ref).desc()), action)
    if row is None:
        raise NotFound("user.not_found", f"There is no user {ref}.", hint="See `carrel user ls`.")
    if action != "user.read":
        require(actor, action, user_target(row))
    return row


async def active_user(tx: AsyncSession, ref: str, domain: DomainId) -> User | None:
    """The active user with this e-mail or id in the domain: who can receive what its users share."""
    named = or_(User.id == ref, func.lower(User.email) == ref.strip().lower())
    here = (User.domain_id == domain) & (User.state == UserState.ACTIVE)
    return (await tx.execute(select(User).where(named, here).limit(1))).scalar()


def sees_user(actor: Actor) -> ColumnElement[bool]:
    """A condition for the users that the actor may see: those in scope, or in projects in scope."""
    seen = sight(actor, "user.read")
    if seen.everything or seen.domain_id or not seen.project_ids:
        return permitted(actor, "user.read", owner=User.id, domain=User.domain_id)
    # One list of ids, so that the index is used.
    members = select(Membership.user_id).where(permitted(actor, "user.read", project=Membership.project_id))
    return User.id.in_(members.union(select(literal(actor.user_id))))


def policy_ref(policy: InstrumentedAttribute[Any]) -> ScalarSelect[Any]:
    """A column for views: id and name of the referenced resource policy."""
    ref = func.json_build_object("id", _POLICIES.c.id, "name", _POLICIES.c.name)
    return select(ref).where(_POLICIES.c.id == policy).scalar_subquery()


def allocated_by(holder: InstrumentedAttribute[Any]) -> Subquery:
    """A table for views: the sums of live allocations by slot (`slots`) of each `holder`, a column of sessions."""
    amounts = (
        select(holder.label("holder"), Allocation.slot, func.sum(Allocation.amount).label("amount"))
        .join(Session, Session.id == Allocation.session_id)
        .where(Allocation.released_at.is_(None))
        .group_by(holder, Allocation.slot)
        .subquery()
    )
    slots = func.json_object_agg(amounts.c.slot, amounts.c.amount)
    return select(amounts.c.holder, slots.label("slots")).group_by(amounts.c.holder).subquery()


async def places(
    tx: AsyncSession,
    names: Iterable[str],
    kind: Literal["group", "storage_host"],
    *,
    kept: Iterable[str] = (),
    field: str,
) -> list[str]:
    """The names of resource groups or storage hosts, with their stored spelling. kept: names already in the list;
    they stay even if the object is gone. Raises: NotFound.
    """
    named, word, listing = _PLACES[kind]
    there = (await tx.execute(select(named.c.name))).scalars().all()
    as_they_are, spelt = {*there, *kept}, {name.lower(): name for name in there}
    path: list[str] = []
    for name in names:
        known = name if name in as_they_are else spelt.get(name.lower())
        if known is None:
            raise NotFound(
                f"{kind}.not_found", f"There is no {word} {name}.", hint=f"See `{listing}`.", field=field
            )
        path.append(known)
    return path


async def superadmin_left(tx: AsyncSession, *, without: ColumnElement[bool]) -> bool:
    """True if a superadmin remains without these users.

    Call it before removing a superadmin: it serialises concurrent calls, so that two of them cannot remove the last
    two.
    """
    await tx.execute(select(func.pg_advisory_xact_lock(_SUPERADMINS)))
    left = (
        select(User.id)
        .join(Domain, Domain.id == User.domain_id)
        .where(IS_SUPERADMIN, User.state == UserState.ACTIVE, Domain.active, ~without)
        .limit(1)
    )
    return (await tx.execute(left)).first() is not None


async def _first(tx: AsyncSession, statement: Select[T], action: str) -> T | None:
    if not action.endswith(".read"):
        statement = statement.with_for_update(key_share=True)
    return (await tx.execute(statement.limit(1))).scalar()
