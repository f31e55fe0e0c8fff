"""Recovery of missing audit entries of file changes: an intent before each change, an entry for each leftover intent.

See `carrel.storage.intents`. The details of a late entry have `interrupted_at`, the start of the change.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, Conflict, Unavailable
from carrel.folders import access
from carrel.folders.files.folder_access import MOST_NOTED, OpenedFolder
from carrel.folders.hosts.storages import HostStorage, Storages
from carrel.permissions.actions import Role
from carrel.permissions.decide import Actor
from carrel.storage import interrupted
from carrel.storage.intents import Done, Intent
from carrel.storage.interrupted import InterruptedChange
from carrel.storage.port import FolderLocation
from carrel.tables.audit import AuditEntry
from carrel.tables.folders import VFolder
from carrel.tables.storage_hosts import StorageHost
from carrel.tables.uploads import Upload

log = structlog.get_logger()

_CLOCKS_DIFFER = timedelta(hours=1)


def intent(
    clock: Clock,
    opened: OpenedFolder,
    action: str,
    details: Mapping[str, object] | None = None,
    *,
    upload: str | None = None,
) -> Intent:
    """The intent of the actor's change. details: of the entry, besides paths and bytes."""
    actor, folder = opened.actor, opened.folder
    known = {
        "action": action,
        "at": clock.now().isoformat(),
        "details": details or {},
        "upload": upload,
        "folder": folder.id,
        "host": folder.host_id,
        "scope": folder.scope,
        "actor": {
            "user_id": actor.user_id,
            "email": actor.email,
            "domain_id": actor.domain_id,
            "credential": actor.credential,
            "address": actor.address,
            "request_id": actor.request_id,
        },
    }
    return Intent(opened.storage.backend.root, known)


@asynccontextmanager
async def ending(opened: OpenedFolder, about: Intent) -> AsyncIterator[None]:
    """Commit the audit entry inside the block. If that fails, the intent is left for `write_down`."""
    try:
        yield
    except Conflict:  # its folder has moved
        await opened.call(about.end)
        raise
    except BaseException:
        about.close()
        raise
    with suppress(CarrelError, OSError):
        await opened.call(about.end)


async def write_down_all(transaction: Callable[[], Any], storages: Storages, clock: Clock) -> None:
    """Call `write_down` for every storage host that responds."""
    async with transaction() as tx:
        hosts = (await tx.execute(select(StorageHost.id).order_by(StorageHost.id))).scalars().all()
    for host in hosts:
        try:
            await write_down(transaction, await storages.of(host), clock)
        except (CarrelError, OSError) as error:
            log.warning("interrupted.not_read", host=host, error=str(error))


async def write_down(transaction: Callable[[], Any], storage: HostStorage, clock: Clock) -> None:
    """Write audit entries for changes whose request is gone. Raises: Unavailable, OSError."""
    for left in await storage.call(interrupted.left, storage.backend.root):
        try:
            await _write_down(transaction, storage, left, clock)
        except Unavailable:
            raise
        except (CarrelError, OSError) as error:
            log.warning("interrupted.not_written_down", folder=left.known["folder"], error=str(error))
        finally:
            left.close()


async def _write_down(
    transaction: Callable[[], Any], storage: HostStorage, left: InterruptedChange, clock: Clock
) -> None:
    known = left.known
    place = FolderLocation(known["scope"], known["folder"])
    async with transaction() as tx:
        folder = await tx.get(VFolder, known["folder"])
    # Changes to a folder that has moved are lost with the old location and get no entry.
    if folder is not None and (folder.host_id, folder.scope) == (known["host"], known["scope"]):
        stage = storage.backend.stage(place)
        done = await storage.call(left.done, storage.backend.files(place), stage)
        async with transaction() as tx:
            written = await _write(tx, folder, left, done, clock.now())
        await storage.call(left.clear, stage)
        log.info("interrupted.written_down", folder=folder.id, action=known["action"], entries=written)
    await storage.call(left.end)


async def _write(
    tx: AsyncSession, folder: VFolder, left: InterruptedChange, done: Done, now: datetime
) -> int:
    """The number of missing entries, now written."""
    known, missing = left.known, 0
    actor = Actor(role=Role.USER, projects=frozenset(), administers=frozenset(), **known["actor"])
    if known["upload"] and await _finished(tx, known["upload"], done, now):
        return 0
    written = await _written(tx, left)
    for start in range(0, len(done), MOST_NOTED):
        some = done[start : start + MOST_NOTED]
        paths, sizes = [path for path, _ in some], [size for _, size in some if size is not None]
        if paths in written:
            continue
        details = {"paths": paths, "count": len(paths), **known["details"], "interrupted_at": known["at"]}
        if sizes:
            details["bytes"] = sum(sizes)
        audit.record(
            tx,
            actor,
            known["action"],
            folder.id,
            name=folder.name,
            target=access.target(folder),
            details=details,
        )
        missing += 1
    if missing:
        await tx.execute(update(VFolder).where(VFolder.id == folder.id).values(touched_at=now))
    return missing


async def _finished(tx: AsyncSession, upload: str, done: Done, now: datetime) -> bool:
    """True if the upload was already recorded as in place; otherwise record it, if it is in place."""
    row = (await tx.execute(select(Upload).where(Upload.id == upload).with_for_update())).scalar()
    if row is None or row.done_path is not None:
        return row is not None
    if done:
        row.done_path, row.length = done[0]
        row.expires_at = now + timedelta(days=1)
    return False


async def _written(tx: AsyncSession, left: InterruptedChange) -> Sequence[Sequence[str]]:
    """Paths whose entries were committed before the request was cut off."""
    known = left.known
    paths = AuditEntry.details["paths"].label("paths")
    statement = select(paths).where(
        AuditEntry.object_id == known["folder"],
        AuditEntry.at > datetime.fromisoformat(known["at"]) - _CLOCKS_DIFFER,
        AuditEntry.action == known["action"],
        AuditEntry.request_id == known["actor"]["request_id"],
        AuditEntry.actor_id == known["actor"]["user_id"],
    )
    return (await tx.execute(statement)).scalars().all()
