"""Transfer of many small files as one tar file, into or out of a folder.

Incoming files are placed in batches: written, synced to disk together and then renamed, so that each is visible
completely or not at all, and a thousand of them wait for the disk as often as twenty.
"""

import errno
import os
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import IO, Protocol

from carrel.core.errors import CarrelError, Conflict, Invalid
from carrel.storage import staged
from carrel.storage.intents import Intent, begun
from carrel.storage.paths import directory, joined, made_directory, opened, shown, split
from carrel.storage.port import StorageError
from carrel.storage.staged import Staged
from carrel.storage.syncing import sync_all
from carrel.storage.tar_reader import modified_ns
from carrel.storage.tree import Clash, alone, make_directory, put_in

AT_ONCE = 400
"""Files per batch."""
LARGEST_PACKED = 8 << 20
"""Larger files are downloaded separately, so that downloads can be resumed."""
_PIECE = 1 << 20
_DIRECTORIES = 50
"""Maximum number of directories kept open until they are synced."""


@dataclass
class UnpackedBatch:
    """The result of a batch.

    placed: final paths of files with their sizes in bytes. refused: reason by name in the tar file. intent: to end once
    the result is in the audit trail.
    """

    placed: list[tuple[str, int]] = field(default_factory=list)
    refused: list[tuple[str, CarrelError]] = field(default_factory=list)
    intent: Intent | None = None


@dataclass(frozen=True, slots=True)
class _Written:
    """A file in the stage. entry: its name in the tar file. above, last: its target directory and name."""

    file: Staged
    entry: str
    above: str
    last: str
    size: int


class Entries(Protocol):
    """The entries of an archive, in order. Raises: Invalid if the rest is not one."""

    def next(self) -> tarfile.TarInfo | None:
        """The next entry; None at the end."""

    def seek(self, member: tarfile.TarInfo) -> IO[bytes]:
        """A file with the content of this entry, the last one, at its first byte."""


class Unpacking:
    """Unpacks an archive, such as a tar file, into a directory of a folder, step by step.

    entries: opens the archive, in a thread of the storage host. name: of this operation, in the stage. largest: maximum
    bytes of a file, and the error message for larger ones. intent: for a step.
    """

    def __init__(
        self,
        entries: Callable[[], Entries],
        root: Path,
        stage: Path,
        to: str,
        clash: Clash,
        *,
        name: str,
        largest: int,
        too_large: Callable[[], CarrelError],
        intent: Callable[[], Intent] | None = None,
    ) -> None:
        self._open = entries
        self._root = root
        self._stage = stage
        self._to = to
        self._clash = clash
        self._name = name
        self._largest = largest
        self._too_large = too_large
        self._intent = intent
        self._count = 0
        self._entries: Entries | None = None
        self._placed = set[str]()
        self.pending: list[str] = []
        """Names of the entries of the failed step."""
        self.over = False
        """True after the last step."""

    def step(self) -> UnpackedBatch:
        """Place the next batch of files.

        Raises: Invalid if the rest is not an archive; OSError; in both cases no file of this step is placed.
        """
        done, written = UnpackedBatch(intent=self._intent() if self._intent else None), list[_Written]()
        self._placed = set()
        self.pending = []
        with directory(self._stage, "") as stage:
            try:
                for member in self._next():
                    name = _name(member)
                    self.pending.append(name)
                    try:
                        self._take(stage, name, member, written)
                    except CarrelError as error:
                        if isinstance(error, Invalid) and error.code == "invalid.request":
                            raise
                        done.refused.append((name, error))
                self._place(stage, written, done)
            finally:
                for each in written:
                    if each.file.name not in self._placed:
                        each.file.remove()
                    each.file.close()
        return done

    def rest(self) -> Iterator[str]:
        """Names of the entries after the last step."""
        while member := self._following():
            yield _name(member)

    def _next(self) -> Iterator[tarfile.TarInfo]:
        for _ in range(AT_ONCE):
            member = self._following()
            if member is None:
                return
            yield member

    def _following(self) -> tarfile.TarInfo | None:
        if self.over:
            return None
        self._entries = self._entries or self._open()
        member = self._entries.next()
        self.over = member is None
        return member

    def _take(self, stage: int, name: str, member: tarfile.TarInfo, written: list[_Written]) -> None:
        path = joined(self._to, name)
        if member.isdir():
            if name:
                make_directory(self._root, path)
            return
        above, last = split(path)
        if not member.isreg() or member.issparse():
            raise Conflict(
                "file.not_a_file",
                f"{shown(path)} is neither a regular file nor a directory.",
                hint="Links and special files cannot be downloaded.",
                field="path",
            )
        if member.size > self._largest:
            raise self._too_large()
        self._count += 1
        file = staged.fresh_in(stage, self._stage, f"{self._name}.{self._count}")
        written.append(_Written(file, name, above, last, member.size))
        self._copy(member, file)
        file.stamp(modified_ns(member), executable=bool(member.mode & 0o100))

    def _copy(self, member: tarfile.TarInfo, file: Staged) -> None:
        assert self._entries is not None
        source, left = self._entries.seek(member), member.size
        while left:
            piece = source.read(min(left, _PIECE))
            if not piece:
                raise OSError(errno.EIO, "The tar file became shorter while it was read.")
            file.write([piece])
            left -= len(piece)

    def _place(self, stage: int, written: Sequence[_Written], done: UnpackedBatch) -> None:
        sync_all([each.file.fd for each in written])
        files = [_about(each) for each in written]
        if not files:
            return
        with begun(done.intent, "put", files=files, clash=self._clash):
            self._place_all(stage, written, done)
        if done.intent:
            done.intent.settle(done.placed)

    def _place_all(self, stage: int, written: Sequence[_Written], done: UnpackedBatch) -> None:
        above: dict[str, list[_Written]] = {}
        for each in written:
            above.setdefault(each.above, []).append(each)
        with ExitStack() as handles:
            changed = []
            for to, files in above.items():
                try:
                    handle = handles.enter_context(made_directory(self._root, to))
                    with alone(stage):
                        for each in files:
                            self._put(stage, each, handle, done)
                except CarrelError as error:
                    done.refused += [(each.entry, error) for each in files]
                else:
                    changed.append(handle)
                if len(changed) >= _DIRECTORIES:
                    sync_all(changed)
                    changed = []
                    handles.close()
            sync_all(changed)

    def _put(self, stage: int, each: _Written, handle: int, done: UnpackedBatch) -> None:
        path = joined(each.above, each.last)
        try:
            got = put_in(stage, each.file.name, handle, each.last, path, self._clash)
        except CarrelError as error:
            done.refused.append((each.entry, error))
        else:
            self._placed.add(each.file.name)
            if done.intent:
                done.intent.happened()
            done.placed.append((joined(each.above, got), each.size))


