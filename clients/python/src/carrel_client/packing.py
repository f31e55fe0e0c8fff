"""Upload and download small files in batches, as tar files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import FileIO

from carrel_client.errors import CarrelError
from carrel_client.fetching import EXECUTABLE, fetch, part_of
from carrel_client.files import Files
from carrel_client.sending import Source, UploadTarget, changed, landed, local_error, naming, send
from carrel_client.tar_headers import BLOCK, header, padded
from carrel_client.workers import Meter, Patience, WorkerPool, holds_for_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarfile import TarFile, TarInfo
    from typing import Any

    from carrel_client import models
    from carrel_client.wire import Response

SMALL = 256 << 10
"""Files up to this size are sent in batches."""
_MOST_FILES = 400
_MOST_BYTES = 2 << 20
"""Including tar headers. The server unpacks a request of this size in memory."""
_OVERHEAD = 4 * BLOCK


class Bundle:
    """Collects files of one request and queues it. single: the job for a batch of one file."""

    def __init__(
        self,
        pool: WorkerPool,
        single: Callable[[Any], None],
        several: Callable[[WorkerPool, Sequence[Any]], None],
    ) -> None:
        self._pool = pool
        self._single = single
        self._several = several
        self._held: list[Any] = []
        self._names: list[str] = []
        self._size = 0

    def add(self, name: str, size: int, one: object) -> None:
        """name: for messages."""
        if len(self._held) >= _MOST_FILES or self._size + size + _OVERHEAD > _MOST_BYTES:
            self.flush()
        self._held.append(one)
        self._names.append(name)
        self._size += size + _OVERHEAD

    def flush(self) -> None:
        """Queue the collected files."""
        held, names = self._held, self._names
        self._held, self._names, self._size = [], [], 0
        if len(held) == 1:
            self._pool.give(names[0], partial(self._single, held[0]))
        elif held:
            self._pool.give(names[0], partial(self._several, self._pool, held))


def send_packed(place: UploadTarget, meter: Meter, pool: WorkerPool, sources: Sequence[Source]) -> None:
    """Upload small files that have the same clash setting. Raises: Stopped; CarrelError that affects all files."""
    packed, body = _tar(pool, sources)
    patience = Patience(meter)
    while packed:
        try:
            done = place.files.unpack(place.folder, body=body, clash=packed[0].clash)
            break
        except CarrelError as error:
            try:
                patience.after(error)
            except CarrelError:
                # An error of the batch need not apply to each file.
                _one_by_one(pool, error, [(each.local, partial(send, place, each, meter)) for each in packed])
                return
    else:
        return
    refused = {each["path"]: each for each in done["refused"]}
    # By count, since a conflict may have changed a name.
    all_reported = len(done["paths"]) + len(done["refused"]) >= len(packed)
    untold = []
    for source in packed:
        no = refused.get(source.path)
        if no is None and not all_reported and source.path not in done["paths"]:
            untold.append((source.local, partial(send, place, source, meter)))
        # An earlier attempt whose response was lost may have uploaded it.
        elif no is None or (no["code"] == "file.exists" and landed(place, source)):
            meter.add(source.size)
            meter.finished()
        else:
            pool.fail(source.local, CarrelError(no["code"], no["message"], status=409))
    _one_by_one(pool, None, untold)


def fetch_packed(
    files: Files, folder: str, meter: Meter, pool: WorkerPool, targets: Sequence[tuple[models.FileView, str]]
) -> None:
    """Download small files. Raises: Stopped; CarrelError that affects all files."""
    left = {entry["path"]: (entry, local) for entry, local in targets}
    patience, why = Patience(meter), None
    while left:
        before = len(left)
        try:
            _read(files, folder, meter, pool, left)
            break
        except CarrelError as error:
            if len(left) < before:
                patience.renew()
            try:
                patience.after(error)
            except CarrelError:
                why = error
                break
    # Files missing in the response are requested one by one; then the server names the reason.
    jobs = [
        (entry["path"], partial(fetch, files, folder, entry, local, meter)) for entry, local in left.values()
    ]
    _one_by_one(pool, why, jobs)


def _tar(pool: WorkerPool, sources: Sequence[Source]) -> tuple[list[Source], bytes]:
    """The readable files, and a tar file of them."""
    made, packed = [], []
    for source in sources:
        try:
            with FileIO(source.local) as file:
                content = file.read(source.size + 1)
        except OSError as wrong:
            pool.fail(source.local, local_error(source.local, wrong))
            continue
        if len(content) != source.size:
            pool.fail(source.local, changed(source))
            continue
        mode = 0o755 if source.executable else 0o644
        made.append(header(source.path, size=source.size, mode=mode, modified_s=source.modified_s))
        made.append(padded(content))
        packed.append(source)
    made.append(bytes(2 * BLOCK))
    return packed, b"".join(made)


def _read(
    files: Files, folder: str, meter: Meter, pool: WorkerPool, left: dict[str, tuple[models.FileView, str]]
) -> None:
    """Unpack the received files and remove them from `left`. Raises: CarrelError."""
    import tarfile

    with files.pack(folder, paths=list(left)) as answer:
        body = _Body(answer)
        try:
            with tarfile.open(fileobj=body, mode="r|") as tar:  # type: ignore[call-overload]
                for member in tar:
                    tar.members = []  # otherwise it keeps all members
                    if member.name in left:
                        _keep(pool, tar, member, *left[member.name], meter)
                        del left[member.name]
        except tarfile.TarError:
            return  # the others are downloaded one by one
        body.drain()


def _keep(
    pool: WorkerPool, tar: TarFile, member: TarInfo, entry: models.FileView, local: str, meter: Meter
) -> None:
    content = tar.extractfile(member)
    data = content.read() if content else b""
    unfinished = part_of(local, entry)
    try:
        with naming(local):
            with open(unfinished, "wb") as file:
                file.write(data)
                if member.mode & 0o100:
                    mode = os.fstat(file.fileno()).st_mode
                    os.fchmod(file.fileno(), mode | (mode >> 2 & EXECUTABLE))
            os.utime(unfinished, (member.mtime, member.mtime))
            os.replace(unfinished, local)
    except CarrelError as error:
        if error.code == "client.disk_full":
            raise
        pool.fail(entry["path"], error)
        return
    meter.add(len(data))
    meter.finished()


def _one_by_one(
    pool: WorkerPool, why: CarrelError | None, jobs: Sequence[tuple[str, Callable[[], None]]]
) -> None:
    if why and holds_for_all(why):
        raise why
    for name, job in jobs:
        try:
            job()
        except CarrelError as error:
            if holds_for_all(error):
                raise
            pool.fail(name, error)


class _Body:
    """The body of a response as a file object."""

    def __init__(self, answer: Response) -> None:
        self._blocks: Iterator[bytes] = answer.blocks()
        self._held = b""

    def read(self, size: int) -> bytes:
        while len(self._held) < size:
            block = next(self._blocks, b"")
            if not block:
                break
            self._held += block
        taken, self._held = self._held[:size], self._held[size:]
        return taken

    def drain(self) -> None:
        """Read the rest of the body, so that the connection can be reused."""
        for _ in self._blocks:
            continue
