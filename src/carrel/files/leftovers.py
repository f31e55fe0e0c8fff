"""What uploads leave behind when nobody goes on with them, or when a server is killed; deleted now and then."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import delete, select

from carrel.core.errors import NotFound, Unavailable
from carrel.core.ids import FolderId, StorageHostId, UploadId
from carrel.files.model import Upload
from carrel.storage import staged
from carrel.storage.port import Place
from carrel.storage_hosts.storages import Storages
from carrel.vfolders.model import VFolder

PRUNED_AT_ONCE = 200
OLD = timedelta(hours=1)
"""A file of one request that nobody writes is left over when it is so old."""


def staged_name(upload: UploadId) -> str:
    return f"{staged.UPLOAD}{upload}"


def discard(stage: Path, name: str) -> None:
    """Delete what has arrived of an upload. Twice, or absent: success. Raises: Locked."""
    try:
        file = staged.opened(stage, name)
    except NotFound:
        return
    file.remove()
    staged.remove(stage, f"{name}{staged.PART}")
    file.close()


async def prune(transaction: Callable[[], Any], storages: Storages, now: datetime) -> None:
    """Forget uploads that nobody went on with, and what there is of them; of hosts that do not answer, later."""
    async with transaction() as tx:
        wanted = select(Upload.id, VFolder).join(VFolder, VFolder.id == Upload.folder_id)
        rows = (await tx.execute(wanted.where(Upload.expires_at < now).limit(PRUNED_AT_ONCE))).all()
    for upload, folder in rows:
        try:
            storage = await storages.of(folder.host_id)
            stage = storage.backend.stage(Place(folder.scope, folder.id))
            await storage.call(discard, stage, staged_name(upload))
        except (Unavailable, staged.Locked):
            continue
        async with transaction() as tx:
            await tx.execute(delete(Upload).where(Upload.id == upload))


async def sweep(transaction: Callable[[], Any], storages: Storages, now: datetime) -> None:
    """Delete what requests left that a killed server was answering; on hosts that do not answer, another time."""
    after, away = FolderId(""), set[StorageHostId]()
    while True:
        async with transaction() as tx:
            wanted = select(VFolder.id, VFolder.host_id, VFolder.scope).where(VFolder.id > after)
            rows = (await tx.execute(wanted.order_by(VFolder.id).limit(PRUNED_AT_ONCE))).all()
        if not rows:
            return
        for host in {row.host_id for row in rows} - away:
            storage = await storages.of(host)
            here = [Place(row.scope, row.id) for row in rows if row.host_id == host]
            stages = [storage.backend.stage(place) for place in here]
            try:
                await storage.call(staged.sweep, stages, int((now - OLD).timestamp() * 10**9))
            except Unavailable:
                away.add(host)
        after = rows[-1].id