def require_some(root: Path, paths: Sequence[str]) -> None:
    """Check that at least one of these files can be packed. Raises: the error of the first one."""
    first: CarrelError | None = None
    for path in paths:
        try:
            with opened(root, path) as file:
                if os.fstat(file.fileno()).st_size <= LARGEST_PACKED:
                    return
            raise Conflict(
                "file.too_large_to_pack",
                f"{shown(path)} is larger than {LARGEST_PACKED >> 20} MiB.",
                hint="Download it on its own.",
                field="paths",
            )
        except CarrelError as error:
            first = first or error
    if first is not None:
        raise first


def write_pack(root: Path, paths: Sequence[str], write: Callable[[bytes], object]) -> None:
    """Write a tar file of these files, each under its path, in chunks of about 1 MiB.

    Skips special, large and unreadable files. Raises: exceptions of write.
    """
    held, size = list[bytes](), 0
    for path in paths:
        try:
            pieces = _packed(root, path)
        except (CarrelError, StorageError, OSError):
            continue
        held += pieces
        size += sum(map(len, pieces))
        if size >= _PIECE:
            write(b"".join(held))
            held, size = [], 0
    write(b"".join([*held, bytes(2 * tarfile.BLOCKSIZE)]))


def _packed(root: Path, path: str) -> list[bytes]:
    with opened(root, path) as file:
        status = os.fstat(file.fileno())
        if status.st_size > LARGEST_PACKED:
            return []
        content = BytesIO()
        while piece := file.read(min(_PIECE, LARGEST_PACKED)):
            content.write(piece)
            if content.tell() > LARGEST_PACKED:
                return []
    info = tarfile.TarInfo(path)
    info.size = content.tell()
    info.mode = status.st_mode & 0o777
    info.pax_headers = {"mtime": f"{status.st_mtime_ns / 10**9:.6f}"}
    header = info.tobuf(tarfile.PAX_FORMAT)
    return [header, content.getvalue(), bytes(-info.size % tarfile.BLOCKSIZE)]


def _about(each: _Written) -> tuple[str, str, int, int]:
    return each.file.name, joined(each.above, each.last), each.size, each.file.status().st_ino


def _name(member: tarfile.TarInfo) -> str:
    name = member.name.removeprefix("./").rstrip("/")
    return "" if name == "." else name
