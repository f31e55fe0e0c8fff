"""Folder quotas and usage of users and projects.

The usage of a scope is always the sum over its folders as last measured; folders in the trash count until they are
permanently deleted.
"""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    Subquery,
    cast,
    func,
    literal,
    or_,
    select,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from carrel.core.errors import NotFound, Refused
from carrel.core.ids import PolicyId, ProjectId, StorageHostId, UserId
from carrel.core.units import format_size
from carrel.db.scope import permitted
from carrel.db.search import escaped
from carrel.folders.schemas import QuotaList, QuotaQuery, QuotaView
from carrel.http import paging
from carrel.http.paging import Sort
from carrel.permissions.decide import Actor, Target
from carrel.tables import policies
from carrel.tables.folder_states import FolderState
from carrel.tables.folders import VFolder
from carrel.tables.limits import FOLDER_BYTES, ResourcePolicy
from carrel.tables.policies import folder_policy
from carrel.tables.tenancy import Domain, Project, User, UserState

Level = Literal["adequate", "caution", "insufficient"]
_CAUTION = 0.8
_COUNT = func.count().filter(VFolder.state != FolderState.DELETING)
_SUM = cast(func.coalesce(func.sum(VFolder.used_bytes), 0), BigInteger)
_USER = "CASE WHEN f.scope LIKE 'user-%%' THEN substr(f.scope, 6) END"
_PROJECT = "CASE WHEN f.scope LIKE 'project-%%' THEN substr(f.scope, 9) END"
LIMIT = f"""(
    SELECT p.{FOLDER_BYTES} FROM resource_policies p WHERE p.id = coalesce(
        (SELECT u.policy_id FROM users u WHERE u.id = {_USER}),
        (SELECT j.policy_id FROM projects j WHERE j.id = {_PROJECT}))
)"""  # noqa: S608 - no input in it
USED = f"""(
    SELECT coalesce(sum(o.used_bytes), 0)::bigint FROM vfolders o
    WHERE o.scope = f.scope OR o.owner_id = {_USER} OR o.project_id = {_PROJECT}
)"""  # noqa: S608 - no input in it
"""The statements of `limit_of` and `usage_of` as SQL fragments for a folder `f`; for `room_in`."""


@dataclass(frozen=True)
class FolderQuota:
    """The quota of a scope. folders, bytes: None for no limit. label: display name of its owner."""

    label: str
    folders: int | None
    bytes: int | None
    target: Target


@dataclass(frozen=True)
class FolderUsage:
    """The usage of a scope. folders: without those being permanently deleted. bytes: including them."""

    folders: int
    bytes: int


@dataclass(frozen=True)
class QuotaHolder:
    """Folder usage of a user or project."""

    id: str
    label: str
    usage: FolderUsage


def scope_of(*, owner: UserId | None = None, project: ProjectId | None = None) -> str:
    """The scope of folders of a user or a project."""
    return f"project-{project}" if project else f"user-{owner}"


async def limit_of(tx: AsyncSession, scope: str) -> FolderQuota:
    """The quota from the resource policy of the user or project. Raises: NotFound when the scope has no owner."""
    kind, _, id_ = scope.partition("-")
    policy = ResourcePolicy.limits
    if kind == "project":
        places = select(policy, Project.name, Project.domain_id).where(Project.id == id_)
        chosen = places.join(ResourcePolicy, ResourcePolicy.id == Project.policy_id)
    else:
        statement = select(policy, User.email, User.domain_id).where(User.id == id_)
        chosen = statement.join(ResourcePolicy, ResourcePolicy.id == User.policy_id)
    row = (await tx.execute(chosen)).one_or_none()
    if row is None:
        raise NotFound("quota.not_found", f"There is no user or project {scope}.")
    limits, label, domain = row
    target = (
        Target(project_id=ProjectId(id_), domain_id=domain)
        if kind == "project"
        else Target(UserId(id_), domain_id=domain)
    )
    quota_limits = folder_policy(kind, limits)
    return FolderQuota(label, quota_limits.folders, quota_limits.folder_bytes, target)


