"""Upload records in the database: find, finish, delete."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Select, delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import NotFound
from carrel.folders.files import tus
from carrel.folders.files.folder_access import LONG_S, OpenedFolder, note, open_folder, require_in_place
from carrel.folders.files.interrupted import ending, intent, write_down
from carrel.folders.files.leftovers import staged_name
from carrel.folders.files.services import FileServices
from carrel.permissions.decide import Actor
from carrel.storage import interrupted, staged
from carrel.storage.staged import Staged
from carrel.storage.tree import Clash
from carrel.tables.folders import Permission
from carrel.tables.uploads import Upload

KEPT = timedelta(days=1)
"""Lifetime of an idle upload, and of the record of a finished one."""


@dataclass(frozen=True)
class CurrentUpload:
    """The record of an upload of the actor's."""

    opened: OpenedFolder
    row: Upload

    @property
    def name(self) -> str:
        return staged_name(self.row.id)


async def open_upload(services: FileServices, actor: Actor, ref: str, upload: str) -> CurrentUpload:
    """The actor's upload into a folder that they may still write; extends its lifetime."""
    opened = await open_folder(services, actor, ref, Permission.WRITE)
    async with services.database.transaction() as tx:
        row = await _row(tx, opened, upload, services.clock.now())
        row.expires_at = services.clock.now() + KEPT
    return CurrentUpload(opened, row)


async def size_of(services: FileServices, current: CurrentUpload) -> int:
    """Bytes received for an unfinished upload. Raises: NotFound."""
    (size,) = await current.opened.call(staged.sizes, current.opened.stage, [current.name])
    if size is None:
        size = await recover(services, current)
    return size


async def recover(services: FileServices, current: CurrentUpload) -> int:
    """The size of an upload that is missing in the stage: the server died after moving the file but before recording
    it.

    Records it now. Raises: Locked while another request is moving it; NotFound if the file is missing too, because its
    folder has moved.
    """
    opened, row = current.opened, current.row
    await write_down(services.database.transaction, opened.storage, services.clock)
    held = await opened.call(interrupted.held, opened.storage.backend.root)
    async with services.database.transaction() as tx:
        now = await tx.get(Upload, row.id)
    if now is not None and now.done_path is not None:
        row.done_path, row.length = now.done_path, now.length
        return row.length or 0
    if any(known["upload"] == row.id for known in held):
        raise staged.locked()
    await forget(services, [row.id])
    raise missing()


async def finish(services: FileServices, opened: OpenedFolder, row: Upload, file: Staged) -> None:
    """Move the received data to its target and record it. Raises: as `Staged.put`; Conflict."""
    size = file.size()
    about = intent(services.clock, opened, "file.upload", upload=row.id)
    put = partial(
        file.put,
        intent=about,
        modified_ns=tus.modified_ns(row.metadata_text),
        executable=tus.executable(row.metadata_text),
    )
    path = await opened.call(put, opened.root, row.path, Clash(row.clash), deadline_s=LONG_S)
    async with ending(opened, about):
        await note_done(services, opened, row, path, size)


async def note_done(services: FileServices, opened: OpenedFolder, row: Upload, path: str, size: int) -> None:
    """Record that the upload is a file. Raises: Conflict if its folder has moved."""
    async with services.database.transaction() as tx:
        await require_in_place(tx, opened)
        done = {"done_path": path, "length": size, "expires_at": services.clock.now() + KEPT}
        await tx.execute(update(Upload).where(Upload.id == row.id).values(done))
        note(tx, opened, "file.upload", [path], bytes=size)
    services.file_changes.note(opened.folder, size)
    row.done_path, row.length = path, size


async def forget(services: FileServices, uploads: Collection[str]) -> None:
    """Delete the records. Twice: no-op."""
    async with services.database.transaction() as tx:
        await tx.execute(delete(Upload).where(Upload.id.in_(uploads)))


async def _row(tx: AsyncSession, opened: OpenedFolder, upload: str, now: datetime) -> Upload:
    row = (await tx.execute(theirs(opened, now).where(Upload.id == upload))).scalar()
    if row is None:
        raise missing()
    return row


def theirs(opened: OpenedFolder, now: datetime) -> Select[Upload]:
    """The actor's uploads into the folder."""
    return select(Upload).where(
        Upload.folder_id == opened.folder.id,
        Upload.expires_at >= now,
        Upload.user_id == opened.actor.user_id,
    )


def missing() -> NotFound:
    return NotFound("upload.not_found", "There is no such upload, or it has ended.", hint="Start it again.")
