"""Use cases of resumable uploads. How much of one has arrived is the size of its file in the stage."""

from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import quote

from fastapi import Request, Response
from sqlalchemy import select, update

from carrel.core.errors import CarrelError, Conflict, Forbidden, NotFound
from carrel.core.ids import UploadId, new_id
from carrel.folders import quotas
from carrel.folders.files import arrivals, authorization, sizes, tus
from carrel.folders.files.arrivals import let_go
from carrel.folders.files.arriving import Arrivals, LineBroke
from carrel.folders.files.folder_access import Reached, reach
from carrel.folders.files.interrupted import intent
from carrel.folders.files.leftovers import discard, staged_name
from carrel.folders.files.notes import FileNotes
from carrel.folders.files.parts import joined
from carrel.folders.files.schemas import UploadList, UploadView
from carrel.folders.files.services import FileServices
from carrel.folders.files.upload_rows import KEPT, Sought, finish, forget, recover, seek, size_of
from carrel.http.services import services_of
from carrel.http.shell import HEADERS
from carrel.permissions.decide import Actor
from carrel.storage import listing, staged
from carrel.storage.paths import exists, split
from carrel.storage.staged import Staged
from carrel.storage.tree import Clash
from carrel.tables.folders import Permission
from carrel.tables.uploads import Upload


async def abilities(request: Request) -> Response:
    """What this server can do of the protocol."""
    async with services_of(request, FileServices).database.transaction() as tx:
        largest = await sizes.largest(tx)
    return Response(
        status_code=204,
        headers={
            "Tus-Resumable": tus.VERSION,
            "Tus-Version": tus.VERSION,
            "Tus-Extension": ",".join(tus.EXTENSIONS),
            "Tus-Checksum-Algorithm": ",".join(tus.ALGORITHMS),
            "Tus-Max-Size": str(largest),
        },
    )


async def create(request: Request, actor: Actor, ref: str) -> Response:
    """Begin an upload, with its first bytes or without; or put finished parts together.

    Raises: NotFound, Forbidden, Conflict, Refused, Invalid, and what tus says no with.
    """
    _speaks(request)
    wanted = tus.creation(request.headers)
    services = services_of(request, FileServices)
    admitted = await authorization.inward(services, actor, ref)
    reached = admitted.reached
    if not wanted.parts:
        await admitted.require(services, wanted.length or 0)
    if _is_whole(request, wanted):
        return await _at_once(request, reached, wanted)
    if not wanted.partial:
        await reached.call(_require_free, reached.root, wanted.path, wanted.clash)
    upload = Upload(
        id=UploadId(new_id()), folder_id=reached.folder.id, user_id=actor.user_id, path=wanted.path,
        length=wanted.length, partial=wanted.partial, parts=[], clash=wanted.clash,
        metadata_text=wanted.metadata, created_at=services.clock.now(), expires_at=services.clock.now() + KEPT,
    )  # fmt: skip
    if wanted.parts:
        return await joined(services, reached, upload, wanted.parts)
    async with services.database.transaction() as tx:
        await admitted.require_beside(tx, wanted.length or 0)
        tx.add(upload)
    sought = Sought(reached, upload)
    try:
        file = await reached.call(staged.create, reached.stage, sought.name)
        with let_go(file):
            if wanted.has_body:
                with suppress(LineBroke):
                    await _receive(request, sought, file, 0, wanted.checksum)
            headers = {"Location": f"uploads/{upload.id}", **_standing(sought, file)}
    except CarrelError:
        # Nobody will go on with what they never learn the address of.
        await forget(services, [upload.id])
        with suppress(CarrelError):
            await reached.call(discard, reached.stage, sought.name)
        raise
    return Response(status_code=201, headers=headers)


def _is_whole(request: Request, wanted: tus.Creation) -> bool:
    """Whether all of a small file comes with its creation."""
    announced = tus.number(request.headers, "content-length") or 0
    comes = announced if wanted.has_body else 0
    return wanted.length == comes and not wanted.partial and comes <= arrivals.BATCH