async def usage_of(tx: AsyncSession, scope: str) -> FolderUsage:
    """The size of the scope's folders, including those being moved into it."""
    kind, _, id_ = scope.partition("-")
    theirs = VFolder.project_id == id_ if kind == "project" else VFolder.owner_id == id_
    row = await tx.execute(select(_COUNT, _SUM).where(or_(VFolder.scope == scope, theirs)))
    folders, used = row.one()
    return FolderUsage(folders, used)


async def lock(tx: AsyncSession, scope: str) -> None:
    """Lock the scope until the transaction ends."""
    await tx.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"folders of {scope}", 0))))


async def require_folder(tx: AsyncSession, scope: str) -> None:
    """Check that the scope may have one more folder; concurrent calls are serialized until the transaction ends.

    Raises: Refused.
    """
    await lock(tx, scope)
    most = await limit_of(tx, scope)
    if most.folders is None:
        return
    used = await usage_of(tx, scope)
    if used.folders >= most.folders:
        raise Refused(
            "quota.folders",
            f"{most.label} has {used.folders} of {most.folders} folders, including trashed ones.",
            hint="Permanently delete one, or ask an administrator for more.",
            details={"folders": used.folders, "most_folders": most.folders},
        )


async def require_room(tx: AsyncSession, folder: VFolder, more_bytes: int = 0) -> None:
    """Check that this many more bytes fit into the folder. At the limit nothing fits, not even zero bytes.

    Raises: Refused.
    """
    await require_room_in(tx, folder.scope, more_bytes)


async def require_room_in(tx: AsyncSession, scope: str, more_bytes: int = 0) -> None:
    """As `require_room`, for a folder that is to be added to the scope."""
    left = await room_of(tx, scope)
    if left is None or (left > 0 and more_bytes <= left):
        return
    most = await limit_of(tx, scope)
    used = await usage_of(tx, scope)
    raise Refused(
        "quota.bytes",
        f"{most.label} uses {format_size(used.bytes)} of {format_size(most.bytes or 0)} for folders"
        + (f"; {format_size(more_bytes)} more would exceed the quota." if left > 0 else "."),
        hint="Delete files, permanently if they are in the trash, or ask an administrator for more.",
        details={"used_bytes": used.bytes, "most_bytes": most.bytes, "more_bytes": more_bytes},
    )


async def room_of(tx: AsyncSession, scope: str) -> int | None:
    """Free bytes of the scope, not below 0; None: unlimited."""
    most = (await limit_of(tx, scope)).bytes
    return None if most is None else max(0, most - (await usage_of(tx, scope)).bytes)


def room_in(limit: int | str, used: int) -> int | None:
    """As `room_of`, with known limit and usage. limit: as a policy has it."""
    most = policies.most(limit)
    return None if most is None else max(0, most - used)


def level_of(used: int, most: int | None) -> Level:
    """Usage as a level: caution from 80 %, insufficient at the limit."""
    if most is None or used < most * _CAUTION:
        return "adequate"
    return "insufficient" if used >= most else "caution"


async def page(tx: AsyncSession, actor: Actor, query: QuotaQuery) -> QuotaList:
    """Folder usage of the users and projects that the actor may see."""
    visible_users: ColumnElement[bool] = User.id == actor.user_id
    projects: ColumnElement[bool] = Project.id.in_(sorted(actor.projects))
    if query.of == "all":
        visible_users = or_(
            visible_users, permitted(actor, "quota.read", owner=User.id, domain=User.domain_id)
        )
        projects = or_(projects, permitted(actor, "quota.read", project=Project.id, domain=Project.domain_id))
    mine = [scope_of(owner=actor.user_id), *[scope_of(project=each) for each in sorted(actor.projects)]]
    sums = _sums(VFolder.scope.in_(mine) if query.of == "me" else None)
    parts = {"user": _of_users(sums).where(visible_users), "project": _of_projects(sums).where(projects)}
    rows = union_all(*[part for kind, part in parts.items() if query.kind in (None, kind)]).subquery()
    chosen = select(rows)
    if query.q:
        chosen = chosen.where(rows.c.label.ilike(f"%{escaped(query.q)}%"))
    columns = {"label": rows.c.label, "used_bytes": rows.c.used_bytes}
    page = await paging.page(tx, chosen, Sort(columns, tie=rows.c.scope, default="label"), query)
    return QuotaList(items=[_view(row) for row in page.rows], next_cursor=page.next_cursor)


