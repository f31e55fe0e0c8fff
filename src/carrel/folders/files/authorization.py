"""Authorization and quota check for transfers of file contents, in one statement.

Cases that this statement does not decide (a name that is not an own folder, a refusal that needs an explanation) take
the regular path.
"""

from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.folders import access, quotas
from carrel.folders.files import folder_access, sizes, tus
from carrel.folders.files.folder_access import OpenedFolder
from carrel.folders.hosts.services import StorageServices
from carrel.permissions.decide import Actor, within
from carrel.tables.folders import Permission, VFolder
from carrel.tables.uploads import Upload

_ACTION = "vfolder.use"
_FOLDER = ("id", "name", "host_id", "owner_id", "project_id", "domain_id", "scope", "permission", "state")
_KNOWN = f"""'folder', json_build_object({", ".join(f"'{name}', f.{name}" for name in _FOLDER)}),
    'given', {access.given_as_text()}"""
_MEANT = f"""vfolders f WHERE f.id = %(ref)s OR (f.owner_id = %(user)s AND f.name = %(ref)s
        AND f.state IN ({", ".join(f"'{state}'" for state in sorted(access.IN_USE))}))
    ORDER BY f.id = %(ref)s DESC LIMIT 1"""
_OUT = f"SELECT json_build_object({_KNOWN})::text FROM {_MEANT}"  # noqa: S608 - no input in it
_IN = f"""
    SELECT json_build_object({_KNOWN}, 'limit', {quotas.LIMIT}, 'used', {quotas.USED},
        'largest', (SELECT values -> 'upload_most_bytes' FROM site WHERE id = 1))::text
    FROM {_MEANT}"""  # noqa: S608 - no input in it


@dataclass(frozen=True)
class Admitted:
    """A folder that may receive bytes.

    largest: limit of one file in bytes. room: free bytes in total; None: unlimited.
    """

    opened: OpenedFolder
    largest: int
    room: int | None

    def most(self, at_once: int) -> int:
        """Byte limit of a request that does not declare its size. at_once: the limit while there is room."""
        return at_once if self.room is None else min(at_once, self.room)

    async def require(self, services: StorageServices, size: int, largest: int | None = None) -> None:
        """Check that this many more bytes fit. largest: size of the largest file; None: all bytes are one file.

        Raises: TooLarge, Refused.
        """
        if (size if largest is None else largest) > self.largest:
            raise sizes.too_large(self.largest)
        if self.room is not None and (self.room <= 0 or size > self.room):
            async with services.database.transaction() as tx:
                await quotas.require_room(tx, self.opened.folder, size)

    async def require_beside(self, tx: AsyncSession, size: int) -> None:
        """As `require`, for an upload that begins in this transaction: counts the pending bytes of other uploads as
        well.

        Raises: Refused.
        """
        if self.room is None:
            return
        scope = self.opened.folder.scope
        # Lock order: the folder before its scope, as everywhere; the upload's row takes this lock in any case.
        held = select(VFolder.id).where(VFolder.id == self.opened.folder.id)
        await tx.execute(held.with_for_update(read=True, key_share=True))
        await quotas.lock(tx, scope)
        begun = (
            select(func.coalesce(func.sum(Upload.length), 0))
            .join(VFolder, VFolder.id == Upload.folder_id)
            .where(VFolder.scope == scope, Upload.done_path.is_(None))
        )
        await quotas.require_room_in(tx, scope, size + int((await tx.execute(begun)).scalar_one() or 0))


async def outward(services: StorageServices, actor: Actor, ref: str) -> OpenedFolder:
    """A folder whose files the actor may read. Raises: NotFound, Forbidden, Conflict."""
    held, _ = await _glanced(services, actor, ref, _OUT)
    if held is None:
        return await folder_access.open_folder(services, actor, ref, Permission.READ)
    access.require(held, Permission.READ)
    return await folder_access.at(services, actor, held)


async def inward(services: StorageServices, actor: Actor, ref: str) -> Admitted:
    """A folder that the actor may write into. Raises: NotFound, Forbidden, Conflict."""
    held, row = await _glanced(services, actor, ref, _IN)
    if held is None or row["limit"] is None:
        opened = await folder_access.open_folder(services, actor, ref, Permission.WRITE)
        async with services.database.transaction() as tx:
            largest, room = await sizes.largest(tx), await quotas.room_of(tx, opened.folder.scope)
        return Admitted(opened, largest, room)
    access.require(held, Permission.WRITE)
    room = quotas.room_in(row["limit"], row["used"])
    return Admitted(await folder_access.at(services, actor, held), row["largest"] or tus.LARGEST, room)


async def _glanced(
    services: StorageServices, actor: Actor, ref: str, statement: str
) -> tuple[access.FolderRights | None, dict[str, Any]]:
    """The folder with this id or own name, with the results of the checks; None if the regular path must decide."""
    bound = {"ref": ref, "user": actor.user_id, "projects": sorted(actor.projects)}
    rows = await services.database.texts(statement, bound)
    if not rows or not within(actor.scopes, _ACTION):
        return None, {}
    row: dict[str, Any] = orjson.loads(rows[0])
    folder = VFolder(**row["folder"])
    permission = access.most(actor, folder, [Permission(each) for each in row["given"]])
    return (access.FolderRights(folder, permission) if permission else None), row