async def _at_once(request: Request, reached: Reached, wanted: tus.Creation) -> Response:
    """A small file, of which there is no upload that could be gone on with: it is there, or nothing of it is."""
    services, upload = services_of(request, FileServices), UploadId(new_id())
    about = intent(services.clock, reached, "file.upload")
    bring = partial(
        staged.bring,
        intent=about,
        modified_ns=tus.modified_ns(wanted.metadata),
        executable=tus.executable(wanted.metadata),
    )
    pieces = await arrivals.read(request, reached, wanted.checksum) if wanted.has_body else []
    name = f"{staged.WRITTEN}{upload}"
    made = await reached.call(bring, reached.root, reached.stage, name, pieces, wanted.path, wanted.clash)
    notes: FileNotes = services.file_notes
    await notes.write(reached, "file.upload", [made.path], in_place=True, intent=about, bytes=made.size_bytes)
    services.file_changes.note(reached.folder, made.size_bytes)
    headers = {
        "Location": f"uploads/{upload}",
        "Upload-Offset": str(made.size_bytes),
        "Carrel-Path": quote(made.path),
    }
    return Response(status_code=201, headers=headers)


async def offset(request: Request, actor: Actor, ref: str, upload: str) -> Response:
    """How much has arrived; all of it only when the file is in its place. Raises: NotFound, Forbidden, Conflict."""
    _speaks(request)
    sought = await seek(request, actor, ref, upload)
    arriving: Arrivals = services_of(request, FileServices).arrivals
    await arriving.cut(upload, unless_busy=True)
    row = sought.row
    size = row.length or 0 if row.done_path is not None else await size_of(request, sought)
    headers = {"Upload-Expires": tus.date(row.expires_at), "Cache-Control": "no-store"}
    if not row.parts or row.done_path is not None:
        headers["Upload-Offset"] = str(confirmed(row, size))
    if row.length is None or (row.length == 0 and row.done_path is None):
        headers["Upload-Defer-Length"] = "1"
    else:
        headers["Upload-Length"] = str(row.length)
    if row.metadata_text:
        headers["Upload-Metadata"] = row.metadata_text
    if row.partial:
        headers["Upload-Concat"] = "partial"
    elif row.parts:
        headers["Upload-Concat"] = "final;" + " ".join(row.parts)
    return Response(status_code=200, headers=headers)


async def append(request: Request, actor: Actor, ref: str, upload: str) -> Response:
    """Take more of an upload. Raises: NotFound, Forbidden, Conflict, Refused, and what tus says no with."""
    _speaks(request)
    tus.require_type(request.headers)
    checksum = tus.checksum(request.headers)
    at = tus.number(request.headers, "upload-offset")
    if at is None:
        raise tus.missing("Upload-Offset")
    clash = tus.clash(request.headers)
    sought = await seek(request, actor, ref, upload)
    if sought.row.parts:
        raise Forbidden("upload.final", "This upload was put together from others; nothing comes behind it.")
    if sought.row.done_path is not None:
        return _over(sought.row, at)
    sought.row.clash = clash or sought.row.clash
    arriving: Arrivals = services_of(request, FileServices).arrivals
    await arriving.cut(upload, unless_busy=True)
    try:
        file = await sought.reached.call(staged.opened, sought.reached.stage, sought.name)
    except NotFound:
        await recover(request, sought)
        return _over(sought.row, at)
    with let_go(file):
        if at == confirmed(sought.row, file.size()) < file.size():
            await sought.reached.call(file.truncate, at)
        await _note_length(request, sought, tus.number(request.headers, "upload-length"), at)
        with suppress(LineBroke):
            await _receive(request, sought, file, at, checksum)
        return Response(status_code=204, headers=_standing(sought, file))


async def terminate(request: Request, actor: Actor, ref: str, upload: str) -> Response:
    """Give an upload up. Raises: NotFound, Forbidden, Locked."""
    _speaks(request)
    sought = await seek(request, actor, ref, upload)
    arriving: Arrivals = services_of(request, FileServices).arrivals
    await arriving.cut(upload, unless_busy=False)
    await sought.reached.call(discard, sought.reached.stage, sought.name)
    await forget(services_of(request, FileServices), [sought.row.id])
    return Response(status_code=204)


async def overridden(request: Request, actor: Actor, ref: str, upload: str) -> Response:
    """What the header X-HTTP-Method-Override says instead of POST. Raises: BadRequest, and as what it says."""
    known = {"PATCH": append, "HEAD": offset, "DELETE": terminate}
    wanted = known.get(request.headers.get("x-http-method-override", "").upper())
    if wanted is None:
        raise tus.missing("X-HTTP-Method-Override")
    return await wanted(request, actor, ref, upload)


