"""Concatenate received parts into one upload."""

from carrel.core.errors import Conflict
from carrel.core.ids import UploadId
from carrel.folders import quotas
from carrel.folders.files import sizes
from carrel.folders.files.arrivals import let_go
from carrel.folders.files.folder_access import LONG_S, OpenedFolder
from carrel.folders.files.leftovers import discard, staged_name
from carrel.folders.files.services import FileServices
from carrel.folders.files.upload_rows import finish, forget, missing, theirs
from carrel.storage import staged
from carrel.storage.staged import Staged
from carrel.tables.uploads import Upload


async def joined(
    services: FileServices, opened: OpenedFolder, upload: Upload, parts: tuple[str, ...]
) -> None:
    """Turn the upload into a file from its complete parts, in this order."""
    lengths = await _parts(services, opened, parts)
    upload.parts, upload.length = list(parts), sum(lengths[part] for part in parts)
    async with services.database.transaction() as tx:
        await sizes.require_fitting(tx, upload.length)
        # The bytes of the parts already count.
        await quotas.require_room(tx, opened.folder)
        tx.add(upload)
    file = await opened.call(staged.create, opened.stage, staged_name(upload.id))
    with let_go(file):
        try:
            for part in parts:
                await _take(opened, file, part, lengths[part])
            await finish(services, opened, upload, file)
        except BaseException:
            await opened.call(file.remove)
            await forget(services, [upload.id])
            raise
    for part in lengths:
        await opened.call(discard, opened.stage, staged_name(UploadId(part)))
    await forget(services, lengths)


async def _parts(services: FileServices, opened: OpenedFolder, parts: tuple[str, ...]) -> dict[str, int]:
    """The lengths of the parts to concatenate. Raises: NotFound, Conflict."""
    async with services.database.transaction() as tx:
        uploads = (
            await tx.execute(theirs(opened, services.clock.now()).where(Upload.id.in_(parts)))
        ).scalars()
        rows = {row.id: row for row in uploads}
    if not set(parts) <= set(rows):
        raise missing()
    arrived = await opened.call(staged.sizes, opened.stage, [staged_name(each) for each in rows])
    for row, size in zip(rows.values(), arrived, strict=True):
        if not row.partial or row.length is None or size != row.length:
            raise _unfinished(row.id)
    return {row.id: row.length or 0 for row in rows.values()}


async def _take(folder: OpenedFolder, file: Staged, part: str, length: int) -> None:
    """Append a part to the file. Only one part is open at a time: there may be a thousand.

    Raises: NotFound, Conflict, Locked.
    """
    opened = await folder.call(staged.opened, folder.stage, staged_name(UploadId(part)))
    with let_go(opened):
        if opened.size() != length:
            raise _unfinished(part)
        await folder.call(file.take, opened, deadline_s=LONG_S)


def _unfinished(part: str) -> Conflict:
    return Conflict(
        "upload.part_unfinished",
        f"{part} is not a part, or is incomplete.",
        hint="Concatenate the parts when all are complete.",
        field="Upload-Concat",
    )
