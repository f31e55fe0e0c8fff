"""Whole files in one request: made, or replaced only while they are still what the writer has read."""

from functools import partial

from fastapi import Request

from carrel.core.errors import Conflict
from carrel.core.ids import new_id
from carrel.folders.files import arrivals, authorization, views
from carrel.folders.files.arriving import Arrivals
from carrel.folders.files.folder_access import Reached
from carrel.folders.files.interrupted import intent
from carrel.folders.files.notes import FileNotes
from carrel.folders.files.schemas import FileView
from carrel.folders.files.services import FileServices
from carrel.http.services import services_of
from carrel.permissions.decide import Actor
from carrel.storage import staged
from carrel.storage.intents import Intent
from carrel.storage.listing import Entry, described
from carrel.storage.paths import split
from carrel.storage.tree import Clash, changed

LARGEST = 64 << 20
"""What is larger is uploaded so that it can go on after a broken line."""


async def write(request: Request, actor: Actor, ref: str, path: str) -> FileView:
    """Make or replace a file. Raises: NotFound, Forbidden, Conflict, Refused, Changed, TooLarge."""
    split(path)
    services = services_of(request, FileServices)
    admitted = await authorization.inward(services, actor, ref)
    announced = int(request.headers.get("content-length") or 0)
    if announced > LARGEST:
        raise _too_large()
    await admitted.require(services, announced)
    reached, most = admitted.reached, admitted.most(min(LARGEST, admitted.largest))
    try:
        about = intent(services.clock, reached, "file.write")
        made = await _made(request, reached, path, most, about)
    except arrivals.TooLarge:
        await admitted.require(services, most + 1)
        raise _too_large() from None
    except Conflict as error:
        if error.code == "file.exists" and _only_new(request):
            raise changed(path) from None
        raise
    notes: FileNotes = services.file_notes
    await notes.write(reached, "file.write", [path], in_place=True, intent=about, bytes=made.size_bytes)
    services.file_changes.note(reached.folder, made.size_bytes)
    return views.view(made)


async def _made(request: Request, reached: Reached, path: str, most: int, about: Intent) -> Entry:
    """The file, in its place. most: how many bytes it may have."""
    clash = Clash.REFUSE if _only_new(request) else Clash.REPLACE
    name, expected = f"{staged.WRITTEN}{new_id()}", _expected(request)
    if arrivals.is_small(request):
        pieces = await arrivals.read(request, reached)
        bring = partial(staged.bring, intent=about)
        return await reached.call(bring, reached.root, reached.stage, name, pieces, path, clash, expected)
    file = await reached.call(staged.create, reached.stage, name)
    arriving: Arrivals = services_of(request, FileServices).arrivals
    with arrivals.let_go(file):
        try:
            async with arriving.arriving(name) as arrival:
                await arrivals.receive(request, reached, file, most, arrival)
            await reached.call(partial(file.put, intent=about), reached.root, path, clash, expected)
            return described(path, file.status())
        except BaseException:
            await reached.call(file.remove)
            raise


def _too_large() -> arrivals.TooLarge:
    return arrivals.TooLarge(
        "file.too_large",
        f"At most {LARGEST >> 20} MiB can be written at once.",
        hint="Upload it: that can go on after a broken line.",
    )


def _only_new(request: Request) -> bool:
    return request.headers.get("if-none-match", "").strip() == "*"


def _expected(request: Request) -> list[str] | None:
    must_be = request.headers.get("if-match")
    return [tag.strip() for tag in must_be.split(",")] if must_be else None
