"""Upload one local file into a folder by tus 1.0, resumable after connection failures."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from io import BufferedReader

from carrel_client.errors import CarrelError
from carrel_client.files import Files, Uploads
from carrel_client.wire import FilePart
from carrel_client.workers import PASSING, Meter, Patience, Stopped, WorkerPool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from carrel_client import models

    Made = TypeVar("Made")

AT_ONCE = 4 << 20
"""Files up to this size are sent in one request, without resumable upload."""
_PIECE = 64 << 20
# Resent if a checksum does not match.
_CHECKED_PIECE = 16 << 20
_READ = 1 << 20
# Tolerance for comparing file times.
_SAME_TIME_S = 0.002
_GONE = (404, 410)
_OFFSET = "upload.offset"
"""The server has more or fewer bytes than expected; any other conflict is about the file, and is permanent."""


class UploadTarget:
    """The target folder, with its unfinished uploads of earlier runs.

    checked: send a checksum with every piece. parts: parallel parts of a large file.
    """

    def __init__(self, files: Files, uploads: Uploads, folder: str, *, checked: bool, parts: int) -> None:
        self.files = files
        self.uploads = uploads
        self.folder = folder
        self.checked = checked
        self.parts = parts
        self.unfinished: dict[tuple[str, ...], str] = {}
        self._looked = False

    def look_for_unfinished(self) -> None:
        """Load resumable uploads of the same unchanged file to the same path. Call once."""
        if self._looked:
            return
        self._looked = True
        for upload in self.uploads.list(self.folder)["items"]:
            try:
                state = self.uploads.show(self.folder, upload["id"])
            except CarrelError:
                continue  # expired meanwhile, or in use by another client
            self.unfinished[_key(state.metadata)] = upload["id"]


class Source:
    """A local file as listed. path: target in the folder. clash: what to do if it exists."""

    __slots__ = ("clash", "executable", "local", "modified_s", "path", "size")

    def __init__(
        self, local: str, path: str, status: os.stat_result, *, clash: models.Clash = "refuse"
    ) -> None:
        self.local = local
        self.path = path
        self.clash = clash
        self.size = status.st_size
        self.executable = bool(status.st_mode & 0o100)
        self.modified_s = status.st_mtime_ns // 1000 / 1_000_000

    def is_there(self, there: models.FileView) -> bool:
        """True if the folder already has this file, by size and time."""
        same = there["kind"] == "file" and there["size_bytes"] == self.size
        return same and abs(_seconds(there) - self.modified_s) < _SAME_TIME_S


def send(place: UploadTarget, source: Source, meter: Meter) -> None:
    """Upload the file. Raises: CarrelError, Stopped."""
    try:
        with open(source.local, "rb") as file:
            if os.fstat(file.fileno()).st_size != source.size:
                raise changed(source)
            _Sending(place, source, meter).run(file)
    except OSError as wrong:
        raise local_error(source.local, wrong) from None
    except EOFError:
        raise changed(source) from None
    meter.finished()


class _Sending:
    def __init__(self, place: UploadTarget, source: Source, meter: Meter) -> None:
        self._place = place
        self._source = source
        self._meter = meter
        self._metadata = {"path": source.path, "clash": source.clash}
        self._metadata |= {"modified": f"{source.modified_s:.6f}"} if source.modified_s >= 0 else {}
        self._metadata |= {"executable": "1"} if source.executable else {}

    def run(self, file: BufferedReader) -> None:
        size = self._source.size
        if size <= AT_ONCE:
            self._at_once(file)
        elif self._place.parts > 1 and size > self._place.parts * AT_ONCE:
            self._in_parts()
        else:
            self._stretch(file, 0, size, self._metadata, partial_upload=False)

    def _at_once(self, file: BufferedReader) -> None:
        content = file.read(self._source.size + 1)
        if len(content) != self._source.size:
            raise changed(self._source)
        made = self._persistently(lambda: self._create(len(content), self._metadata, content))
        if made is None:
            self._meter.add(len(content))
            return
        upload, arrived = made
        self._meter.add(arrived)
        if arrived < len(content):
            self._append(file, 0, len(content), upload, arrived)

    def _in_parts(self) -> None:
        """Upload the parts in parallel, each as a partial upload, then join them."""
        size, count = self._source.size, self._place.parts
        edges = [size * index // count for index in range(count + 1)]
        made: dict[int, str] = {}

        def one(index: int) -> None:
            metadata = self._metadata | {"part": f"{index + 1}/{count}"}
            begin, end = edges[index], edges[index + 1]
            with open(self._source.local, "rb") as file:
                made[index] = self._stretch(file, begin, end - begin, metadata, partial_upload=True)

        pool = WorkerPool(count, self._meter)
        with pool:
            for index in range(count):
                pool.give(str(index), partial(one, index))
        for _, error in pool.failures:
            raise error
        if self._meter.stopped:
            raise Stopped
        place = self._place
        parts = [made[index] for index in range(count)]
        self._persistently(lambda: place.uploads.join(place.folder, parts=parts, metadata=self._metadata))

    def _stretch(
        self,
        file: BufferedReader,
        begin: int,
        length: int,
        metadata: Mapping[str, str],
        *,
        partial_upload: bool,
    ) -> str:
        """The partial upload of these bytes, resuming one of an earlier run."""
        place = self._place
        upload = place.unfinished.pop(_key(metadata), "")
        if upload:
            try:
                state = place.uploads.show(place.folder, upload)
                upload, arrived = (upload, state.offset) if state.length == length else ("", 0)
            except CarrelError:
                upload = ""
        if not upload:
            made = self._persistently(lambda: self._create(length, metadata, None, partial_upload))
            if made is None:
                self._meter.add(length)
                return ""
            upload, arrived = made
        self._meter.add(arrived)
        self._append(file, begin, length, upload, arrived)
        return upload

    def _create(
        self, length: int, metadata: Mapping[str, str], body: bytes | None, partial_upload: bool = False
    ) -> tuple[str, int]:
        place = self._place
        return place.uploads.create(
            place.folder, length=length, metadata=metadata, body=body, partial=partial_upload
        )

    def _persistently(self, make: Callable[[], Made]) -> Made | None:
        """The function's result, retried while that can help; None if an attempt without a response has succeeded."""
        patience = Patience(self._meter)
        while True:
            try:
                return make()
            except CarrelError as error:
                # The name is taken or the parts are gone: an earlier attempt may have succeeded.
                if error.status in (404, 409) and landed(self._place, self._source):
                    return None
                patience.after(error)

    def _append(self, file: BufferedReader, begin: int, length: int, upload: str, arrived: int) -> None:
        """Send the missing bytes, as reported by the server, until it reports the upload as complete.

        All bytes alone are not sufficient: the server then puts the file in place, and may refuse that.
        """
        place, patience, ended = self._place, Patience(self._meter), False
        while not ended:
            piece = min(_CHECKED_PIECE if place.checked else _PIECE, length - arrived)
            body = FilePart(file, begin + arrived, piece, self._meter.add)
            checksum = _checksum(file, begin + arrived, piece) if place.checked else None
            before = arrived
            try:
                arrived = place.uploads.append(
                    place.folder, upload, offset=arrived, body=body, checksum=checksum
                )
                ended = arrived == length
                patience.renew()
            except CarrelError as error:
                ended = error.status in _GONE and landed(place, self._source)
                arrived = length if ended else received_bytes(place, upload, error, patience, arrived)
            self._meter.add(arrived - before - body.sent)


