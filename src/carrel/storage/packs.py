"""Many small files as one tar file, on their way into a folder or out of it.

What comes in is put into place some files at a time. Those are written, had on disk together and only then renamed, so
that each is seen whole or not at all, and a thousand of them wait for the disk as often as twenty do.
"""

import ctypes
import os
import re
import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from carrel.core.errors import CarrelError, Conflict, Invalid
from carrel.storage import staged
from carrel.storage.paths import directory, joined, made_directory, opened, shown, split
from carrel.storage.port import StorageError
from carrel.storage.staged import Staged
from carrel.storage.tree import Clash, alone, make_directory, put_in

AT_ONCE = 50
"""So many files are put into place together."""
LARGEST_PACKED = 8 << 20
"""A larger file is fetched by itself, so that it can be gone on with."""
_PIECE = 1 << 20
_LONGEST_HEADER = 1 << 20
_ABOUT_NEXT = {
    tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK,
}  # fmt: skip
_RECORD = re.compile(rb"(\d{1,7}) [^=\n]+=")
_MOST_DIGITS = 256
_TOO_MANY_DIGITS = re.compile(rb"\d{%d}" % (_MOST_DIGITS + 1))
_LAST_S = 1 << 34
_SYNC_FILE_RANGE_WRITE = 2
_UNREADABLE = (
    tarfile.TarError, EOFError, ValueError, LookupError, OverflowError, RecursionError,
)  # fmt: skip
"""What the reader raises."""
_libc = ctypes.CDLL(None, use_errno=True)
_libc.sync_file_range.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)


@dataclass
class Step:
    """What became of some entries. paths: where files are now. refused: by the name in the tar file, and why.

    bytes: of those files.
    """

    paths: list[str] = field(default_factory=list)
    refused: list[tuple[str, CarrelError]] = field(default_factory=list)
    bytes: int = 0


@dataclass(frozen=True)
class _Written:
    """In the stage. path: where it is to be. entry: its name in the tar file."""

    file: Staged
    entry: str
    path: str


