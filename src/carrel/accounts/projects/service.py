"""Use cases of projects. Each starts with an authorization check."""

from sqlalchemy import delete, exists, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.accounts.projects.schemas import ProjectCreate, ProjectUpdate
from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict
from carrel.core.ids import ProjectId, new_id
from carrel.db.database import notify
from carrel.events import service as events
from carrel.permissions.decide import Actor
from carrel.sessions import live_sessions
from carrel.slot_kinds import service as slot_kinds
from carrel.tables import limits
from carrel.tables.folders import VFolder
from carrel.tables.schedules import RunSchedule
from carrel.tables.sessions import Session
from carrel.tables.tenancy import Membership, Project
from carrel.tenancy import queries as tenancy
from carrel.tenancy.schemas import SessionsChoice


async def create(tx: AsyncSession, clock: Clock, actor: Actor, request: ProjectCreate) -> ProjectId:
    """Create a project without members. Raises: NotFound, Forbidden; Conflict when the name is taken in the domain."""
    domain = await tenancy.domain(
        tx, actor, request.domain or actor.domain_id, "project.create", field="domain"
    )
    await slot_kinds.require_known(tx, request.ceilings, field="ceilings")
    project = Project(
        id=ProjectId(new_id()),
        domain_id=domain.id,
        name=request.name,
        description=request.description,
        ceilings=request.ceilings,
        created_at=clock.now(),
    )
    tx.add(project)
    await _flush(tx, request.name)
    after = {**request.model_dump(exclude={"domain"}), "domain": domain.name}
    await record(tx, actor, "project.create", project, after=after)
    return project.id


async def update(tx: AsyncSession, actor: Actor, ref: str, changes: ProjectUpdate) -> ProjectId:
    """Update the given fields. Raises: NotFound, Forbidden; Conflict when the name is taken."""
    project = await tenancy.project(tx, actor, ref, "project.update")
    after = {
        field: value
        for field, value in changes.model_dump(exclude_unset=True).items()
        if value != getattr(project, field)
    }
    await slot_kinds.require_known(tx, after.get("ceilings", ()), field="ceilings")
    before = {field: getattr(project, field) for field in after}
    for field, value in after.items():
        setattr(project, field, value)
    if after:
        await _flush(tx, changes.name)
        if "ceilings" in after:
            await notify(tx, limits.TOPIC)
        await record(tx, actor, "project.update", project, before=before, after=after)
    return project.id


async def archive(
    tx: AsyncSession, clock: Clock, actor: Actor, ref: str, sessions: SessionsChoice | None
) -> ProjectId:
    """Archive the project: accept no new sessions. Twice: ends live sessions, if requested.

    Raises: NotFound, Forbidden; Conflict listing live sessions if there is no choice for them.
    """
    project = await tenancy.project(tx, actor, ref, "project.update")
    # Written first: concurrent session requests wait for this row and are then rejected.
    was, project.archived_at = project.archived_at, project.archived_at or clock.now()
    await tx.flush()
    ended = await live_sessions.keep_or_end(
        tx,
        clock,
        actor,
        Session.project_id == project.id,
        sessions,
        code="project.has_sessions",
        reason=f"Its project {project.name} was archived.",
    )
    if was is None or ended:
        await record(
            tx,
            actor,
            "project.update",
            project,
            before={"archived": was is not None},
            after={"archived": True},
            ended=ended,
        )
    return project.id


async def restore(tx: AsyncSession, actor: Actor, ref: str) -> ProjectId:
    """Restore the project. Twice: no-op. Raises: NotFound, Forbidden."""
    project = await tenancy.project(tx, actor, ref, "project.update")
    if project.archived_at is not None:
        project.archived_at = None
        await record(
            tx, actor, "project.update", project, before={"archived": True}, after={"archived": False}
        )
    return project.id


async def remove(tx: AsyncSession, actor: Actor, ref: str) -> None:
    """Delete a project that never had a session, with its memberships.

    Raises: NotFound, Forbidden; Conflict if it had sessions, or has folders or schedules.
    """
    project = await tenancy.project(tx, actor, ref, "project.remove")
    # Locked exclusively, so that no session is created in it meanwhile.
    await tx.execute(select(Project.id).where(Project.id == project.id).with_for_update())
    if (await tx.execute(select(exists().where(Session.project_id == project.id)))).scalar():
        raise Conflict(
            "project.has_past",
            f"{project.name} has had sessions, whose records must stay.",
            hint="Archive it instead.",
        )
    if (await tx.execute(select(exists().where(VFolder.project_id == project.id)))).scalar():
        raise Conflict(
            "project.has_folders",
            f"{project.name} still has folders, possibly in its trash.",
            hint="Hand them over or delete them for good first, or archive the project.",
        )
    if (await tx.execute(select(exists().where(RunSchedule.project_id == project.id)))).scalar():
        raise Conflict(
            "project.has_schedules",
            f"{project.name} still has schedules of recurring sessions.",
            hint="Delete them first, or archive the project.",
        )
    await tx.execute(delete(Membership).where(Membership.project_id == project.id))
    await tx.delete(project)
    await tx.flush()
    await record(tx, actor, "project.remove", project)


async def _flush(tx: AsyncSession, name: str) -> None:
    try:
        await tx.flush()
    except IntegrityError as error:
        if "uq_projects_domain_id_name" not in str(error.orig):
            raise
        raise Conflict(
            "project.name_taken",
            f"The domain has a project named {name}.",
            hint="Choose another name.",
            field="name",
        ) from None


async def record(tx: AsyncSession, actor: Actor, action: str, project: Project, **details: object) -> None:
    """Write the audit entry and publish an event to those who may see the project."""
    target = tenancy.project_target(project)
    audit.record(tx, actor, action, project.id, name=project.name, target=target, details=details)
    data = {"id": project.id, "name": project.name, "archived": project.archived_at is not None}
    kind = {"project.create": "project.created", "project.remove": "project.removed"}.get(
        action, "project.updated"
    )
    await events.record(tx, kind, project.id, target=target, data=data)
