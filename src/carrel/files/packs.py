"""Use cases of many small files in one request: a tar file that is taken apart, and one that is made."""

from collections.abc import Iterator, Sequence
from functools import partial
from io import FileIO
from typing import IO

from fastapi import Request, Response

from carrel.core.errors import Refused
from carrel.core.ids import new_id
from carrel.files import admission, arrivals, sizes, views
from carrel.files.admission import Admitted
from carrel.files.arrivals import Arrivals
from carrel.files.downloads import APART
from carrel.files.notes import FileNotes
from carrel.files.reach import LONG_S, Reached
from carrel.files.schemas import FilesDone
from carrel.files.zip_stream import MadeStream
from carrel.policy.decide import Actor
from carrel.storage import staged
from carrel.storage.packs import AT_ONCE, Step, Unpacking, write_pack
from carrel.storage.paths import names
from carrel.storage.tree import Clash

LARGEST = 32 << 20
"""Of one tar file. What is larger comes in several."""


async def unpack(request: Request, actor: Actor, ref: str, to: str, clash: Clash) -> FilesDone:
    """Put the files of a tar file into a directory; of no bytes, none.

    Raises: NotFound, Forbidden, Conflict, Refused, TooLarge, Invalid.
    """
    names(to)
    state = request.app.state
    admitted = await admission.inward(state, actor, ref)
    announced = int(request.headers.get("content-length") or 0)
    if announced > LARGEST:
        raise _too_large()
    await admitted.require(state, announced, largest=0)
    reached, name, most = admitted.reached, f"{staged.WRITTEN}{new_id()}", admitted.most(LARGEST)
    file = await reached.call(staged.create, reached.stage, name)
    arriving: Arrivals = state.arrivals
    with arrivals.let_go(file):
        try:
            async with arriving.arriving(name) as arrival:
                await arrivals.receive(request, reached, file, most, arrival)
            if not file.size():
                return FilesDone(paths=[], refused=[])
            with FileIO(file.fd, closefd=False) as source:
                source.seek(0)
                return await _unpacked(request, admitted, source, to, clash, name)
        except arrivals.TooLarge:
            await admitted.require(state, most + 1, largest=0)
            raise _too_large() from None
        finally:
            await reached.call(file.remove)


async def pack(request: Request, actor: Actor, ref: str, paths: Sequence[str]) -> Response:
    """A tar file of those of these files that are small. Raises: NotFound, Forbidden, Conflict, Invalid."""
    for path in paths:
        names(path)
    reached = await admission.outward(request.app.state, actor, ref)
    notes: FileNotes = request.app.state.file_notes
    for some in _some(paths):
        await notes.write(reached, "file.download", some, in_place=False, archive=True)
    make = partial(write_pack, reached.root, paths)
    return MadeStream(reached, make, {**APART, "Content-Type": "application/x-tar"})


async def _unpacked(
    request: Request, admitted: Admitted, source: IO[bytes], to: str, clash: Clash, name: str
) -> FilesDone:
    reached = admitted.reached
    begin = partial(
        Unpacking, source, reached.root, reached.stage, to, clash,
        name=name, largest=admitted.largest, too_large=partial(sizes.too_large, admitted.largest),
    )  # fmt: skip
    unpacking = await reached.call(begin)
    done = FilesDone(paths=[], refused=[])
    while True:
        try:
            step = await reached.call(unpacking.step, deadline_s=LONG_S)
        except Refused as full:
            left = [*unpacking.pending, *await reached.call(lambda: list(unpacking.rest()))]
            done.refused += [views.not_done(entry, full) for entry in left]
            return done
        if step is None:
            return done
        await _note(request, reached, step)
        done.paths += step.paths
        done.refused += [views.not_done(entry, error) for entry, error in step.refused]


async def _note(request: Request, reached: Reached, step: Step) -> None:
    state = request.app.state
    notes: FileNotes = state.file_notes
    if step.paths:
        await notes.write(reached, "file.upload", step.paths, in_place=True, bytes=step.bytes)
        state.file_changes.note(reached.folder, step.bytes)


def _some(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    """So few at a time that all of them are named."""
    return (paths[start : start + AT_ONCE] for start in range(0, len(paths), AT_ONCE))


def _too_large() -> arrivals.TooLarge:
    return arrivals.TooLarge(
        "file.too_large",
        f"At most {LARGEST >> 20} MiB can come packed at once.",
        hint="Send them in several, and large files each by itself.",
    )
