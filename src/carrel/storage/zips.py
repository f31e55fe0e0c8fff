"""Files and directories as a zip stream: uncompressed, of any size, without buffering.

Entries that vanish or are unreadable do not spoil the rest: ERRORS.txt, the last entry, lists them. Invalid UTF-8 in
names is written as %XX, so that different names stay different.
"""

import os
import re
import stat
import time
import zipfile
from collections.abc import Callable, Sequence
from io import FileIO
from pathlib import Path

from carrel.core.errors import CarrelError
from carrel.storage.paths import directory, errors_naming, opened_in, shown, split
from carrel.storage.port import StorageError
from carrel.storage.walk import DIRECTORY, DirectoryEntered, DirectoryLeft, TreeEntry, walk

_PIECE = 256 << 10
_ZIP64_FROM = 1 << 31
_LONGEST_NAME = 65_535
_MOST_ERRORS = 1000
_NO_TEXT = re.compile("[\udc80-\udcff]")
_FIRST, _LAST = (1980, 1, 1, 0, 0, 0), (2107, 12, 31, 23, 59, 58)


def write_zip(root: Path, paths: Sequence[str], name: str, write: Callable[[bytes], object]) -> None:
    """Write a zip file of these entries, in chunks of about 256 KiB. name: archive name of the folder itself, "".

    Skips symbolic links and special files. Raises: exceptions of write.
    """
    pieces = _PieceWriter(write)
    with zipfile.ZipFile(pieces, "w", zipfile.ZIP_STORED) as file:  # type: ignore[call-overload]
        _Archive(file).add_all(root, paths, name)
    pieces.flush()


class _PieceWriter:
    """The output of zipfile: not seekable, merges small writes."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._held: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> int:
        self._held.append(data)
        self._size += len(data)
        if self._size >= _PIECE:
            self.flush()
        return len(data)

    def flush(self) -> None:
        if self._held:
            held, self._held, self._size = self._held, [], 0
            self._write(held[0] if len(held) == 1 else b"".join(held))


class _Archive:
    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._tops: set[str] = set()
        self._errors: list[str] = []

    def add_all(self, root: Path, paths: Sequence[str], name: str) -> None:
        for path in paths:
            try:
                self._add(root, path, name)
            except (CarrelError, StorageError) as error:
                self._note(path, error.message)
            except OSError as error:
                self._note(path, os.strerror(error.errno or 0))
        if self._errors:
            self._file.writestr(_info(self._top("ERRORS.txt"), time.time(), 0o100644), "".join(self._errors))

    def _add(self, root: Path, path: str, name: str) -> None:
        if not path:
            with directory(root, "") as handle:
                self._add_directory(handle, self._top(name))
            return
        above, last = split(path)
        with directory(root, above) as handle, errors_naming(path):
            status = os.stat(last, dir_fd=handle, follow_symlinks=False)
            if not stat.S_ISDIR(status.st_mode):
                self._add_entry(TreeEntry(handle, last, status), self._top(last))
                return
            inner = os.open(last, DIRECTORY, dir_fd=handle)
        try:
            self._add_directory(inner, self._top(last))
        finally:
            os.close(inner)

    def _add_directory(self, handle: int, name: str) -> None:
        self._add_empty(name, os.fstat(handle))
        prefix = [name]

        def refused(inner: str, error: StorageError) -> None:
            self._note("/".join([*prefix, _safe(inner)]), error.message)

        for step in walk(handle, refused):
            match step:
                case DirectoryEntered():
                    prefix.append(_safe(step.name))
                case DirectoryLeft():
                    prefix.pop()
                case TreeEntry():
                    self._add_entry(step, "/".join([*prefix, _safe(step.name)]))

    def _add_entry(self, entry: TreeEntry, name: str) -> None:
        if len(name.encode()) >= _LONGEST_NAME:
            self._note(name[:1000], "its path is too long for a zip file")
        elif stat.S_ISDIR(entry.stat.st_mode):
            self._add_empty(name, entry.stat)
        elif stat.S_ISREG(entry.stat.st_mode):
            try:
                file = opened_in(entry.parent, entry.name, name)
            except CarrelError as error:
                self._note(name, error.message)
                return
            with file:
                self._add_file(file, name)

    def _add_empty(self, name: str, there: os.stat_result) -> None:
        self._file.writestr(_info(f"{name}/", there.st_mtime, there.st_mode), b"")

    def _add_file(self, file: FileIO, name: str) -> None:
        there = os.fstat(file.fileno())
        info = _info(name, there.st_mtime, there.st_mode)
        left = info.file_size = there.st_size
        with self._file.open(info, "w", force_zip64=left >= _ZIP64_FROM) as entry:
            try:
                # Data appended meanwhile is excluded: the size was announced.
                while left and (piece := file.read(min(left, _PIECE))):
                    entry.write(piece)
                    left -= len(piece)
            except OSError as error:
                self._note(name, os.strerror(error.errno or 0))
                return
        if left:
            self._note(name, "it became shorter while it was read")

    def _top(self, name: str) -> str:
        """A unique name among the top-level entries."""
        unique, number = _safe(name), 1
        while unique in self._tops:
            number += 1
            unique = f"{number} {_safe(name)}"
        self._tops.add(unique)
        return unique

    def _note(self, name: str, why: str) -> None:
        if len(self._errors) < _MOST_ERRORS:
            self._errors.append(f"{shown(name)}: {why}\n")


def _info(name: str, modified: float, mode: int) -> zipfile.ZipInfo:
    try:
        at = time.gmtime(modified)[:6]
    except (OverflowError, ValueError, OSError):
        at = _FIRST
    info = zipfile.ZipInfo(name, min(max(at, _FIRST), _LAST))
    info.create_system = 3  # Unix: required for modes to be used
    info.external_attr = (mode & 0xFFFF & ~0o7000) << 16
    return info


def _safe(name: str) -> str:
    """A name that is safe to unpack anywhere: elsewhere, \\ is a separator too."""
    return _NO_TEXT.sub(_escaped, name).replace("\\", "_")


def _escaped(match: re.Match[str]) -> str:
    return f"%{ord(match[0]) - 0xDC00:02X}"
