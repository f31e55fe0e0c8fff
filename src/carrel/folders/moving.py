"""Use cases that move a folder to another storage host or owner.

Both set its state to MOVING and leave the rest to `controllers.folder_tasks`: it moves the files, then updates the row
and sets it READY.
"""

from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Invalid
from carrel.core.ids import FolderId
from carrel.folders import access, quotas, tasks
from carrel.folders.grantees import recipient
from carrel.folders.hosts import service as hosts
from carrel.folders.mounted import require_unmounted
from carrel.folders.recipients import person_concerned
from carrel.folders.schemas import VFolderHandOver, VFolderMove
from carrel.folders.service import NewOwner, flush, record, require_state
from carrel.permissions.decide import Actor, require
from carrel.tables.folder_states import FolderState
from carrel.tables.folders import FolderShare, TaskKind, VFolder
from carrel.tables.tenancy import Project, User
from carrel.tenancy import queries as tenancy


async def move(tx: AsyncSession, clock: Clock, actor: Actor, ref: str, request: VFolderMove) -> FolderId:
    """Start a task that moves a folder to another storage host. Its files stay readable meanwhile.

    Raises: NotFound, Forbidden; Conflict while it is mounted or copied, or when it is there already.
    """
    folder = (await access.find(tx, actor, ref, "vfolder.update", lock=True)).folder
    require_state(folder, FolderState.READY)
    host = await hosts.choose(tx, actor, request.host, folder.project_id)
    if host.id == folder.host_id:
        raise Conflict(
            "vfolder.is_there",
            f"{folder.name} is already on {host.name}.",
            hint="Choose another storage host.",
            field="host",
        )
    await tasks.require_idle(tx, folder)
    await require_unmounted(tx, actor, folder)
    folder.state = FolderState.MOVING
    await tx.flush()
    before, after = {"host": folder.host_id}, {"host": host.id}
    await record(tx, actor, "vfolder.update", folder, before=before, after=after, to=host.name)
    await tasks.enqueue(tx, clock, actor, TaskKind.MOVE, folder, {"host": host.id, "scope": folder.scope})
    return folder.id


async def hand_over(
    tx: AsyncSession, clock: Clock, actor: Actor, ref: str, request: VFolderHandOver
) -> FolderId:
    """Transfer a folder to another user or a project, within their limits. Shares stay.

    Raises: NotFound, Forbidden, Invalid; Conflict while it is mounted or copied, or when they have a folder with its
    name; Refused by a limit.
    """
    folder = (await access.find(tx, actor, ref, "vfolder.hand_over", lock=True)).folder
    new_owner = await _new_owner(tx, actor, folder, request)
    require_state(folder, FolderState.READY)
    if folder.name.startswith("."):
        raise Invalid(
            "vfolder.automatic",
            f"{folder.name} is mounted automatically into every session of its owner.",
            hint="Rename it without the leading dot first.",
        )
    await tasks.require_idle(tx, folder)
    await require_unmounted(tx, actor, folder)
    await give(tx, clock, actor, folder, new_owner)
    return folder.id


async def give(
    tx: AsyncSession, clock: Clock, actor: Actor, folder: VFolder, new_owner: User | Project
) -> None:
    """Transfer an unblocked folder to its new owner.

    Raises: Conflict when they have a folder with its name; Refused.
    """
    # 1. name and quota of the new owner
    belonging = _belonging(new_owner)
    before = {"owner": folder.owner_id, "project": folder.project_id, "name": folder.name}
    former = folder.owner_id
    await quotas.require_folder(tx, belonging.scope)
    await quotas.require_room_in(tx, belonging.scope, folder.used_bytes)
    # 2. ownership
    folder.owner_id, folder.project_id, folder.domain_id = (
        belonging.owner,
        belonging.project,
        belonging.domain,
    )
    folder.owned_at = clock.now()
    folder.idempotency_key = None  # a repeated create request must not return it
    same = belonging.scope == folder.scope
    folder.state = FolderState.READY if same else FolderState.MOVING
    await flush(tx, folder, hint="Rename this one first.")
    whom = (
        FolderShare.user_id == belonging.owner
        if belonging.owner
        else FolderShare.project_id == belonging.project
    )
    await tx.execute(delete(FolderShare).where(FolderShare.folder_id == folder.id, whom))
    # 3. the storage scope that accounts for it
    if not same:
        there = {"host": folder.host_id, "scope": belonging.scope}
        await tasks.enqueue(tx, clock, actor, TaskKind.MOVE, folder, there)
    after = {"owner": folder.owner_id, "project": folder.project_id, "name": folder.name}
    to = new_owner.email if isinstance(new_owner, User) else new_owner.name
    await record(tx, actor, "vfolder.hand_over", folder, before=before, after=after, to=to)
    if former is not None and former != folder.owner_id:
        await person_concerned(tx, "vfolder.updated", folder, former)


async def _new_owner(
    tx: AsyncSession, actor: Actor, folder: VFolder, request: VFolderHandOver
) -> User | Project:
    if (request.user is None) == (request.project is None):
        raise Invalid(
            "vfolder.heir", "The new owner is either a user or a project.", hint="Specify one of them."
        )
    if request.user is not None:
        person = await recipient(tx, request.user, folder.domain_id, field="user")
        _require_change(folder.owner_id == person.id, folder, "user")
        return person
    assert request.project is not None
    project = await tenancy.project(tx, actor, request.project)
    # As for a new folder of the project: it counts against the project's quota, and all members have access.
    require(actor, "vfolder.create", tenancy.project_target(project))
    if project.domain_id != folder.domain_id:
        raise Conflict(
            "vfolder.other_domain",
            f"{project.name} is in another domain.",
            hint="Choose a project of the folder's own domain.",
            field="project",
        )
    if project.archived_at is not None:
        raise Conflict(
            "project.archived", f"{project.name} is archived.", hint="Restore it first.", field="project"
        )
    _require_change(folder.project_id == project.id, folder, "project")
    return project


def _require_change(same: bool, folder: VFolder, field: str) -> None:
    if same:
        raise Conflict(
            "vfolder.is_theirs",
            f"{folder.name} already belongs to them.",
            hint="Choose another one.",
            field=field,
        )


def _belonging(new_owner: User | Project) -> NewOwner:
    if isinstance(new_owner, User):
        return NewOwner(new_owner.id, None, new_owner.domain_id)
    return NewOwner(None, new_owner.id, new_owner.domain_id)
