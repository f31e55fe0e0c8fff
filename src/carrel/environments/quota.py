"""How much the environments of users and projects may take: what their versions add to the images below."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Refused
from carrel.core.ids import ProjectId, UserId
from carrel.core.units import format_size
from carrel.environments.schemas import EnvironmentQuota, EnvironmentQuotaList
from carrel.permissions.decide import Actor
from carrel.tables.environments import Environment, EnvironmentVersion, VersionState
from carrel.tables.limits import ResourcePolicy
from carrel.tables.policies import environment_bytes
from carrel.tables.tenancy import Project, User
from carrel.tenancy.schemas import ProjectRef


async def require_room(
    tx: AsyncSession, *, owner: UserId | None, project: ProjectId | None, added_bytes: int = 1
) -> None:
    """Check that a version may add so much. Raises: Refused, with what is used."""
    if problem := await over(tx, owner=owner, project=project, added_bytes=added_bytes):
        raise problem


async def over(
    tx: AsyncSession, *, owner: UserId | None, project: ProjectId | None, added_bytes: int
) -> Refused | None:
    """The error if it is too much. Concurrent calls for the owner wait until the transaction ends."""
    key = f"environments of {project or owner}"
    await tx.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(key, 0))))
    label, limits = (await tx.execute(_limits(owner, project))).one()
    limit = environment_bytes(limits)
    used = await used_bytes(tx, owner=owner, project=project)
    if limit is None or used + added_bytes <= limit:
        return None
    more = f", and this one adds {format_size(added_bytes)}" if added_bytes > 1 else ""
    return Refused(
        "environment.over_quota",
        f"The environments of {label} take {format_size(used)} of {format_size(limit)}{more}.",
        hint="Delete versions that are no longer needed (`carrel environment rm NAME:VERSION`), or ask an "
        "administrator for a larger quota.",
        details={"used_bytes": used, "limit_bytes": limit},
    )


async def used_bytes(tx: AsyncSession, *, owner: UserId | None, project: ProjectId | None) -> int:
    """What the versions that are ready take."""
    theirs = Environment.project_id == project if project else Environment.owner_id == owner
    statement = (
        select(func.coalesce(func.sum(EnvironmentVersion.added_bytes), 0))
        .join(Environment, Environment.id == EnvironmentVersion.environment_id)
        .where(theirs, EnvironmentVersion.state == VersionState.READY)
    )
    return int((await tx.execute(statement)).scalar_one() or 0)


async def quotas(tx: AsyncSession, actor: Actor) -> EnvironmentQuotaList:
    """The actor's own, and those of their projects that have environments or a limit."""
    [(_, limits)] = (await tx.execute(_limits(actor.user_id, None))).all()
    used = await used_bytes(tx, owner=actor.user_id, project=None)
    own = EnvironmentQuota(project=None, used_bytes=used, limit_bytes=environment_bytes(limits))
    projects = (
        select(Project, ResourcePolicy.limits)
        .join(ResourcePolicy, ResourcePolicy.id == Project.policy_id)
        .where(Project.id.in_(sorted(actor.projects)))
        .order_by(Project.name)
    )
    return EnvironmentQuotaList(
        items=[own, *await _of_projects(tx, (await tx.execute(projects)).all())],
    )


async def _of_projects(tx: AsyncSession, rows: Sequence[Any]) -> list[EnvironmentQuota]:
    statement = (
        select(Environment.project_id, func.sum(EnvironmentVersion.added_bytes))
        .join(EnvironmentVersion, EnvironmentVersion.environment_id == Environment.id)
        .where(
            Environment.project_id.in_([one.id for one, _ in rows]),
            EnvironmentVersion.state == VersionState.READY,
        )
        .group_by(Environment.project_id)
    )
    used = {project: int(size or 0) for project, size in await tx.execute(statement)}
    return [
        EnvironmentQuota(
            project=ProjectRef(id=one.id, name=one.name),
            used_bytes=used.get(one.id, 0),
            limit_bytes=environment_bytes(limits),
        )
        for one, limits in rows
        if one.id in used or environment_bytes(limits) is not None
    ]


def _limits(owner: UserId | None, project: ProjectId | None) -> Select[Any]:
    if project:
        chosen = select(Project.name, ResourcePolicy.limits).where(Project.id == project)
        return chosen.join(ResourcePolicy, ResourcePolicy.id == Project.policy_id)
    chosen = select(User.email, ResourcePolicy.limits).where(User.id == owner)
    return chosen.join(ResourcePolicy, ResourcePolicy.id == User.policy_id)
