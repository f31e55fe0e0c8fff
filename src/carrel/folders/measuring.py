"""What folders take: which are to be measured now, and writing down what was found."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import case, func, or_, select, union, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import StorageHostId
from carrel.events import service as events
from carrel.folders import quotas
from carrel.storage.port import Measure
from carrel.tables.folder_states import FolderState
from carrel.tables.folders import FolderMount, VFolder

MOUNTED_EVERY = timedelta(minutes=1)
"""How often what a live session may write to is measured: what it writes, nobody tells us."""
ALL_EVERY = timedelta(days=1)
_THERE = (FolderState.READY, FolderState.MOVING, FolderState.TRASHED)
"""One that is filled with a copy takes what it will take."""
_SOME = 3
_WHILE_CHANGING = 10


async def due(
    tx: AsyncSession, host: StorageHostId, now: datetime, *, limit: int, late: timedelta = timedelta()
) -> Sequence[VFolder]:
    """Folders of the host to be measured, those that wait longest first.

    Those that changed, or were never measured; that live sessions may write to; that were not looked at for a day.
    late: how long the host takes to count what was written; one that changed is looked at when that is over, or at
    times while it goes on changing.
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
    # Each is found by an index of its own, which one condition for all of them is not.
    found = union(
        here.where(changed, counted),
        here.where(VFolder.measured_at < now - ALL_EVERY),
        here.where(VFolder.id.in_(writable), VFolder.measured_at < now - late - MOUNTED_EVERY),
    ).subquery()
    wanted = select(VFolder).where(VFolder.id.in_(select(found.c.id)))
    oldest_first = wanted.order_by(VFolder.measured_at.nulls_first(), VFolder.id)
    return (await tx.execute(oldest_first.limit(limit))).scalars().all()


async def some(tx: AsyncSession, host: StorageHostId) -> Sequence[VFolder]:
    """A few of the folders that are on the host, the oldest; none when there is none."""
    whole = (FolderState.READY, FolderState.TRASHED)
    there = select(VFolder).where(VFolder.host_id == host, VFolder.state.in_(whole))
    return (await tx.execute(there.order_by(VFolder.created_at, VFolder.id).limit(_SOME))).scalars().all()


async def record(tx: AsyncSession, folder: VFolder, found: Measure, *, as_of: datetime) -> None:
    """Keep what a folder takes, unless it is elsewhere by now, and tell its owner when a limit comes near.

    as_of: what was written by then is in it; what changed since is measured again, and what came in counts until then.
    """
    # The folder before its scope, as whoever clones, moves or hands over the folder: else both could wait forever.
    await tx.execute(select(VFolder.id).where(VFolder.id == folder.id).with_for_update(key_share=True))
    await quotas.lock(tx, folder.scope)
    before = await quotas.usage_of(tx, folder.scope)
    kept = await tx.execute(
        update(VFolder)
        .where(VFolder.id == folder.id, VFolder.host_id == folder.host_id, VFolder.state.in_(_THERE))
        .values(
            used_bytes=case(
                (VFolder.touched_at > as_of, func.greatest(VFolder.used_bytes, found.used_bytes)),
                else_=found.used_bytes,
            ),
            files=VFolder.files if found.files is None else found.files,
            measured_at=as_of,
        )
        .returning(VFolder.scope)
    )
    if kept.first():
        await _tell(tx, folder.scope, before.bytes)


async def _tell(tx: AsyncSession, scope: str, before: int) -> None:
    """Tell the owner once each time that they come to 80 % and to 100 % of what they may, and back."""
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