async def holdings(tx: AsyncSession, policy: PolicyId, kind: Literal["user", "project"]) -> list[QuotaHolder]:
    """Folder usage of all users or projects with this resource policy."""
    chosen = {
        "user": _of_users(_sums()).where(User.policy_id == policy),
        "project": _of_projects(_sums()).where(Project.policy_id == policy),
    }[kind]
    rows = (await tx.execute(chosen)).all()
    return [QuotaHolder(row.id, row.label, FolderUsage(row.folders, row.used_bytes)) for row in rows]


async def limits_on(tx: AsyncSession, host: StorageHostId) -> dict[str, int | None]:
    """Byte limit of every scope with folders on the host; None: no limit."""
    here = select(VFolder.scope).where(VFolder.host_id == host).distinct()
    owned = union_all(
        select((literal("user-") + User.id).label("scope"), User.policy_id.label("policy_id")),
        select((literal("project-") + Project.id).label("scope"), Project.policy_id.label("policy_id")),
    ).subquery()
    rows = await tx.execute(
        select(owned.c.scope, ResourcePolicy.limits)
        .join(ResourcePolicy, ResourcePolicy.id == owned.c.policy_id)
        .where(owned.c.scope.in_(here))
    )
    return {scope: folder_policy(scope.partition("-")[0], limits).folder_bytes for scope, limits in rows}


def _sums(where: ColumnElement[bool] | None = None) -> Subquery:
    """Sums by scope."""
    chosen = select(
        VFolder.scope,
        _COUNT.label("folders"),
        _SUM.label("used_bytes"),
        func.min(VFolder.measured_at).label("measured_at"),
    ).group_by(VFolder.scope)
    return (chosen if where is None else chosen.where(where)).subquery()


def _of_users(sums: Subquery) -> Select[*tuple[Any, ...]]:
    return (
        _columns("user", User.id, User.email, sums)
        .join_from(User, ResourcePolicy, ResourcePolicy.id == User.policy_id)
        .outerjoin(sums, sums.c.scope == literal("user-") + User.id)
        .where(User.state != UserState.PURGED)
    )


def _of_projects(sums: Subquery) -> Select[*tuple[Any, ...]]:
    return (
        _columns("project", Project.id, Domain.name + "/" + Project.name, sums)
        .join_from(Project, ResourcePolicy, ResourcePolicy.id == Project.policy_id)
        .join(Domain, Domain.id == Project.domain_id)
        .outerjoin(sums, sums.c.scope == literal("project-") + Project.id)
    )


def _columns(
    kind: str,
    id_: InstrumentedAttribute[Any],
    label: ColumnElement[str] | InstrumentedAttribute[str],
    sums: Subquery,
) -> Select[*tuple[Any, ...]]:
    return select(
        literal(kind).label("kind"),
        id_.label("id"),
        (literal(f"{kind}-") + id_).label("scope"),
        label.label("label"),
        ResourcePolicy.limits.label("limits"),
        func.coalesce(sums.c.folders, 0).label("folders"),
        func.coalesce(sums.c.used_bytes, 0).label("used_bytes"),
        sums.c.measured_at.label("measured_at"),
    )


def _view(row: Any) -> QuotaView:
    policy = folder_policy(row.kind, row.limits)
    most = policy.folder_bytes
    return QuotaView(
        kind=row.kind,
        id=row.id,
        label=row.label,
        folders=row.folders,
        most_folders=policy.folders,
        used_bytes=row.used_bytes,
        most_bytes=most,
        level=level_of(row.used_bytes, most),
        measured_at=row.measured_at,
    )
