"""Calls from WsgiDAV's threads into the event loop, using the functions of the API."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import select
from wsgidav.dav_error import DAVError

from carrel.core.errors import CarrelError, Conflict, NotFound
from carrel.core.ids import new_id
from carrel.folders import access
from carrel.folders.files import arrivals, authorization
from carrel.folders.files.authorization import Admitted
from carrel.folders.files.folder_access import LONG_S, OpenedFolder, open_folder
from carrel.folders.files.interrupted import intent
from carrel.folders.files.notes import FileNotes
from carrel.folders.files.services import FileServices
from carrel.http.body import Body, LineBroke
from carrel.permissions.decide import Actor
from carrel.storage import listing, staged, tree
from carrel.storage.listing import Entry, FileKind, ListingOrder
from carrel.storage.staged import Staged
from carrel.storage.tree import Clash
from carrel.tables.folder_states import FolderState
from carrel.tables.folders import Permission, VFolder

_MOST_LISTED = 100_000
_LARGEST_UNANNOUNCED = 1 << 50
_SHOWN = (FileKind.FILE, FileKind.DIRECTORY)
T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """A request, from within its thread.

    opened: folders by requested name. refused: errors sent as the response.
    """

    loop: asyncio.AbstractEventLoop
    services: FileServices
    body: Body
    actor: Actor
    opened: dict[str, OpenedFolder] = field(default_factory=dict)
    refused: list[CarrelError] = field(default_factory=list)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for the result of the coroutine. Raises: DAVError."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self.loop).result()
        except CarrelError as error:
            self.refused.append(error)
            raise DAVError(error.status, " ".join(filter(None, (error.message, error.hint)))) from None
        except LineBroke:
            raise DAVError(400, "The connection broke.") from None

    def folder(self, name: str) -> OpenedFolder | None:
        """A folder by name or id; None if the user has no such folder."""
        if name not in self.opened:
            try:
                self.opened[name] = self.wait(open_folder(self.services, self.actor, name, Permission.READ))
            except DAVError as error:
                if error.value == 404:
                    return None
                raise
        return self.opened[name]


async def names(call: Call) -> list[str]:
    """Names of folders; if several have the same name, ids for all but the user's own."""
    async with call.services.database.transaction() as tx:
        statement = select(VFolder).where(access.held_by(call.actor), VFolder.state == FolderState.READY)
        folders = (await tx.execute(statement.order_by(VFolder.name))).scalars().all()
    names = Counter(folder.name for folder in folders)
    return [
        folder.name if names[folder.name] == 1 or folder.owner_id == call.actor.user_id else folder.id
        for folder in folders
    ]


async def entry(opened: OpenedFolder, path: str) -> Entry:
    entry = await opened.call(listing.entry, opened.root, path)
    if entry.kind not in _SHOWN:
        raise NotFound("file.not_found", "Links and special files are not shown.")
    return entry


async def listed(opened: OpenedFolder, path: str) -> Sequence[Entry]:
    page = await opened.call(listing.page, opened.root, path, ListingOrder(), _MOST_LISTED, deadline_s=LONG_S)
    if page.last:
        raise Conflict("file.too_many", f"This directory has more than {_MOST_LISTED} files.")
    return [entry for entry in page.entries if entry.readable and entry.kind in _SHOWN]


async def begun(call: Call, folder: str) -> tuple[Admitted, Staged]:
    admitted = await authorization.inward(call.services, call.actor, folder)
    await admitted.require(call.services, _announced(call.body))
    opened = admitted.opened
    return admitted, await opened.call(staged.create, opened.stage, f"{staged.WRITTEN}{new_id()}")


def _announced(body: Body) -> int:
    """The announced body size, if any: Finder sends chunks, with the total in a separate header."""
    length = body.headers.get("content-length") or body.headers.get("x-expected-entity-length") or ""
    return int(length) if length.isdecimal() and len(length) < 20 else 0


async def received(call: Call, admitted: Admitted, file: Staged) -> None:
    most = min(admitted.largest, admitted.most(_LARGEST_UNANNOUNCED))
    async with call.services.arrivals.arriving(file.name) as arrival:
        await arrivals.receive(call.services, call.body, admitted.opened, file, most, arrival)


async def dropped(opened: OpenedFolder, file: Staged) -> None:
    await opened.call(file.remove)
    file.close()


async def placed(call: Call, opened: OpenedFolder, file: Staged, path: str, modified_ns: int | None) -> Entry:
    about = intent(call.services.clock, opened, "file.write")

    def place() -> Entry:
        file.put(opened.root, path, Clash.REPLACE, modified_ns=modified_ns, intent=about)
        return listing.described(path, file.status())

    with arrivals.let_go(file):
        try:
            made = await opened.call(place, deadline_s=LONG_S)
        except BaseException:
            await opened.call(file.remove)
            raise
    notes: FileNotes = call.services.file_notes
    await notes.write(opened, "file.write", [path], in_place=True, intent=about, bytes=made.size_bytes)
    call.services.file_changes.note(opened.folder, made.size_bytes)
    return made


async def touched(call: Call, folder: str, path: str, modified_ns: int) -> None:
    opened = await open_folder(call.services, call.actor, folder, Permission.WRITE)
    known = {"modified": modified_ns // 10**9}
    about = intent(call.services.clock, opened, "file.write", known)
    await opened.call(staged.touch, opened.root, path, modified_ns, about)
    notes: FileNotes = call.services.file_notes
    await notes.write(opened, "file.write", [path], in_place=True, intent=about, **known)
    call.services.file_changes.note(opened.folder)


async def copy(call: Call, source: OpenedFolder, path: str, folder: str, to: str, clash: Clash) -> None:
    admitted = await authorization.inward(call.services, call.actor, folder)
    target, name = admitted.opened, f"copy-{new_id()}"
    above, _, last = to.rpartition("/")
    known = {"from": path, "folder": source.folder.id}
    about = intent(call.services.clock, target, "file.copy", known)

    def copied() -> None:
        try:
            with about.about("copy", name=name, to=to):
                tree.copy(
                    source.root,
                    [path],
                    target.root,
                    target.stage,
                    name,
                    above,
                    clash,
                    lambda _: None,
                    renamed=last,
                    room=admitted.room,
                )
            about.settle([(to, None)])
        finally:
            tree.discard(target.stage, name, lambda _: None)

    await target.call(copied, deadline_s=LONG_S)
    notes: FileNotes = call.services.file_notes
    await notes.write(target, "file.copy", [to], in_place=True, intent=about, **known)
    call.services.file_changes.note(target.folder)
