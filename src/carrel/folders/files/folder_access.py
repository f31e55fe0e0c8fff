"""Access to the files of a folder as a user, and recording of changes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.errors import Conflict
from carrel.core.ids import FolderId
from carrel.folders import access
from carrel.folders.hosts.services import StorageServices
from carrel.folders.hosts.storages import HostStorage
from carrel.permissions.decide import Actor
from carrel.storage.port import FolderLocation
from carrel.storage.threads import DEADLINE_S
from carrel.tables.folder_states import FolderState
from carrel.tables.folders import Permission, VFolder

T = TypeVar("T")
Places = Mapping[FolderId, tuple[str, str, str]]
"""State, host and scope of folders."""

LONG_S = 900.0
"""Timeout of calls whose duration grows with the size of the file."""
MOST_NOTED = 50
"""Most paths named in one audit entry."""


@dataclass(frozen=True)
class OpenedFolder:
    """A folder whose files the actor may use as requested. root: its files. stage: unfinished files."""

    actor: Actor
    folder: VFolder
    permission: Permission
    storage: HostStorage
    root: Path
    stage: Path

    async def call(self, work: Callable[..., T], *args: Any, deadline_s: float | None = DEADLINE_S) -> T:
        """The result of the work, run in the storage host's threads; see `HostStorage.call`."""
        return await self.storage.call(work, *args, deadline_s=deadline_s)


async def open_folder(services: StorageServices, actor: Actor, ref: str, needed: Permission) -> OpenedFolder:
    """The files of a folder, if the actor has the permission. Raises: NotFound, Forbidden, Conflict."""
    async with services.database.transaction() as tx:
        held = await access.find(tx, actor, ref, "vfolder.use")
        access.require(held, needed)
    return await at(services, actor, held)


async def at(services: StorageServices, actor: Actor, held: access.FolderRights) -> OpenedFolder:
    """The files of a folder that is already resolved and authorized."""
    assert held.permission is not None
    storage = await services.storages.of(held.folder.host_id)
    place = FolderLocation(held.folder.scope, held.folder.id)
    files, stage = storage.backend.files(place), storage.backend.stage(place)
    return OpenedFolder(actor, held.folder, held.permission, storage, files, stage)


def note(
    tx: AsyncSession, opened: OpenedFolder, action: str, paths: Sequence[str], **details: object
) -> None:
    """Record the operation on these files. Of long lists, only the first paths are named."""
    folder = opened.folder
    known: Mapping[str, object] = {"paths": list(paths[:MOST_NOTED]), "count": len(paths), **details}
    audit.record(
        tx, opened.actor, action, folder.id, name=folder.name, target=access.target(folder), details=known
    )


async def require_in_place(tx: AsyncSession, opened: OpenedFolder) -> None:
    """Check that the folder is still where its files were changed; a concurrent move may have left the change behind.

    Call it after the change. Raises: Conflict.
    """
    if error := left(opened.folder, await places(tx, {opened.folder.id})):
        raise error


async def places(tx: AsyncSession, folders: Collection[FolderId]) -> Places:
    """The current locations of folders."""
    if not folders:
        return {}
    statement = select(VFolder.id, VFolder.state, VFolder.host_id, VFolder.scope)
    rows = await tx.execute(statement.where(VFolder.id.in_(sorted(folders))))
    return {folder: (state, host, scope) for folder, state, host, scope in rows}


def left(folder: VFolder, now: Places) -> Conflict | None:
    """The error for a folder that has moved."""
    current = now.get(folder.id)
    if current == (FolderState.READY, folder.host_id, folder.scope):
        return None
    return Conflict(
        "vfolder.state",
        f"{folder.name} was moved or trashed during the change, which may be lost.",
        hint="Check the folder and try again.",
        details={"state": current[0] if current else None},
    )
