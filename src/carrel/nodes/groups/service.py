"""Access to resource groups, and lookup by id or name."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, exists, func, literal, literal_column, or_, select, true, union
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute, aliased

from carrel.core.errors import NotFound
from carrel.core.ids import DEFAULT_GROUP, DomainId, GroupId, ProjectId, UserId
from carrel.permissions.decide import Actor
from carrel.permissions.roles import sees_everything
from carrel.tables.groups import GroupAccess, ResourceGroup, ScopeKind
from carrel.tables.tenancy import Domain, Project, User

Column = ColumnElement[Any] | InstrumentedAttribute[Any]


async def usable(
    tx: AsyncSession, user: UserId, domain: DomainId, project: ProjectId
) -> Sequence[ResourceGroup]:
    """The groups in which a user of the domain may start sessions of the project; the default one first."""
    rows = await tx.execute(
        select(ResourceGroup)
        .where(may_use(user, domain, [project]))
        .order_by((ResourceGroup.id == DEFAULT_GROUP).desc(), ResourceGroup.name)
    )
    return rows.scalars().all()


def seen_by(actor: Actor) -> ColumnElement[bool]:
    """A condition for the groups that the actor may see: those usable in one of their projects, or all."""
    if sees_everything(actor):
        return true()
    return may_use(actor.user_id, actor.domain_id, actor.projects)


def may_use(user: UserId, domain: DomainId, projects: Iterable[ProjectId]) -> ColumnElement[bool]:
    """A condition for the groups that a user of this domain may use in one of these projects.

    The group is active; it is public or lists the domain, one of the projects or the user; and the domain allows it.
    """
    named = names(
        ResourceGroup.id,
        GroupAccess,
        (GroupAccess.kind == ScopeKind.DOMAIN) & (GroupAccess.scope_id == domain),
        (GroupAccess.kind == ScopeKind.PROJECT) & GroupAccess.scope_id.in_(sorted(projects)),
        (GroupAccess.kind == ScopeKind.USER) & (GroupAccess.scope_id == user),
    )
    let_in = exists().where(Domain.id == domain, lets_in(Domain, ResourceGroup))
    return ResourceGroup.active & or_(ResourceGroup.public, named) & let_in


def lets_in(domain: type[Domain], group: type[ResourceGroup]) -> ColumnElement[bool]:
    """True if the domain allows the group."""
    return or_(domain.resource_groups.is_(None), group.name == func.any(domain.resource_groups))


def names(group: Column, access: type[GroupAccess], *scopes: ColumnElement[bool]) -> ColumnElement[bool]:
    """True if the group's access list has one of these scopes, given as conditions on `access`."""
    return exists().where(access.group_id == group, or_(*scopes))


def as_text() -> str:
    """Whether a session's owner may use its group, active or not, as SQL about sessions s, groups g and domains d."""
    group, domain, access = (
        aliased(ResourceGroup, name="g"),
        aliased(Domain, name="d"),
        aliased(GroupAccess, name="a"),
    )
    named = names(
        literal_column("g.id"),
        access,
        *(
            (access.kind == kind) & (access.scope_id == literal_column(f"s.{column}"))
            for kind, column in (
                (ScopeKind.DOMAIN, "domain_id"),
                (ScopeKind.PROJECT, "project_id"),
                (ScopeKind.USER, "owner_id"),
            )
        ),
    )
    condition = or_(group.public, named) & lets_in(domain, group)
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    return str(condition.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))


async def runtimes(tx: AsyncSession) -> Mapping[GroupId, str]:
    """Container runtimes of the groups that name one."""
    rows = await tx.execute(
        select(ResourceGroup.id, ResourceGroup.runtime).where(ResourceGroup.runtime.is_not(None))
    )
    return {row.id: row.runtime for row in rows}


async def audience(tx: AsyncSession, group: GroupId) -> set[str]:
    """The audience of an event about the group besides superadmins: those who may use it while it is active."""
    lets = lets_in(Domain, ResourceGroup)
    everybody = or_(ResourceGroup.public, _names(ScopeKind.DOMAIN, Domain.id))
    ways = (
        select(literal("domain:") + Domain.id).join_from(ResourceGroup, Domain, lets).where(everybody),
        select(literal("project:") + Project.id)
        .join_from(ResourceGroup, Domain, lets)
        .join(Project, Project.domain_id == Domain.id)
        .where(_names(ScopeKind.PROJECT, Project.id)),
        select(literal("user:") + User.id)
        .join_from(ResourceGroup, Domain, lets)
        .join(User, User.domain_id == Domain.id)
        .where(_names(ScopeKind.USER, User.id)),
    )
    return set((await tx.execute(union(*[way.where(ResourceGroup.id == group) for way in ways]))).scalars())


def _names(kind: ScopeKind, scope: Column) -> ColumnElement[bool]:
    return names(ResourceGroup.id, GroupAccess, (GroupAccess.kind == kind) & (GroupAccess.scope_id == scope))


async def find(tx: AsyncSession, ref: str, *, seen: ColumnElement[bool] | None = None) -> ResourceGroup:
    """The group with this id or name that matches the condition. Raises: NotFound."""
    statement = select(ResourceGroup).where(
        or_(ResourceGroup.id == ref, func.lower(ResourceGroup.name) == ref.lower())
    )
    if seen is not None:
        statement = statement.where(seen)
    group = (await tx.execute(statement.order_by((ResourceGroup.id == ref).desc()).limit(1))).scalar()
    if group is None:
        raise missing(ref)
    return group


async def keep(tx: AsyncSession, groups: Sequence[GroupId]) -> None:
    """Lock the groups until the transaction ends, so that none is deleted before it. Raises: NotFound if one was."""
    there = select(ResourceGroup.id).where(ResourceGroup.id.in_(groups)).order_by(ResourceGroup.id)
    kept = (await tx.execute(there.with_for_update(read=True, key_share=True))).scalars().all()
    if gone := sorted({*groups} - {*kept}):
        raise missing(gone[0], field="group")


def missing(ref: str, *, field: str | None = None) -> NotFound:
    return NotFound(
        "group.not_found", f"There is no resource group {ref}.", hint="See `carrel group ls`.", field=field
    )
