"""Recipients of folder events: its administrators and everybody with access."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import UserId
from carrel.events import service as events
from carrel.folders.access import accepted, target
from carrel.folders.schemas import TaskView
from carrel.permissions.decide import Target
from carrel.tables.folders import FolderShare, FolderTask, VFolder
from carrel.tables.tenancy import Membership


async def folder_changed(tx: AsyncSession, kind: str, folder: VFolder) -> None:
    """Publish that a folder was created, updated or removed. kind: "vfolder.updated"."""
    data = {"id": folder.id, "name": folder.name, "state": folder.state}
    await events.record(tx, kind, folder.id, target=target(folder), data=data)
    await events.publish(tx, kind, folder.id, recipients=await _others(tx, folder), data=data)


async def person_concerned(tx: AsyncSession, kind: str, folder: VFolder, person: UserId) -> None:
    """Publish a change that concerns only one user: a folder shared with them, or revoked."""
    data = {"id": folder.id, "name": folder.name, "state": folder.state}
    await events.publish(tx, kind, folder.id, recipients=[person], data=data)


async def task_changed(tx: AsyncSession, task: FolderTask, folder: VFolder | None) -> None:
    """Publish the progress of a task to its requester and to everybody with access to the folder."""
    data = TaskView.model_validate(task, from_attributes=True).model_dump(mode="json")
    whose = Target(owner_id=task.actor_id, domain_id=task.domain_id)
    await events.record(tx, "vfolder_task.updated", task.id, target=whose, data=data)
    if folder is not None and folder.owner_id not in (None, task.actor_id):
        await events.publish(tx, "vfolder_task.updated", task.id, recipients=[folder.owner_id], data=data)


async def _others(tx: AsyncSession, folder: VFolder) -> list[UserId]:
    """Users with access to the folder by a share or a project, without its owner."""
    given = accepted(folder.id)
    shared = select(FolderShare.user_id).where(given, FolderShare.user_id.is_not(None))
    projects = select(FolderShare.project_id).where(given, FolderShare.project_id.is_not(None))
    members = select(Membership.user_id).where(
        (Membership.project_id == folder.project_id) | Membership.project_id.in_(projects)
    )
    user_ids = set((await tx.execute(shared.union(members))).scalars())
    return sorted(person for person in user_ids if person is not None and person != folder.owner_id)