async def unfinished(request: Request, actor: Actor, ref: str) -> UploadList:
    """The actor's uploads into the folder that can go on. Raises: NotFound, Forbidden, Conflict."""
    reached = await reach(services_of(request, FileServices), actor, ref, Permission.WRITE)
    async with services_of(request, FileServices).database.transaction() as tx:
        wanted = select(Upload).where(
            Upload.folder_id == reached.folder.id,
            Upload.user_id == actor.user_id,
            Upload.done_path.is_(None),
        )
        rows = (await tx.execute(wanted.order_by(Upload.created_at, Upload.id))).scalars().all()
    sizes = await reached.call(staged.sizes, reached.stage, [staged_name(row.id) for row in rows])
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
    request: Request, sought: Sought, file: Staged, at: int, checksum: tus.Checksum | None
) -> None:
    """Take the request's body, and make a file of the upload when it is complete."""
    reached, row = sought.reached, sought.row
    _require_offset(at, file.size())
    most = await _most(request, sought)
    arriving: Arrivals = services_of(request, FileServices).arrivals
    try:
        if at + (tus.number(request.headers, "content-length") or 0) > most:
            raise arrivals.more_than_announced()
        async with arriving.arriving(row.id) as arrival:
            await arrivals.receive(request, reached, file, most - at, arrival, checksum)
    except arrivals.TooLarge:
        if row.length is None:
            await _require_allowed(request, sought, most + 1)
        raise
    if file.size() == row.length and not row.partial:
        await finish(services_of(request, FileServices), reached, row, file)


async def _most(request: Request, sought: Sought) -> int:
    """How many bytes the upload may have."""
    if sought.row.length is not None:
        return sought.row.length
    async with services_of(request, FileServices).database.transaction() as tx:
        largest, room = await sizes.largest(tx), await quotas.room_of(tx, sought.reached.folder.scope)
    return largest if room is None else min(largest, room)


async def _note_length(request: Request, sought: Sought, length: int | None, at: int) -> None:
    """Remember a length that the client did not know at first. Raises: Conflict, Refused."""
    row = sought.row
    if length is None or length == row.length:
        return
    if row.length is not None or length < at:
        raise Conflict("upload.length", "The length of this upload is another.", field="Upload-Length")
    await _require_allowed(request, sought, length)
    async with services_of(request, FileServices).database.transaction() as tx:
        await tx.execute(update(Upload).where(Upload.id == row.id).values(length=length))
    row.length = length


async def _require_allowed(request: Request, sought: Sought, length: int) -> None:
    """Return when the upload may have so many bytes. Raises: TooLarge, Refused."""
    async with services_of(request, FileServices).database.transaction() as tx:
        await sizes.require_fitting(tx, length)
        await quotas.require_room(tx, sought.reached.folder, length)


def _standing(sought: Sought, file: Staged) -> dict[str, str]:
    row = sought.row
    headers = {
        "Upload-Offset": str(row.length if row.done_path is not None else file.size()),
        "Upload-Expires": tus.date(row.expires_at),
    }
    if row.done_path is not None:
        headers["Carrel-Path"] = quote(row.done_path)
    return headers


def _speaks(request: Request) -> None:
    setattr(
        request.state,
        HEADERS,
        ((b"tus-resumable", tus.VERSION.encode()), (b"tus-version", tus.VERSION.encode())),
    )
    tus.require_version(request.headers)


def _require_free(root: Path, path: str, clash: Clash) -> None:
    """Refuse before gigabytes are sent in vain."""
    split(path)
    try:
        found = listing.entry(root, path)
    except NotFound:
        return
    if clash is Clash.REFUSE or (clash is Clash.REPLACE and found.kind is listing.FileKind.DIRECTORY):
        raise exists(path)


def confirmed(row: Upload, size: int) -> int:
    """How many of the bytes that have arrived the client need not send again: not the last one before the file is in
    its place. Clients take an offset that equals the length for success; so they send that byte, and learn the outcome.

    size: how much is in the stage.
    """
    unplaced = row.done_path is None and not row.partial
    return max(0, size - 1) if unplaced and size == row.length else size


def _over(row: Upload, at: int) -> Response:
    """To who sends more of one that is done. Raises: Conflict, unless that is nothing more."""
    _require_offset(at, row.length or 0)
    headers = {"Upload-Offset": str(at), "Carrel-Path": quote(row.done_path or "")}
    return Response(status_code=204, headers=headers)


def _require_offset(at: int, size: int) -> None:
    if at != size:
        raise Conflict(
            "upload.offset", f"{size} bytes have arrived, and the next ones are for {at}.",
            hint="Ask with HEAD how much has arrived.", field="Upload-Offset", details={"offset_bytes": size},
        )  # fmt: skip
