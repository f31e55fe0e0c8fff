"""Use cases of resumable uploads. The size of the file in the stage is the number of bytes received."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from sqlalchemy import select, update

from carrel.core.errors import CarrelError, Conflict, Forbidden, NotFound, TooLarge
from carrel.core.ids import UploadId, new_id
from carrel.folders import quotas
from carrel.folders.files import arrivals, authorization, sizes, tus
from carrel.folders.files.arrivals import let_go
from carrel.folders.files.folder_access import OpenedFolder, open_folder
from carrel.folders.files.interrupted import intent
from carrel.folders.files.leftovers import discard, staged_name
from carrel.folders.files.parts import joined
from carrel.folders.files.schemas import UploadList, UploadView
from carrel.folders.files.services import FileServices
from carrel.folders.files.upload_rows import (
    KEPT,
    CurrentUpload,
    finish,
    forget,
    open_upload,
    recover,
    size_of,
)
from carrel.http.body import Body, LineBroke
from carrel.permissions.decide import Actor
from carrel.storage import listing, staged
from carrel.storage.paths import exists, split
from carrel.storage.staged import Staged
from carrel.storage.tree import Clash
from carrel.tables.folders import Permission
from carrel.tables.uploads import Upload


@dataclass(frozen=True)
class UploadStatus:
    """Progress of an upload. offset: bytes that the client need not resend; None: it must not send more.

    expires_at: None when it has ended. path: of the file, once it is in place.
    """

    id: str
    offset: int | None
    expires_at: datetime | None = None
    path: str | None = None


@dataclass(frozen=True)
class UploadProgress:
    """The known progress of an upload."""

    row: Upload
    offset: int | None


@dataclass(frozen=True)
class Piece:
    """Data to append after the first `at` bytes of an upload. length: of the whole file, if sent.

    clash: overrides the policy of the upload for this request; None: as the upload was created.
    """

    at: int
    length: int | None
    checksum: tus.Checksum | None
    clash: Clash | None = None


async def largest(services: FileServices) -> int:
    """Size limit of a file in bytes."""
    async with services.database.transaction() as tx:
        return await sizes.largest(tx)


async def create(
    services: FileServices, actor: Actor, ref: str, creation: tus.Creation, body: Body
) -> UploadStatus:
    """Begin an upload, with or without its first bytes; or concatenate finished parts.

    Raises: NotFound, Forbidden, Conflict, Refused, Invalid, and the errors of tus.
    """
    admitted = await authorization.inward(services, actor, ref)
    opened = admitted.opened
    if not creation.parts:
        await admitted.require(services, creation.length or 0)
    if _is_complete(body, creation):
        return await _at_once(services, body, opened, creation)
    if not creation.partial:
        await opened.call(_require_free, opened.root, creation.path, creation.clash)
    now = services.clock.now()
    upload = Upload(
        id=UploadId(new_id()),
        folder_id=opened.folder.id,
        user_id=actor.user_id,
        path=creation.path,
        length=creation.length,
        partial=creation.partial,
        parts=[],
        clash=creation.clash,
        metadata_text=creation.metadata,
        created_at=now,
        expires_at=now + KEPT,
    )
    if creation.parts:
        await joined(services, opened, upload, creation.parts)
        return UploadStatus(upload.id, None, path=upload.done_path or "")
    async with services.database.transaction() as tx:
        await admitted.require_beside(tx, creation.length or 0)
        tx.add(upload)
    current = CurrentUpload(opened, upload)
    try:
        file = await opened.call(staged.create, opened.stage, current.name)
        with let_go(file):
            if creation.has_body:
                with suppress(LineBroke):
                    await _receive(services, current, file, 0, creation.checksum, body)
            return _status_of(current, file)
    except CarrelError:
        # A client that never learns the URL cannot resume.
        await forget(services, [upload.id])
        with suppress(CarrelError):
            await opened.call(discard, opened.stage, current.name)
        raise


def _is_complete(body: Body, creation: tus.Creation) -> bool:
    """True if a small file arrives completely with its creation request."""
    comes = (body.announced or 0) if creation.has_body else 0
    return creation.length == comes and not creation.partial and comes <= arrivals.BATCH


async def _at_once(
    services: FileServices, body: Body, opened: OpenedFolder, creation: tus.Creation
) -> UploadStatus:
    """Write a small file without a resumable upload: it is written completely or not at all."""
    upload = UploadId(new_id())
    about = intent(services.clock, opened, "file.upload")
    bring = partial(
        staged.bring,
        intent=about,
        modified_ns=tus.modified_ns(creation.metadata),
        executable=tus.executable(creation.metadata),
    )
    pieces = await arrivals.read(services, body, opened, creation.checksum) if creation.has_body else []
    name = f"{staged.WRITTEN}{upload}"
    made = await opened.call(bring, opened.root, opened.stage, name, pieces, creation.path, creation.clash)
    known = {"bytes": made.size_bytes}
    await services.file_notes.write(opened, "file.upload", [made.path], in_place=True, intent=about, **known)
    services.file_changes.note(opened.folder, made.size_bytes)
    return UploadStatus(upload, made.size_bytes, path=made.path)


async def offset(services: FileServices, actor: Actor, ref: str, upload: str) -> UploadProgress:
    """Bytes received; the full length only when the file is in place. Raises: NotFound, Forbidden, Conflict."""
    current = await open_upload(services, actor, ref, upload)
    await services.arrivals.cut(upload, unless_busy=True)
    row = current.row
    size = row.length or 0 if row.done_path is not None else await size_of(services, current)
    arrives = not row.parts or row.done_path is not None
    return UploadProgress(row, confirmed(row, size) if arrives else None)


async def append(
    services: FileServices, actor: Actor, ref: str, upload: str, piece: Piece, body: Body
) -> UploadStatus:
    """Append to an upload. Raises: NotFound, Forbidden, Conflict, Refused, and the errors of tus."""
    current, at = await open_upload(services, actor, ref, upload), piece.at
    if current.row.parts:
        raise Forbidden("upload.final", "The upload was concatenated from parts and accepts no more data.")
    if current.row.done_path is not None:
        return _over(current.row, at)
    current.row.clash = piece.clash or current.row.clash
    await services.arrivals.cut(upload, unless_busy=True)
    try:
        unlocked = partial(current.opened.call, staged.opened, current.opened.stage, current.name)
        file = await services.arrivals.free(upload, unlocked, unless_busy=True)
    except NotFound:
        await recover(services, current)
        return _over(current.row, at)
    with let_go(file):
        if at == confirmed(current.row, file.size()) < file.size():
            await current.opened.call(file.truncate, at)
        await _note_length(services, current, piece.length, at)
        with suppress(LineBroke):
            await _receive(services, current, file, at, piece.checksum, body)
        return _status_of(current, file)


async def terminate(services: FileServices, actor: Actor, ref: str, upload: str) -> None:
    """Cancel an upload. Raises: NotFound, Forbidden, Locked."""
    current = await open_upload(services, actor, ref, upload)
    await services.arrivals.cut(upload, unless_busy=False)
    discarding = partial(current.opened.call, discard, current.opened.stage, current.name)
    await services.arrivals.free(upload, discarding, unless_busy=False)
    await forget(services, [current.row.id])


async def unfinished(services: FileServices, actor: Actor, ref: str) -> UploadList:
    """The actor's unfinished uploads into the folder. Raises: NotFound, Forbidden, Conflict."""
    opened = await open_folder(services, actor, ref, Permission.WRITE)
    async with services.database.transaction() as tx:
        statement = select(Upload).where(
            Upload.folder_id == opened.folder.id,
            Upload.user_id == actor.user_id,
            Upload.done_path.is_(None),
        )
        rows = (await tx.execute(statement.order_by(Upload.created_at, Upload.id))).scalars().all()
    sizes = await opened.call(staged.sizes, opened.stage, [staged_name(row.id) for row in rows])
    return UploadList(
        items=[
            UploadView(
                id=row.id,
                path=row.path or tus.path_of(row.metadata_text),
                partial=row.partial,
                offset_bytes=confirmed(row, size),
                length_bytes=row.length,
                created_at=row.created_at,
                expires_at=row.expires_at,
            )
            for row, size in zip(rows, sizes, strict=True)
            if size is not None
        ]
    )


