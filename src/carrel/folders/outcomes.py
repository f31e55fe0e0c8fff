"""Outcomes of folder tasks: recorded by the leader only, in one transaction each."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.ids import FolderTaskId, StorageHostId
from carrel.db.database import notify
from carrel.folders.access import target
from carrel.folders.recipients import folder_changed, task_changed
from carrel.folders.service import LEFT_ALONE, begin_removal, settle
from carrel.folders.tasks import end, enqueue
from carrel.storage.port import Advance, FolderLocation
from carrel.tables.folder_states import FolderState
from carrel.tables.folders import TOPIC, FolderMount, FolderTask, TaskKind, TaskState, VFolder

_AT_ONCE = 100
_TAKES_AWAY = (TaskKind.MOVE, TaskKind.REMOVE)


async def to_do(tx: AsyncSession) -> list[FolderTask]:
    """Runnable tasks, oldest first. A folder mounted in a live session is not moved or deleted."""
    mounted = (
        select(FolderMount.folder_id)
        .where(FolderMount.folder_id == FolderTask.folder_id, FolderMount.released_at.is_(None))
        .exists()
    )
    waits = FolderTask.kind.in_(_TAKES_AWAY) & mounted
    statement = select(FolderTask).where(FolderTask.ended_at.is_(None), ~waits)
    return list((await tx.execute(statement.order_by(FolderTask.created_at, FolderTask.id))).scalars())


async def half_made(tx: AsyncSession, now: datetime) -> list[VFolder]:
    """Folders whose creation was started by a process that is probably dead."""
    left = (VFolder.state == FolderState.CREATING) & (VFolder.created_at < now - LEFT_ALONE)
    return list((await tx.execute(select(VFolder).where(left))).scalars())


async def begin(tx: AsyncSession, task: FolderTaskId, now: datetime) -> FolderTask | None:
    """The task, now running; None when it has ended."""
    row = await _locked(tx, task)
    if row is None:
        return None
    row.state, row.started_at = TaskState.RUNNING, row.started_at or now
    row.done_bytes, row.done_files, row.total_bytes, row.total_files = 0, 0, None, None
    await tx.flush()
    await _publish(tx, row)
    return row


async def advanced(tx: AsyncSession, task: FolderTaskId, advance: Advance | None) -> bool:
    """Record the progress of a task; True if its cancellation was requested."""
    row = await _locked(tx, task)
    if row is None:
        return True
    if advance is not None:
        _measure(row, advance)
        await tx.flush()
        await _publish(tx, row)
    return row.cancel


async def hindered(tx: AsyncSession, task: FolderTaskId, problem: str) -> None:
    """Record why a task is blocked; it is retried."""
    row = await _locked(tx, task)
    if row is not None and row.problem != problem:
        row.problem = problem
        await tx.flush()
        await _publish(tx, row)


async def done(tx: AsyncSession, task: FolderTaskId, advance: Advance | None, now: datetime) -> None:
    """Complete a task without further consequences."""
    row = await _locked(tx, task)
    if row is not None:
        if advance is not None:
            _measure(row, advance)
        await end(tx, row, TaskState.DONE, now)


async def failed(
    tx: AsyncSession, task: FolderTaskId, state: TaskState, problem: str | None, now: datetime
) -> None:
    """Fail a task without consequences for its folder."""
    row = await _locked(tx, task)
    if row is not None:
        await end(tx, row, state, now, problem)


async def copied(tx: AsyncSession, task: FolderTaskId, advance: Advance | None, now: datetime) -> None:
    """Complete a clone."""
    row = await _locked(tx, task)
    if row is None or row.folder_id is None:
        return
    folder = await settle(tx, row.folder_id, FolderState.READY)
    if folder is not None:
        folder.touched_at = now
    await done(tx, task, advance, now)


async def not_copied(
    tx: AsyncSession, clock: Clock, task: FolderTaskId, state: TaskState, problem: str | None
) -> None:
    """Fail or cancel a clone; a cancelled one is deleted, and so is one for another owner.

    A failed clone that remains states its error and takes no space, because space may have been the problem.
    """
    row = await _locked(tx, task)
    if row is None or row.folder_id is None:
        return
    folder = await settle(tx, row.folder_id, FolderState.FAILED, reason=problem)
    await end(tx, row, state, clock.now(), problem)
    if folder is None:
        return
    for_another = folder.owner_id is not None and folder.owner_id != row.actor_id
    if state is TaskState.CANCELLED or for_another:
        await begin_removal(tx, clock, None, folder)
        return
    folder.used_bytes, folder.files = 0, 0
    await enqueue(tx, clock, None, TaskKind.CLEAN, folder, {})


async def moved(
    tx: AsyncSession, task: FolderTaskId, host: StorageHostId, place: FolderLocation, now: datetime
) -> FolderTask | None:
    """Complete the move; the old copy can be deleted. None: the folder is not to be moved any more."""
    row = await _locked(tx, task)
    folder = await settle(tx, place.folder, FolderState.READY) if row else None
    if row is None or folder is None:
        return None
    left = {"host": folder.host_id, "scope": folder.scope}
    folder.host_id, folder.scope, folder.touched_at = host, place.scope, now
    await _clear(tx, row, left, TaskState.DONE, None)
    return row


async def not_moved(tx: AsyncSession, task: FolderTaskId, state: TaskState, problem: str | None) -> None:
    """Keep the folder in place; the partial new copy can be deleted."""
    row = await _locked(tx, task)
    if row is None or row.folder_id is None:
        return
    if await settle(tx, row.folder_id, FolderState.READY) is None:
        return
    left = {"host": row.arguments["host"], "scope": row.arguments["scope"]}
    await _clear(tx, row, left, state, problem)


async def files_copied(
    tx: AsyncSession, clock: Clock, task: FolderTaskId, into: VFolder, entry: str, advance: Advance | None
) -> None:
    """Complete a copy of files. entry: in the stage of the folder; it can be deleted."""
    await done(tx, task, advance, clock.now())
    await _sweep(tx, clock, into, entry)


async def files_not_copied(
    tx: AsyncSession, clock: Clock, task: FolderTaskId, entry: str, state: TaskState, problem: str | None
) -> None:
    """Fail or cancel a copy of files."""
    row = await _locked(tx, task)
    if row is None:
        return
    await end(tx, row, state, clock.now(), problem)
    into = await tx.get(VFolder, str(row.arguments.get("folder") or row.folder_id))
    if into is not None:
        await _sweep(tx, clock, into, entry)


async def _sweep(tx: AsyncSession, clock: Clock, folder: VFolder, entry: str) -> None:
    """Clean up after a partial copy, including the stage."""
    touched = update(VFolder).where(VFolder.id == folder.id).values(touched_at=clock.now())
    await tx.execute(touched.execution_options(synchronize_session=False))
    await folder_changed(tx, "files.changed", folder)
    await notify(tx, TOPIC)
    await enqueue(tx, clock, None, TaskKind.CLEAN, folder, {"entry": entry})


async def removed(tx: AsyncSession, task: FolderTaskId, advance: Advance | None, now: datetime) -> None:
    """Complete the permanent deletion of a folder."""
    row = await _locked(tx, task)
    if row is None or row.folder_id is None:
        return
    folder = (
        await tx.execute(select(VFolder).where(VFolder.id == row.folder_id).with_for_update())
    ).scalar_one()
    await done(tx, task, advance, now)
    await folder_changed(tx, "vfolder.removed", folder)
    audit.record_own(
        tx,
        "vfolder.remove",
        folder.id,
        name=folder.name,
        target=target(folder),
        details={"task": task, "outcome": "gone"},
    )
    await tx.flush()
    await tx.delete(folder)
    await tx.flush()


async def expire(tx: AsyncSession, clock: Clock, *, days: int) -> bool:
    """Permanently delete some folders that have been in the trash for this many days. True: there may be more."""
    old = VFolder.trashed_at < clock.now() - timedelta(days=days)
    statement = select(VFolder).where(VFolder.state == FolderState.TRASHED, old).limit(_AT_ONCE)
    folders = (await tx.execute(statement.with_for_update(skip_locked=True))).scalars().all()
    for folder in folders:
        audit.record_own(
            tx,
            "vfolder.remove",
            folder.id,
            name=folder.name,
            target=target(folder),
            details={"reason": f"It was in the trash for {days} days.", "used_bytes": folder.used_bytes},
        )
        await begin_removal(tx, clock, None, folder)
    return len(folders) == _AT_ONCE


async def _clear(
    tx: AsyncSession, task: FolderTask, left: Mapping[str, object], outcome: TaskState, problem: str | None
) -> None:
    task.arguments = {**task.arguments, "clear": dict(left), "outcome": outcome.value}
    task.problem = problem
    await tx.flush()
    await _publish(tx, task)


def _measure(task: FolderTask, advance: Advance) -> None:
    task.done_bytes, task.done_files = advance.done_bytes, advance.done_files
    task.total_bytes, task.total_files = advance.total_bytes, advance.total_files


async def _locked(tx: AsyncSession, task: FolderTaskId) -> FolderTask | None:
    """The task, locked, while it is open."""
    statement = select(FolderTask).where(FolderTask.id == task, FolderTask.ended_at.is_(None))
    return (await tx.execute(statement.with_for_update())).scalar()


async def _publish(tx: AsyncSession, task: FolderTask) -> None:
    await task_changed(tx, task, await tx.get(VFolder, task.folder_id) if task.folder_id else None)
