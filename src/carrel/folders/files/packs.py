"""Use cases of many small files in one request: unpacking and creating tar files."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import BytesIO, FileIO
from typing import IO, TypeVar

from carrel.core.errors import Refused, TooLarge
from carrel.core.ids import new_id
from carrel.folders.files import arrivals, authorization, file_views, sizes
from carrel.folders.files.authorization import Admitted
from carrel.folders.files.downloads import Archive
from carrel.folders.files.folder_access import LONG_S, MOST_NOTED, OpenedFolder
from carrel.folders.files.interrupted import ending, intent
from carrel.folders.files.notes import FileNotes
from carrel.folders.files.schemas import FilesDone
from carrel.folders.files.services import FileServices
from carrel.http.body import Body
from carrel.permissions.decide import Actor
from carrel.storage import staged
from carrel.storage.packs import Entries, UnpackedBatch, Unpacking, require_some, write_pack
from carrel.storage.paths import names
from carrel.storage.tar_reader import TarReader
from carrel.storage.tree import Clash

T = TypeVar("T")

LARGEST = 32 << 20
"""Size limit of one tar file. Larger transfers are split."""
_IN_MEMORY = 2 << 20
"""A tar file up to this size is unpacked without a copy on disk."""


async def unpack(
    services: FileServices, actor: Actor, ref: str, to: str, clash: Clash, body: Body
) -> FilesDone:
    """Unpack the files of a tar file into a directory; an empty body has none.

    Raises: NotFound, Forbidden, Conflict, Refused, TooLarge, Invalid.
    """
    names(to)
    admitted = await authorization.inward(services, actor, ref)
    announced = body.announced or 0
    if announced > LARGEST:
        raise _too_large()
    await admitted.require(services, announced, largest=0)
    most = admitted.most(LARGEST)
    try:
        if arrivals.is_small(body, _IN_MEMORY):
            content = b"".join(await arrivals.read(services, body, admitted.opened))
            return await _unpacked(services, admitted, BytesIO(content), len(content), to, clash)
        return await _unpacked_from_disk(services, admitted, most, to, clash, body)
    except TooLarge:
        await admitted.require(services, most + 1, largest=0)
        raise _too_large() from None


async def pack(services: FileServices, actor: Actor, ref: str, paths: Sequence[str]) -> Archive:
    """A tar file of the small ones among these files.

    Raises: NotFound, Forbidden, Conflict, Invalid; if none can be packed, the error of the first.
    """
    for path in paths:
        names(path)
    opened = await authorization.outward(services, actor, ref)
    slot = services.downloads.open(actor.user_id)
    await opened.call(require_some, opened.root, paths)
    notes: FileNotes = services.file_notes
    await asyncio.gather(
        *[notes.write(opened, "file.download", some, in_place=False, archive=True) for some in batched(paths)]
    )
    make = partial(write_pack, opened.root, paths)
    return Archive(opened, make, None, slot)


async def _unpacked_from_disk(
    services: FileServices, admitted: Admitted, most: int, to: str, clash: Clash, body: Body
) -> FilesDone:
    """As `_unpacked`, for a body that is stored on disk first. most: its limit in bytes."""
    opened, name = admitted.opened, f"{staged.WRITTEN}{new_id()}"
    file = await opened.call(staged.create, opened.stage, name)
    with arrivals.let_go(file):
        try:
            async with services.arrivals.arriving(name) as arrival:
                await arrivals.receive(services, body, opened, file, most, arrival)
            with FileIO(file.fd, closefd=False) as source:
                return await _unpacked(services, admitted, source, file.size(), to, clash)
        finally:
            await opened.call(file.remove)


async def _unpacked(
    services: FileServices, admitted: Admitted, source: IO[bytes], size: int, to: str, clash: Clash
) -> FilesDone:
    """The outcome per file of this tar file. size: its length in bytes."""
    if not size:
        return FilesDone(paths=[], refused=[])
    return await unpack_entries(services, admitted, partial(TarReader, source), to, clash)


async def unpack_entries(
    services: FileServices, admitted: Admitted, entries: Callable[[], Entries], to: str, clash: Clash
) -> FilesDone:
    """The outcome per file of an archive. entries: opens it."""
    opened, done = admitted.opened, FilesDone(paths=[], refused=[])
    unpacking = Unpacking(
        entries,
        opened.root,
        opened.stage,
        to,
        clash,
        name=f"{staged.WRITTEN}{new_id()}",
        largest=admitted.largest,
        too_large=partial(sizes.too_large, admitted.largest),
        intent=partial(intent, services.clock, opened, "file.upload"),
    )
    while not unpacking.over:
        try:
            step = await opened.call(unpacking.step, deadline_s=LONG_S)
        except Refused as full:
            left = [*unpacking.pending, *await opened.call(lambda: list(unpacking.rest()))]
            done.refused += [file_views.not_done(entry, full) for entry in left]
            return done
        await _note(services, opened, step)
        done.paths += [path for path, _ in step.placed]
        done.refused += [file_views.not_done(entry, error) for entry, error in step.refused]
    return done


async def _note(services: FileServices, opened: OpenedFolder, step: UnpackedBatch) -> None:
    """Record all files in the audit trail: several entries that name every path, in one transaction."""
    notes: FileNotes = services.file_notes
    entries = [
        notes.write(
            opened,
            "file.upload",
            [path for path, _ in some],
            in_place=True,
            bytes=sum(size for _, size in some),
        )
        for some in batched(step.placed)
    ]
    if entries and step.intent:
        async with ending(opened, step.intent):
            await asyncio.gather(*entries)
        services.file_changes.note(opened.folder, sum(size for _, size in step.placed))


def batched(many: Sequence[T]) -> Iterator[Sequence[T]]:
    """Batches small enough for an audit entry to name every path."""
    return (many[start : start + MOST_NOTED] for start in range(0, len(many), MOST_NOTED))


def _too_large() -> TooLarge:
    return TooLarge(
        "file.too_large",
        f"An archive has at most {LARGEST >> 20} MiB.",
        hint="Send several archives, and each large file on its own.",
    )
