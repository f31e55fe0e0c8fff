"""Periodic cleanup of abandoned uploads and of files left by a killed server."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import delete, select, tuple_

from carrel.core.errors import CarrelError, Locked, NotFound, Unavailable
from carrel.core.ids import FolderId, StorageHostId, UploadId
from carrel.folders.hosts.storages import HostStorage, Storages
from carrel.storage import staged
from carrel.storage.port import FolderLocation, StorageUnavailable
from carrel.tables.folders import VFolder
from carrel.tables.uploads import Upload

log = structlog.get_logger()

PRUNED_AT_ONCE = 200
OLD = timedelta(hours=1)
"""Age from which an unwritten file of a single request counts as a leftover."""


def staged_name(upload: UploadId) -> str:
    return f"{staged.UPLOAD}{upload}"


def discard(stage: Path, name: str) -> None:
    """Delete the received part of an upload. Twice, or absent: success. Raises: Locked."""
    try:
        file = staged.opened(stage, name)
    except NotFound:
        return
    file.remove()
    staged.remove(stage, f"{name}{staged.PART}")
    file.close()


async def prune(transaction: Callable[[], Any], storages: Storages, now: datetime) -> None:
    """Delete abandoned uploads and their data; failed deletions are retried later."""
    after, away = (datetime.min.replace(tzinfo=UTC), UploadId("")), set[StorageHostId]()
    while True:
        async with transaction() as tx:
            place = tuple_(Upload.expires_at, Upload.id)
            statement = select(Upload.expires_at, Upload.id, VFolder).join(
                VFolder, VFolder.id == Upload.folder_id
            )
            statement = statement.where(Upload.expires_at < now, place > after, VFolder.host_id.not_in(away))
            rows = (await tx.execute(statement.order_by(place).limit(PRUNED_AT_ONCE))).all()
        if not rows:
            return
        for _, upload, folder in rows:
            if folder.host_id not in away and await _discarded(storages, upload, folder, away):
                async with transaction() as tx:
                    await tx.execute(delete(Upload).where(Upload.id == upload))
        after = rows[-1].expires_at, rows[-1].id


async def _discarded(storages: Storages, upload: UploadId, folder: VFolder, away: set[StorageHostId]) -> bool:
    """True if nothing is left. A host that does not respond is skipped from then on."""
    try:
        storage = await storages.of(folder.host_id)
        stage = storage.backend.stage(FolderLocation(folder.scope, folder.id))
        await storage.call(_discard_there, stage, staged_name(upload))
    except Unavailable:
        away.add(folder.host_id)
        return False
    except Locked:
        return False
    except (CarrelError, OSError) as error:
        log.warning("leftovers.kept", upload=upload, folder=folder.id, error=str(error))
        return False
    return True


def _discard_there(stage: Path, name: str) -> None:
    """Raises: FileNotFoundError when there is no stage, which implies nothing for other folders of its host."""
    try:
        discard(stage, name)
    except StorageUnavailable as error:
        raise FileNotFoundError(error.message) from error


async def sweep(transaction: Callable[[], Any], storages: Storages, now: datetime) -> None:
    """Delete leftovers of requests that a killed server was handling; failed deletions are retried later."""
    after, away = FolderId(""), set[StorageHostId]()
    before_ns = int((now - OLD).timestamp() * 10**9)
    while True:
        async with transaction() as tx:
            statement = select(VFolder.id, VFolder.host_id, VFolder.scope).where(VFolder.id > after)
            rows = (await tx.execute(statement.order_by(VFolder.id).limit(PRUNED_AT_ONCE))).all()
        if not rows:
            return
        for host in {row.host_id for row in rows} - away:
            here = [FolderLocation(row.scope, row.id) for row in rows if row.host_id == host]
            try:
                await _sweep(await storages.of(host), here, before_ns)
            except Unavailable:
                away.add(host)
        after = rows[-1].id


async def _sweep(storage: HostStorage, places: Sequence[FolderLocation], before_ns: int) -> None:
    """Raises: Unavailable."""
    try:
        await storage.call(staged.sweep, [storage.backend.stage(place) for place in places], before_ns)
    except Unavailable:
        raise
    except (CarrelError, OSError) as error:
        if len(places) > 1:
            # It stopped at the first obstacle.
            for place in places:
                await _sweep(storage, [place], before_ns)
        else:
            log.warning("leftovers.not_swept", folder=places[0].folder, error=str(error))