async def _receive(
    services: FileServices,
    current: CurrentUpload,
    file: Staged,
    at: int,
    checksum: tus.Checksum | None,
    body: Body,
) -> None:
    """Receive the body; turn a complete upload into a file."""
    opened, row = current.opened, current.row
    _require_offset(at, file.size())
    most = await _most(services, current)
    try:
        if at + (body.announced or 0) > most:
            raise arrivals.more_than_announced()
        async with services.arrivals.arriving(row.id) as arrival:
            await arrivals.receive(services, body, opened, file, most - at, arrival, checksum)
    except TooLarge:
        if row.length is None:
            await _require_allowed(services, current, most + 1)
        raise
    if file.size() == row.length and not row.partial:
        await finish(services, opened, row, file)


async def _most(services: FileServices, current: CurrentUpload) -> int:
    """Size limit of the upload in bytes."""
    if current.row.length is not None:
        return current.row.length
    async with services.database.transaction() as tx:
        largest, room = await sizes.largest(tx), await quotas.room_of(tx, current.opened.folder.scope)
    return largest if room is None else min(largest, room)


async def _note_length(services: FileServices, current: CurrentUpload, length: int | None, at: int) -> None:
    """Record a length that the client did not know at first. Raises: Conflict, Refused."""
    row = current.row
    if length is None or length == row.length:
        return
    if row.length is not None or length < at:
        raise Conflict(
            "upload.length", "The length differs from the one declared before.", field="Upload-Length"
        )
    await _require_allowed(services, current, length)
    async with services.database.transaction() as tx:
        await tx.execute(update(Upload).where(Upload.id == row.id).values(length=length))
    row.length = length


