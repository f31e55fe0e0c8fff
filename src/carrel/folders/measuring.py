"""Measurement of folder sizes: which folders are due, and recording of results."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import case, func, or_, select, union, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import StorageHostId
from carrel.events import service as events
from carrel.folders import quotas, recipients
from carrel.storage.port import Measure
from carrel.tables.folder_states import FolderState
from carrel.tables.folders import FolderMount, VFolder

MOUNTED_EVERY = timedelta(minutes=1)
"""Measuring interval of folders that live sessions may write to: their writes are not reported."""
ALL_EVERY = timedelta(days=1)
_THERE = (FolderState.READY, FolderState.MOVING, FolderState.TRASHED)
"""A folder being filled with a copy counts with its final size."""
_SOME = 3
_WHILE_CHANGING = 10


async def due(
    tx: AsyncSession, host: StorageHostId, now: datetime, *, limit: int, late: timedelta = timedelta()
) -> Sequence[VFolder]:
    """Folders of the host to be measured, longest waiting first.

    Folders are due when they changed or were never measured, when live sessions may write to them, or after a day.
    late: delay until the host's counters include a write; a changed folder is measured after it, or periodically while
    it keeps changing.
    """
    here = select(VFolder.id).where(VFolder.host_id == host, VFolder.state.in_(_THERE))
    changed = or_(VFolder.measured_at.is_(None), VFolder.touched_at > VFolder.measured_at)
    counted = or_(
        VFolder.measured_at.is_(None),
        VFolder.touched_at < now - late,
        VFolder.measured_at < now - late * (_WHILE_CHANGING + 1),
    )
    writable = select(FolderMount.folder_id).where(
        FolderMount.released_at.is_(None), FolderMount.read_only.is_(False)
    )
    # Each condition has an index of its own, which one combined condition could not use.
    candidates = union(
        here.where(changed, counted),
        here.where(VFolder.measured_at < now - ALL_EVERY),
        here.where(VFolder.id.in_(writable), VFolder.measured_at < now - late - MOUNTED_EVERY),
    ).subquery()
    statement = select(VFolder).where(VFolder.id.in_(select(candidates.c.id)))
    oldest_first = statement.order_by(VFolder.measured_at.nulls_first(), VFolder.id)
    return (await tx.execute(oldest_first.limit(limit))).scalars().all()


async def some(tx: AsyncSession, host: StorageHostId) -> Sequence[VFolder]:
    """A few folders of the host, the oldest; empty if it has none."""
    states = (FolderState.READY, FolderState.TRASHED)
    there = select(VFolder).where(VFolder.host_id == host, VFolder.state.in_(states))
    return (await tx.execute(there.order_by(VFolder.created_at, VFolder.id).limit(_SOME))).scalars().all()


async def record(tx: AsyncSession, folder: VFolder, measured: Measure, *, as_of: datetime) -> None:
    """Record the size of a folder, unless it has moved meanwhile, and publish changes of it and of its quota level.

    as_of: writes up to this time are included; later changes are measured again, and bytes received later count until
    then.
    """
    # Lock order: the folder before its scope, as in cloning, moving and transferring; otherwise they could deadlock.
    size = select(VFolder.used_bytes, VFolder.files, VFolder.measured_at, VFolder.touched_at)
    last = (await tx.execute(size.where(VFolder.id == folder.id).with_for_update(key_share=True))).first()
    await quotas.lock(tx, folder.scope)
    before = await quotas.usage_of(tx, folder.scope)
    kept = await tx.execute(
        update(VFolder)
        .where(VFolder.id == folder.id, VFolder.host_id == folder.host_id, VFolder.state.in_(_THERE))
        .values(
            used_bytes=case(
                (VFolder.touched_at > as_of, func.greatest(VFolder.used_bytes, measured.used_bytes)),
                else_=measured.used_bytes,
            ),
            files=VFolder.files if measured.files is None else measured.files,
            measured_at=as_of,
        )
        .returning(VFolder)
        .execution_options(populate_existing=True)
    )
    if (now := kept.scalar()) and last:
        # The API's estimates since the last measurement were not published.
        estimated = last.measured_at is None or (last.touched_at or last.measured_at) > last.measured_at
        if estimated or (now.used_bytes, now.files) != (last.used_bytes, last.files):
            await recipients.folder_changed(tx, "vfolder.updated", now)
        await _publish(tx, folder.scope, before.bytes)


async def _publish(tx: AsyncSession, scope: str, before: int) -> None:
    """Notify the owner once per crossing of 80 % and 100 % of their limit, in both directions."""
    most = await quotas.limit_of(tx, scope)
    used = (await quotas.usage_of(tx, scope)).bytes
    level = quotas.level_of(used, most.bytes)
    if level != quotas.level_of(before, most.bytes):
        data = {
            "scope": scope,
            "label": most.label,
            "level": level,
            "used_bytes": used,
            "most_bytes": most.bytes,
        }
        await events.record(tx, "quota.updated", scope, target=most.target, data=data)