def received_bytes(
    place: UploadTarget, upload: str, error: CarrelError, patience: Patience, believed: int
) -> int:
    """Number of bytes that the server has after this error; our own count if it does not tell.

    Raises: CarrelError for a permanent error.
    """
    if error.code != _OFFSET:
        patience.after(error)
    while True:
        try:
            arrived = place.uploads.show(place.folder, upload).offset
            break
        except CarrelError as unsaid:
            if unsaid.status not in PASSING:
                arrived = believed  # HEAD responses have no body; the next PATCH tells the error
                break
            patience.after(unsaid)
    if error.code == _OFFSET and arrived == believed:
        raise error
    return arrived


class naming:
    """Adds the local file name to errors. Raises: CarrelError instead of OSError."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, raised: BaseException | None, trace: object) -> None:
        if isinstance(raised, OSError):
            raise local_error(self._path, raised) from None


def local_error(path: str, wrong: OSError) -> CarrelError:
    """The error for an OSError of a local file."""
    from errno import EDQUOT, ENOSPC

    full = wrong.errno in (ENOSPC, EDQUOT)
    return CarrelError(
        "client.disk_full" if full else "client.local_file",
        f"{path}: {wrong.strerror or wrong}.",
        status=400,
        hint="Free space and run the command again: it resumes." if full else "",
    )


def changed(source: Source) -> CarrelError:
    """The error for a file that changed since it was listed."""
    return CarrelError(
        "client.file_changed",
        f"{source.local} changed while it was sent.",
        status=400,
        hint="Run the command again when nothing writes to it.",
    )


def landed(place: UploadTarget, source: Source) -> bool:
    """True if the file was uploaded although the response was lost."""
    try:
        there = place.files.show(place.folder, path=source.path)
    except CarrelError:
        return False
    return source.is_there(there)


def _checksum(file: BufferedReader, offset: int, length: int) -> str:
    from binascii import b2a_base64
    from hashlib import sha1

    digest = sha1(usedforsecurity=False)
    while length:
        block = os.pread(file.fileno(), min(_READ, length), offset)
        if not block:
            raise EOFError
        digest.update(block)
        offset, length = offset + len(block), length - len(block)
    return f"sha1 {b2a_base64(digest.digest(), newline=False).decode()}"


def _key(metadata: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(metadata.get(name, "") for name in ("path", "clash", "modified", "part"))


def _seconds(there: models.FileView) -> float:
    from datetime import datetime

    return datetime.fromisoformat(there["modified_at"]).timestamp()
