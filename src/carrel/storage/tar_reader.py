"""Reads untrusted tar files: the standard library's reader with limits, and a fast path for plain headers.

Entries with plain headers, as most are, are parsed here in a fifth of the time; others are left to `tarfile`.
"""

import os
import re
import tarfile
from typing import IO

from carrel.core.errors import CarrelError, Invalid

_LONGEST_HEADER = 1 << 20
_ABOUT_NEXT = {
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
}
_RECORD = re.compile(rb"(\d{1,7}) ([^=\n]+)=")
_MOST_DIGITS = 256
_TOO_MANY_DIGITS = re.compile(rb"\d{%d}" % (_MOST_DIGITS + 1))
_LAST_S = 1 << 34
_UNREADABLE = (
    tarfile.TarError,
    EOFError,
    ValueError,
    LookupError,
    OverflowError,
    RecursionError,
)
"""Errors of the standard library's reader."""
_NUMBERS = re.compile(
    rb"([0-7]{7})[\0 ][0-7]{7}[\0 ][0-7]{7}[\0 ]([0-7]{11})[\0 ]([0-7]{11})[\0 ]([0-7]{6})[\0 ]{2}([0x])"
)
"""Fields of a plain header: mode, owner, group, size, time, checksum, type (a file, or records about the next header).
"""
_NUMBERS_AT = 100, 157
_SIMPLE = frozenset({b"path", b"mtime"})
Records = dict[bytes, bytes]
_NO_RECORDS: Records = {}


class TarReader:
    """Iterates over the entries of a tar file. Raises: Invalid if the rest is not a tar file."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._at, self._end = 0, source.seek(0, os.SEEK_END)
        self._tar: tarfile.TarFile | None = None

    def next(self) -> tarfile.TarInfo | None:
        """The next entry; None at the end."""
        member = self._plain()
        if member is not None:
            return member
        with _readable():
            self._source.seek(self._at)
            if self._tar is None:
                self._tar = tarfile.TarFile(fileobj=self._source, errors="surrogateescape", tarinfo=_Member)
            else:
                self._tar.offset = self._at
            # The library would keep every entry and every global header.
            self._tar.members, self._tar.pax_headers = [], {}  # type: ignore[attr-defined]
            member = self._tar.next()
            if member is None:
                self._require_end()
            else:
                if member.size < 0 or not self._at < self._tar.offset <= self._end:
                    raise tarfile.ReadError("it leads back, or beyond the end")
                self._at = self._tar.offset
            return member

    def _plain(self) -> tarfile.TarInfo | None:
        """The next entry, if it is a file with a plain header, preceded at most by its path and time."""
        source, records = self._source, _NO_RECORDS
        source.seek(self._at)
        header = source.read(tarfile.BLOCKSIZE)
        numbers = _numbers(header)
        if numbers and numbers[5] == tarfile.XHDTYPE and (size := int(numbers[2], 8)) <= _LONGEST_HEADER:
            content = source.read(size)
            source.seek(-size % tarfile.BLOCKSIZE, os.SEEK_CUR)
            try:
                records = _records(content)
            except tarfile.ReadError:
                return None
            if not records.keys() <= _SIMPLE:
                return None
            header = source.read(tarfile.BLOCKSIZE)
            numbers = _numbers(header)
        if not numbers or numbers[5] != tarfile.REGTYPE:
            return None
        name, above = header[:100].partition(b"\0")[0], header[345:500].partition(b"\0")[0]
        if name.endswith(b"/"):
            return None
        member = tarfile.TarInfo()
        if b"path" in records:
            member.name = records[b"path"].decode("utf-8", "surrogateescape").rstrip("/")
        else:
            member.name = (above + b"/" + name if above else name).decode("utf-8", "surrogateescape")
        member.mode, member.size = int(numbers[1], 8), int(numbers[2], 8)
        member.mtime = float(records[b"mtime"]) if b"mtime" in records else int(numbers[3], 8)
        member.offset_data = source.tell()
        end = member.offset_data + member.size + -member.size % tarfile.BLOCKSIZE
        if end > self._end:
            return None
        self._at = end
        return member

    def seek(self, member: tarfile.TarInfo) -> IO[bytes]:
        """The source, positioned at the file's first byte. Only for regular files."""
        self._source.seek(member.offset_data)
        return self._source

    def _require_end(self) -> None:
        """Check that the archive ends here: after the first header, the library treats a broken one as the end."""
        self._source.seek(self._at)
        if any(self._source.read(tarfile.BLOCKSIZE)):
            raise tarfile.ReadError("no header")


class _Member(tarfile.TarInfo):
    """Rejects headers crafted to slow down the reader.

    Source: gh-121285 (CVE-2024-6232) and gh-130577 (CVE-2025-8194), which not every Python has fixed.
    """

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        if self.size < 0:
            raise tarfile.ReadError("a size below nothing")
        if self.type in _ABOUT_NEXT:
            if self.size > _LONGEST_HEADER:
                raise tarfile.ReadError("a header without end")
            if self.type not in (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
                assert tar.fileobj is not None
                start = tar.fileobj.tell()
                _records(tar.fileobj.read(self.size))
                tar.fileobj.seek(start)
        return super()._proc_member(tar)  # type: ignore[misc,no-any-return]


def _numbers(header: bytes) -> re.Match[bytes] | None:
    """The match of `_NUMBERS` in a plain header with a valid checksum."""
    numbers = _NUMBERS.fullmatch(header, *_NUMBERS_AT)
    if numbers is None or header[257:265] != tarfile.POSIX_MAGIC:
        return None
    checksum = sum(header) - sum(header[148:156]) + 8 * ord(" ")
    return numbers if checksum == int(numbers[4], 8) else None


def modified_ns(member: tarfile.TarInfo) -> int | None:
    """The modification time; None if it is not valid for a file."""
    if not 0 <= member.mtime < _LAST_S:
        return None
    seconds = int(member.mtime)
    return seconds * 10**9 + round((member.mtime - seconds) * 10**6) * 1000


def _records(content: bytes) -> Records:
    """Pax records by key. Raises: ReadError for any other content."""
    records: Records = {}
    at = 0
    while at < len(content) and content[at]:
        record = _RECORD.match(content, at)
        end = at + int(record[1]) if record else 0
        if not record or not record.end() < end <= len(content) or content[end - 1] != ord("\n"):
            raise tarfile.ReadError("no record")
        records[record[2]] = content[record.end() : end - 1]
        at = end
    # The library's parsing time grows with the square of their size.
    if _TOO_MANY_DIGITS.search(content):
        raise tarfile.ReadError("too many digits")
    return records


class _readable:
    """Translates errors of the library. Raises: Invalid."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, raised: BaseException | None, trace: object) -> None:
        if isinstance(raised, _UNREADABLE) and not isinstance(raised, CarrelError):
            raise Invalid(
                "invalid.request", "The tar file is invalid or incomplete.", hint="Send one made by tar -c."
            ) from None