async def _require_allowed(services: FileServices, current: CurrentUpload, length: int) -> None:
    """Check that the upload may have this many bytes. Raises: TooLarge, Refused."""
    async with services.database.transaction() as tx:
        await sizes.require_fitting(tx, length)
        await quotas.require_room(tx, current.opened.folder, length)


def _status_of(current: CurrentUpload, file: Staged) -> UploadStatus:
    row = current.row
    size = row.length if row.done_path is not None else file.size()
    return UploadStatus(row.id, size, row.expires_at, row.done_path)


def _require_free(root: Path, path: str, clash: Clash) -> None:
    """Refuse early if the storage is full, before gigabytes are sent."""
    split(path)
    try:
        entry = listing.entry(root, path)
    except NotFound:
        return
    if clash is Clash.REFUSE or (clash is Clash.REPLACE and entry.kind is listing.FileKind.DIRECTORY):
        raise exists(path)


def confirmed(row: Upload, size: int) -> int:
    """The number of received bytes that the client need not resend.

    It excludes the last byte until the file is in place. Clients treat an offset equal to the length as success; this
    way they resend that byte and receive the outcome.

    size: bytes in the stage.
    """
    unplaced = row.done_path is None and not row.partial
    return max(0, size - 1) if unplaced and size == row.length else size


def _over(row: Upload, at: int) -> UploadStatus:
    """Answer a client that appends to a finished upload. Raises: Conflict, unless it sends no further data."""
    _require_offset(at, row.length or 0)
    return UploadStatus(row.id, at, path=row.done_path or "")


def _require_offset(at: int, size: int) -> None:
    if at != size:
        raise Conflict(
            "upload.offset",
            f"The server has {size} bytes; the request starts at {at}.",
            hint="Request the current offset with HEAD.",
            field="Upload-Offset",
            details={"offset_bytes": size},
        )
