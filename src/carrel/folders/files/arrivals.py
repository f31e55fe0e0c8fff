"""Incoming bytes: from a request's body to the end of a file in a folder's stage."""

import asyncio
import time
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from carrel.core.errors import TooLarge, Unavailable
from carrel.folders.files.arriving import Arrival
from carrel.folders.files.folder_access import OpenedFolder
from carrel.folders.files.services import FileServices
from carrel.folders.files.tus import Checksum
from carrel.http.body import PROGRESS_TIMEOUT_S, Body, LineBroke
from carrel.http.intake import Intake
from carrel.storage import staged
from carrel.storage.staged import Staged

BATCH = 1 << 20
"""Batch size: bytes collected while the previous batch is written."""
_POURED = 4 << 20
_MOST_PIECES = 1024
"""Limit of chunks per batch: each has a fixed cost, however small it is."""
T = TypeVar("T")


@contextmanager
def let_go(*files: Staged) -> Iterator[None]:
    """Close the files after the block, but not while a thread that is still blocked may use them."""
    try:
        yield
    except (Unavailable, asyncio.CancelledError):
        raise
    except BaseException:
        _close(files)
        raise
    else:
        _close(files)


async def receive(
    services: FileServices,
    body: Body,
    opened: OpenedFolder,
    file: Staged,
    most: int,
    arrival: Arrival,
    checksum: Checksum | None = None,
) -> None:
    """Append the body to the file. most: limit of the body in bytes.

    With a checksum, nothing counts until the complete body has arrived and matches.
    Raises: LineBroke and TooLarge, with the bytes received so far in the file; ChecksumMismatch; Unavailable, Refused.
    """
    body.let_grow()
    with services.uploads.open(opened.actor.user_id):
        await _receive(body, opened, file, most, arrival, checksum)


async def _receive(
    body: Body,
    opened: OpenedFolder,
    file: Staged,
    most: int,
    arrival: Arrival,
    checksum: Checksum | None,
) -> None:
    if checksum is None:
        await _append(body, opened, file, most, arrival, None)
        return
    apart = await opened.call(staged.create, file.stage, f"{file.name}{staged.PART}")
    with let_go(apart):
        try:
            hashed = checksum.begun()
            await _append(body, opened, apart, most, arrival, hashed)
            checksum.require(hashed.digest())
            await opened.call(file.take, apart)
        finally:
            await opened.call(apart.remove)


def more_than_announced() -> TooLarge:
    return TooLarge("upload.too_large", "The upload is longer than declared.", hint="Start again.")


def is_small(body: Body, largest: int = BATCH) -> bool:
    """True if the body is known to have at most this many bytes, so that it can be `read` first."""
    return body.announced is not None and body.announced <= largest


async def read(
    services: FileServices, body: Body, opened: OpenedFolder, checksum: Checksum | None = None
) -> list[bytes]:
    """A small body, complete. Raises: LineBroke, ChecksumMismatch, TooManyTransfers, Unavailable."""
    body.let_grow()
    with services.uploads.open(opened.actor.user_id):
        pieces = [piece async for piece in body.pieces() if piece]
    if checksum is not None:
        hashed = checksum.begun()
        for piece in pieces:
            hashed.update(piece)
        checksum.require(hashed.digest())
    return pieces


async def _append(
    body: Body, opened: OpenedFolder, file: Staged, most: int, arrival: Arrival, hashed: object
) -> None:
    announced = body.announced
    if body.intake is None or announced is None or announced <= BATCH:
        await _collect(body, opened, file, most, arrival, hashed)
    elif announced > most:
        raise more_than_announced()
    else:
        try:
            first = await anext(body.pieces())
            await _pour(body.intake, first, announced, opened, file, arrival, hashed)
        except ConnectionError:
            raise LineBroke from None


async def _pour(
    intake: Intake,
    first: bytes,
    size: int,
    opened: OpenedFolder,
    file: Staged,
    arrival: Arrival,
    hashed: object,
) -> None:
    """Copy from the socket to the file. first: number of bytes received so far; more may follow."""
    with intake:
        begun = first + intake.parsed()
        await _finished(opened.call(file.write, [begun], hashed))
        left, there = size - len(begun), True
        while left and there:
            await intake.readable(left)
            try:
                there = await _finished(opened.call(_poured, intake, file, min(left, _POURED), hashed))
            except Unavailable:
                if intake.at_work:
                    intake.abandon()
                raise
            finally:
                taken = intake.settle()
                left -= taken
            if taken:
                arrival.last = time.monotonic()
            elif there and time.monotonic() - arrival.last > PROGRESS_TIMEOUT_S:
                there = False
        if left:
            intake.hang_up()
            raise LineBroke


def _poured(intake: Intake, file: Staged, most: int, hashed: object) -> bool:
    """Write the available bytes; True if the client is still connected."""
    intake.at_work = True
    try:
        while most and (piece := intake.read(most)) is not None:
            if not piece:
                return False
            file.write([piece], hashed)
            most -= len(piece)
        return True
    finally:
        intake.at_work = False


async def _finished(work: Awaitable[T]) -> T:
    """The result of the work. A cancelled caller waits until the work has ended."""
    running = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(running)
    finally:
        await asyncio.wait({running})


async def _collect(
    body: Body, opened: OpenedFolder, file: Staged, most: int, arrival: Arrival, hashed: object
) -> None:
    """Collect chunks from the event loop into batches."""
    pieces: list[bytes] = []
    size, total = 0, 0
    writing: asyncio.Future[None] | None = None
    try:
        async for piece in body.pieces():
            arrival.last = time.monotonic()
            total += len(piece)
            if total > most:
                raise more_than_announced()
            pieces.append(piece)
            size += len(piece)
            if size >= BATCH or len(pieces) >= _MOST_PIECES:
                if writing:
                    await asyncio.shield(writing)
                writing = asyncio.ensure_future(opened.call(file.write, pieces, hashed))
                pieces, size = [], 0
    finally:
        # Bytes received before the connection broke or was cut are kept.
        if writing:
            await writing
        if pieces:
            await opened.call(file.write, pieces, hashed)


def _close(files: Sequence[Staged]) -> None:
    for file in files:
        file.close()
