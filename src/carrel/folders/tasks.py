"""Long-running folder operations: requested here, performed by the leader (`controllers.folder_tasks`), with progress.

Arguments of a task, by kind:

- CLONE, of the new folder: `source`, the id of the original folder.
- MOVE, to another location on disk: `host` and `scope`, the target. Once the outcome is decided: `clear`, the location
  (host and scope) to be deleted, and `outcome`, how the task ends after that.
- REMOVE: none.
- COPY, of the source folder: `paths`; `folder`, the id of the target folder; `to`, a directory there; `name`, of the
  copy of a single path, or null; `clash`.
- CLEAN: `entry`, a name in the folder's stage; none to delete all files of a failed folder.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from carrel.core.clock import Clock
from carrel.core.errors import Conflict, NotFound
from carrel.core.ids import FolderId, FolderTaskId, UserId, new_id
from carrel.db.database import notify
from carrel.db.scope import permitted
from carrel.folders.access import target
from carrel.folders.recipients import task_changed
from carrel.permissions.decide import Actor, Target, allows, require
from carrel.tables.folder_states import FolderState
from carrel.tables.folders import TASKS, FolderTask, TaskKind, TaskState, VFolder

KEPT = timedelta(days=30)
"""How long a finished task is kept."""

_ENDLESS = frozenset({TaskKind.REMOVE, TaskKind.CLEAN})
_HINDERS = frozenset({TaskKind.CLONE, TaskKind.MOVE, TaskKind.COPY})
IS_OPEN: ColumnElement[bool] = FolderTask.ended_at.is_(None)


async def enqueue(
    tx: AsyncSession,
    clock: Clock,
    actor: Actor | None,
    kind: TaskKind,
    folder: VFolder,
    arguments: Mapping[str, object],
) -> FolderTask:
    """Create a pending task; it starts soon after the commit. actor None: the installation itself.

    Raises: Conflict when a source or target folder is not in use.
    """
    if kind is TaskKind.COPY:
        await _keep_in_use(tx, {folder.id, str(arguments.get("folder") or folder.id)})
    task = FolderTask(
        id=FolderTaskId(new_id()),
        kind=kind,
        folder_id=folder.id,
        folder_name=folder.name,
        actor_id=actor.user_id if actor else None,
        domain_id=folder.domain_id,
        arguments=dict(arguments),
        state=TaskState.WAITING,
        done_bytes=0,
        done_files=0,
        cancel=False,
        created_at=clock.now(),
    )
    tx.add(task)
    await tx.flush()
    await task_changed(tx, task, folder)
    await notify(tx, TASKS)
    return task


async def _keep_in_use(tx: AsyncSession, folders: set[str]) -> None:
    """Lock the folders, so that they cannot be trashed or moved until the task is visible."""
    statement = select(VFolder).where(VFolder.id.in_(folders), VFolder.state == FolderState.READY)
    rows = (await tx.execute(statement.order_by(VFolder.id).with_for_update(read=True))).scalars().all()
    if len(rows) < len(folders):
        raise Conflict(
            "vfolder.state",
            "The source or target folder cannot be used now.",
            hint="Check whether it is in the trash or being moved.",
        )


async def find(
    tx: AsyncSession, actor: Actor, ref: str, action: str = "vfolder.read", *, lock: bool = False
) -> FolderTask:
    """The task with this id: the actor's own, or one that copies from, copies into or deletes a folder they administer.

    Raises: NotFound, Forbidden.
    """
    administered = select(VFolder.id).where(
        concerning(VFolder.id),
        permitted(
            actor,
            "vfolder.update",
            owner=VFolder.owner_id,
            domain=VFolder.domain_id,
            project=VFolder.project_id,
        ),
    )
    seen = or_(
        FolderTask.actor_id == actor.user_id,
        permitted(actor, "vfolder.read", domain=FolderTask.domain_id),
        administered.exists(),
    )
    statement = select(FolderTask).where(FolderTask.id == ref, seen)
    task = (await tx.execute(statement.with_for_update(of=FolderTask) if lock else statement)).scalar()
    if task is None:
        raise NotFound(
            "vfolder_task.not_found", f"There is no task {ref}.", hint="See `carrel vfolder tasks`."
        )
    # not narrowed: the owners of the folders determine the authorization
    folders = (await tx.execute(select(VFolder).where(VFolder.id.in_(_folders(task))))).scalars().all()
    if not any(allows(actor, action, target(folder)) for folder in folders):
        project = next((folder.project_id for folder in folders if folder.id == task.folder_id), None)
        require(actor, action, Target(task.actor_id, project, task.domain_id))
    return task


def _folders(task: FolderTask) -> list[str]:
    return [each for each in (task.folder_id, *map(task.arguments.get, ("source", "folder"))) if each]


async def cancel(tx: AsyncSession, clock: Clock, actor: Actor, ref: str) -> None:
    """Request cancellation of a task. Twice, or when it has ended: no-op. Raises: NotFound, Forbidden, Conflict."""
    task = await find(tx, actor, ref, "vfolder.update", lock=True)
    if task.ended_at is not None or task.cancel:
        return
    folder = await tx.get(VFolder, task.folder_id) if task.folder_id else None
    handed_over = folder is not None and task.arguments.get("host") == folder.host_id
    if task.kind in _ENDLESS or "outcome" in task.arguments or handed_over:
        raise Conflict(
            "vfolder_task.not_cancellable",
            f"This task can no longer be canceled: {task.kind} of {task.folder_name}.",
            hint="Wait until it is done.",
            details={"kind": task.kind},
        )
    task.cancel = True
    await tx.flush()
    await notify(tx, TASKS)


async def require_idle(tx: AsyncSession, folder: VFolder) -> None:
    """Check that no task copies from or into the folder. Raises: Conflict naming the task."""
    busy = await open_on(tx, folder.id)
    if busy is not None:
        raise Conflict(
            "vfolder.busy",
            f"{folder.name} is being copied.",
            hint="Wait until that is done, or cancel it.",
            details={"task": busy.id, "kind": busy.kind},
        )


async def open_on(tx: AsyncSession, folder: FolderId) -> FolderTask | None:
    """An open task that copies from or into the folder, or moves it."""
    statement = select(FolderTask).where(IS_OPEN, FolderTask.kind.in_(sorted(_HINDERS)), concerning(folder))
    return (await tx.execute(statement.limit(1))).scalar()


def concerning(folder: FolderId | InstrumentedAttribute[FolderId]) -> ColumnElement[bool]:
    """A condition for tasks of the folder, and for those that copy from or into it."""
    return or_(
        FolderTask.folder_id == folder,
        FolderTask.arguments["source"].astext == folder,
        FolderTask.arguments["folder"].astext == folder,
    )


async def removal_of(tx: AsyncSession, folder: VFolder) -> FolderTask | None:
    """The task that permanently deletes the folder, if any."""
    statement = select(FolderTask).where(
        IS_OPEN, FolderTask.kind == TaskKind.REMOVE, FolderTask.folder_id == folder.id
    )
    return (await tx.execute(statement.limit(1))).scalar()


async def end(
    tx: AsyncSession, task: FolderTask, state: TaskState, now: datetime, problem: str | None = None
) -> None:
    """Record how a task ended."""
    task.state, task.ended_at, task.problem = state, now, problem
    await tx.flush()
    folder = await tx.get(VFolder, task.folder_id) if task.folder_id else None
    await task_changed(tx, task, folder)


async def forget(tx: AsyncSession, person: UserId) -> None:
    """Delete the records of a user's finished tasks."""
    await tx.execute(delete(FolderTask).where(FolderTask.actor_id == person, ~IS_OPEN))


async def prune(tx: AsyncSession, now: datetime) -> None:
    """Delete the records of tasks that ended long ago."""
    await tx.execute(delete(FolderTask).where(FolderTask.ended_at < now - KEPT))
