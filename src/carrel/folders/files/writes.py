"""Whole-file writes in one request: create, or replace only if unchanged since the client read it."""

from dataclasses import dataclass
from functools import partial

from carrel.core.errors import Conflict, TooLarge
from carrel.core.ids import new_id
from carrel.folders.files import arrivals, authorization, file_views
from carrel.folders.files.folder_access import OpenedFolder
from carrel.folders.files.interrupted import intent
from carrel.folders.files.schemas import FileView
from carrel.folders.files.services import FileServices
from carrel.http.body import Body
from carrel.permissions.decide import Actor
from carrel.storage import staged
from carrel.storage.intents import Intent
from carrel.storage.listing import Entry, described
from carrel.storage.paths import split
from carrel.storage.tree import Clash, changed

LARGEST = 64 << 20
"""Size limit; larger files need a resumable upload."""


@dataclass(frozen=True)
class Condition:
    """only_new: the file must not exist. expected: it must have one of these ETags; None: any."""

    only_new: bool
    expected: list[str] | None


async def write(
    services: FileServices, actor: Actor, ref: str, path: str, body: Body, condition: Condition
) -> FileView:
    """Make or replace a file. Raises: NotFound, Forbidden, Conflict, Refused, Changed, TooLarge."""
    split(path)
    admitted = await authorization.inward(services, actor, ref)
    announced = body.announced or 0
    if announced > LARGEST:
        raise _too_large()
    await admitted.require(services, announced)
    opened, most = admitted.opened, admitted.most(min(LARGEST, admitted.largest))
    try:
        about = intent(services.clock, opened, "file.write")
        made = await _made(services, opened, path, body, condition, most=most, about=about)
    except TooLarge:
        await admitted.require(services, most + 1)
        raise _too_large() from None
    except Conflict as error:
        if error.code == "file.exists" and condition.only_new:
            raise changed(path) from None
        raise
    await services.file_notes.write(
        opened, "file.write", [path], in_place=True, intent=about, bytes=made.size_bytes
    )
    services.file_changes.note(opened.folder, made.size_bytes)
    return file_views.view(made)


async def _made(
    services: FileServices,
    opened: OpenedFolder,
    path: str,
    body: Body,
    condition: Condition,
    *,
    most: int,
    about: Intent,
) -> Entry:
    """The written file, in place. most: size limit in bytes."""
    clash = Clash.REFUSE if condition.only_new else Clash.REPLACE
    name, expected = f"{staged.WRITTEN}{new_id()}", condition.expected
    if arrivals.is_small(body):
        pieces = await arrivals.read(services, body, opened)
        bring = partial(staged.bring, intent=about)
        return await opened.call(bring, opened.root, opened.stage, name, pieces, path, clash, expected)
    file = await opened.call(staged.create, opened.stage, name)
    with arrivals.let_go(file):
        try:
            async with services.arrivals.arriving(name) as arrival:
                await arrivals.receive(services, body, opened, file, most, arrival)
            await opened.call(partial(file.put, intent=about), opened.root, path, clash, expected)
            return described(path, file.status())
        except BaseException:
            await opened.call(file.remove)
            raise


def _too_large() -> TooLarge:
    return TooLarge(
        "file.too_large",
        f"One request writes at most {LARGEST >> 20} MiB.",
        hint="Use an upload, which can resume after an interruption.",
    )
