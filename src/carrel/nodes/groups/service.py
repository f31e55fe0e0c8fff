"""Which resource groups somebody may use, and finding one by what people call it."""

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, exists, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import NotFound
from carrel.core.ids import DEFAULT_GROUP, DomainId, GroupId, ProjectId, UserId
from carrel.tables.groups import GroupAccess, ResourceGroup, ScopeKind
from carrel.tables.tenancy import Domain


async def usable(
    tx: AsyncSession, user: UserId, domain: DomainId, project: ProjectId
) -> Sequence[ResourceGroup]:
    """The groups in which somebody of the domain may start sessions of the project; the default one first."""
    found = await tx.execute(
        select(ResourceGroup)
        .where(may_use(user, domain, [project]))
        .order_by((ResourceGroup.id == DEFAULT_GROUP).desc(), ResourceGroup.name)
    )
    return found.scalars().all()


def may_use(user: UserId, domain: DomainId, projects: Iterable[ProjectId]) -> ColumnElement[bool]:
    """A condition for the groups that somebody of this domain may use in one of these projects.

    The group is active, is public or names the domain, one of the projects or the user, and the domain lets its
    people into it.
    """
    named = exists().where(
        GroupAccess.group_id == ResourceGroup.id,
        or_(
            (GroupAccess.kind == ScopeKind.DOMAIN) & (GroupAccess.scope_id == domain),
            (GroupAccess.kind == ScopeKind.PROJECT) & GroupAccess.scope_id.in_(list(projects)),
            (GroupAccess.kind == ScopeKind.USER) & (GroupAccess.scope_id == user),
        ),
    )
    let_in = exists().where(
        Domain.id == domain,
        or_(Domain.resource_groups.is_(None), ResourceGroup.name == func.any(Domain.resource_groups)),
    )
    return ResourceGroup.active & or_(ResourceGroup.public, named) & let_in


_AUDIENCE = text("""
    WITH g AS (SELECT id, name, public FROM resource_groups WHERE id = :group),
    let_in AS (
        SELECT d.id FROM domains d, g
        WHERE d.resource_groups IS NULL OR g.name = ANY(d.resource_groups)
    )
    SELECT 'domain:' || l.id FROM let_in l, g WHERE g.public
    UNION SELECT 'domain:' || l.id FROM let_in l
        JOIN resource_group_access a ON a.group_id = :group AND a.kind = 'domain' AND a.scope_id = l.id
    UNION SELECT 'project:' || p.id FROM let_in l JOIN projects p ON p.domain_id = l.id
        JOIN resource_group_access a ON a.group_id = :group AND a.kind = 'project' AND a.scope_id = p.id
    UNION SELECT 'user:' || u.id FROM let_in l JOIN users u ON u.domain_id = l.id
        JOIN resource_group_access a ON a.group_id = :group AND a.kind = 'user' AND a.scope_id = u.id
""")


async def audience(tx: AsyncSession, group: GroupId) -> set[str]:
    """Whom an event about the group reaches besides superadmins: those who may use it while it is active."""
    return set((await tx.execute(_AUDIENCE, {"group": group})).scalars())


async def find(tx: AsyncSession, ref: str, *, seen: ColumnElement[bool] | None = None) -> ResourceGroup:
    """The group of this id or name, among those of the condition. Raises: NotFound."""
    wanted = select(ResourceGroup).where(
        or_(ResourceGroup.id == ref, func.lower(ResourceGroup.name) == ref.lower())
    )
    if seen is not None:
        wanted = wanted.where(seen)
    found = (await tx.execute(wanted.order_by((ResourceGroup.id == ref).desc()).limit(1))).scalar()
    if found is None:
        raise missing(ref)
    return found


def missing(ref: str, *, field: str | None = None) -> NotFound:
    return NotFound(
        "group.not_found", f"There is no resource group {ref}.", hint="See `carrel group ls`.", field=field
    )