class _Member(tarfile.TarInfo):
    """Refuses headers that were made to hold up whoever reads them.

    Source: gh-121285 (CVE-2024-6232) and gh-130577 (CVE-2025-8194), of which not every Python has the mend.
    """

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        if self.size < 0:
            raise tarfile.ReadError("a size below nothing")
        if self.type in _ABOUT_NEXT:
            if self.size > _LONGEST_HEADER:
                raise tarfile.ReadError("a header without end")
            if self.type not in (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
                assert tar.fileobj is not None
                _require_records(tar.fileobj, self.size + -self.size % tarfile.BLOCKSIZE)
        return super()._proc_member(tar)  # type: ignore[misc,no-any-return]


def _require_records(source: Any, size: int) -> None:
    """Return when what comes next is records, one after the other; it is read again. Raises: ReadError."""
    start = source.tell()
    content = source.read(size)
    source.seek(start)
    at = 0
    while at < len(content) and content[at]:
        record = _RECORD.match(content, at)
        end = at + int(record[1]) if record else 0
        if not record or not record.end() < end <= len(content) or content[end - 1] != ord("\n"):
            raise tarfile.ReadError("no record")
        at = end
    # Time to look through them grows with the square of this.
    if _TOO_MANY_DIGITS.search(content):
        raise tarfile.ReadError("too many digits")


class Unpacking:
    """Takes a tar file apart into a directory of a folder, a step at a time.

    name: of this, in the stage. largest: how many bytes a file may have, and what is said of one that has more.
    """

    def __init__(
        self,
        source: IO[bytes],
        root: Path,
        stage: Path,
        to: str,
        clash: Clash,
        *,
        name: str,
        largest: int,
        too_large: Callable[[], CarrelError],
    ) -> None:
        self._source = source
        self._root = root
        self._stage = stage
        self._to = to
        self._clash = clash
        self._name = name
        self._largest = largest
        self._too_large = too_large
        self._count = 0
        self._at, self._end = 0, source.seek(0, os.SEEK_END)
        source.seek(0)
        self._placed = set[str]()
        with _readable():
            self._tar = tarfile.TarFile(fileobj=source, errors="surrogateescape", tarinfo=_Member)
        self.pending: list[str] = []
        """Names of entries that the step which failed was about."""

    def step(self) -> Step | None:
        """Put the next files into place; None when that was all.

        Raises: Invalid when it is no tar file from here on; OSError; with nothing of this step in its place.
        """
        done, written = Step(), list[_Written]()
        self._placed = set()
        self.pending = []
        try:
            for member in self._next():
                self.pending.append(_name(member))
                try:
                    self._take(member, done, written)
                except CarrelError as error:
                    if isinstance(error, Invalid) and error.code == "invalid.request":
                        raise
                    done.refused.append((_name(member), error))
            self._place(written, done)
        finally:
            for each in written:
                if each.file.name not in self._placed:
                    each.file.remove()
                each.file.close()
        return done if self.pending else None

    def rest(self) -> Iterator[str]:
        """Names of what comes after the last step."""
        with _readable():
            while member := self._following():
                yield _name(member)

    def _next(self) -> Iterator[tarfile.TarInfo]:
        for _ in range(AT_ONCE):
            with _readable():
                member = self._following()
            if member is None:
                return
            yield member

    def _following(self) -> tarfile.TarInfo | None:
        # It would remember all of them, and what is said of all that comes.
        self._tar.members, self._tar.pax_headers = [], {}  # type: ignore[attr-defined]
        member = self._tar.next()
        if member is None:
            self._require_end()
        else:
            if member.size < 0 or not self._at < self._tar.offset <= self._end:
                raise tarfile.ReadError("it leads back, or beyond the end")
            self._at = self._tar.offset
        return member

    def _require_end(self) -> None:
        """Return when it ends here: after the first header, the reader takes a broken one for the end."""
        self._source.seek(self._at)
        if any(self._source.read(tarfile.BLOCKSIZE)):
            raise tarfile.ReadError("no header")

    def _take(self, member: tarfile.TarInfo, done: Step, written: list[_Written]) -> None:
        path = joined(self._to, _name(member))
        if member.isdir():
            if _name(member):
                make_directory(self._root, path)
            return
        split(path)
        if not member.isreg() or member.issparse():
            raise Conflict(
                "file.not_a_file",
                f"{shown(path)} is neither a plain file nor a directory.",
                hint="Links and special files do not come along.",
                field="path",
            )
        if member.size > self._largest:
            raise self._too_large()
        self._count += 1
        file = staged.fresh(self._stage, f"{self._name}.{self._count}")
        written.append(_Written(file, _name(member), path))
        with _readable():
            content = self._tar.extractfile(member)
            assert content is not None
            while piece := content.read(_PIECE):
                file.write([piece])
        file.stamp(_modified_ns(member), executable=bool(member.mode & 0o100))

    def _place(self, written: Sequence[_Written], done: Step) -> None:
        # All of it on its way before the first is waited for: then the disk is waited for about once.
        for each in written:
            _libc.sync_file_range(each.file.fd, 0, 0, _SYNC_FILE_RANGE_WRITE)
        for each in written:
            os.fsync(each.file.fd)
        above: dict[str, list[_Written]] = {}
        for each in written:
            above.setdefault(split(each.path)[0], []).append(each)
        with directory(self._stage, "") as source:
            for to, files in above.items():
                try:
                    with made_directory(self._root, to) as handle:
                        with alone(source):
                            for each in files:
                                self._put(source, each, handle, done)
                        os.fsync(handle)
                except CarrelError as error:
                    done.refused += [(each.entry, error) for each in files]

    def _put(self, source: int, each: _Written, handle: int, done: Step) -> None:
        to, name = split(each.path)
        try:
            got = put_in(source, each.file.name, handle, name, each.path, self._clash)
        except CarrelError as error:
            done.refused.append((each.entry, error))
        else:
            self._placed.add(each.file.name)
            done.paths.append(joined(to, got))
            done.bytes += each.file.size()


def write_pack(root: Path, paths: Sequence[str], write: Callable[[bytes], object]) -> None:
    """Write a tar file of these files, each under its path, in pieces of about 1 MiB.

    What is no plain file, is large, or cannot be read, is left out. Raises: what write raises.
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
        found = os.fstat(file.fileno())
        if found.st_size > LARGEST_PACKED:
            return []
        content = BytesIO()
        while piece := file.read(min(_PIECE, LARGEST_PACKED)):
            content.write(piece)
            if content.tell() > LARGEST_PACKED:
                return []
    info = tarfile.TarInfo(path)
    info.size = content.tell()
    info.mode = found.st_mode & 0o777
    info.pax_headers = {"mtime": f"{found.st_mtime_ns / 10**9:.6f}"}
    header = info.tobuf(tarfile.PAX_FORMAT)
    return [header, content.getvalue(), bytes(-info.size % tarfile.BLOCKSIZE)]


def _name(member: tarfile.TarInfo) -> str:
    name = member.name.removeprefix("./").rstrip("/")
    return "" if name == "." else name


def _modified_ns(member: tarfile.TarInfo) -> int | None:
    if not 0 <= member.mtime < _LAST_S:
        return None
    seconds = int(member.mtime)
    return seconds * 10**9 + round((member.mtime - seconds) * 10**6) * 1000


class _readable:
    """Says that something is no tar file. Raises: Invalid in the place of what the reader raises."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, raised: BaseException | None, trace: object) -> None:
        if isinstance(raised, _UNREADABLE) and not isinstance(raised, CarrelError):
            raise Invalid(
                "invalid.request", "This is no tar file, or not all of one.", hint="Send one made by tar -c."
            ) from None
