"""Directory listings: a sorted page, a single entry, or a search by name."""

import hashlib
import heapq
import itertools
import os
import stat
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

from carrel.core.errors import CarrelError
from carrel.storage.paths import directory, errors_naming, joined, split

SEARCH_S = 5.0
By = Literal["name", "size", "modified"]
Key = tuple[bool, int | str, str]
"""Not a directory; sort value; name. Directories come first in either direction."""
_Pair = tuple[int | str, str]


class FileKind(StrEnum):
    """LINK: a symbolic link; it is shown and can be removed, never followed. OTHER: a socket, a pipe or a device."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Entry:
    """path: relative to the folder; invalid UTF-8 is escaped as by `os.fsdecode`. modified_ns: since 1970."""

    path: str
    kind: FileKind
    size_bytes: int
    mode: int
    modified_ns: int
    inode: int

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def readable(self) -> bool:
        """True if its name is valid UTF-8, so that it can be requested."""
        return _readable(self.name)

    @property
    def etag(self) -> str | None:
        return etag(self.inode, self.size_bytes, self.modified_ns) if self.kind is FileKind.FILE else None


@dataclass(frozen=True, slots=True)
class ListingOrder:
    """after: the key of the last entry of the previous page."""

    by: By = "name"
    descending: bool = False
    after: Key | None = None


@dataclass(frozen=True, slots=True)
class ListingPage:
    """total: number of all entries. last: key of the last entry; None on the last page."""

    entries: Sequence[Entry]
    total: int
    last: Key | None


@dataclass(frozen=True, slots=True)
class SearchResult:
    entries: Sequence[Entry]
    complete: bool


def etag(inode: int, size_bytes: int, modified_ns: int) -> str:
    """An ETag that changes with the file's content: replacing changes the inode, writing the modification time."""
    text = f"{inode} {size_bytes} {modified_ns}"
    return f'"{hashlib.blake2b(text.encode(), digest_size=12).hexdigest()}"'


def page(
    root: Path, path: str, order: ListingOrder, limit: int, *, only: FileKind | None = None
) -> ListingPage:
    """A sorted page of a directory. only: FileKind.DIRECTORY, or everything. Raises: NotFound, Conflict."""
    with directory(root, path) as handle:
        groups = _scanned(handle)
        if only is FileKind.DIRECTORY:
            groups = groups[0], []
        chosen: list[Key] = []
        for is_file, group in enumerate(groups):
            sorted_by = _sorted_by(handle, group, order.by, is_file=bool(is_file))
            missing = limit + 1 - len(chosen)
            chosen += [(bool(is_file), *pair) for pair in _first(sorted_by, order, missing, bool(is_file))]
        entries = [entry for key in chosen[:limit] if (entry := _looked(handle, path, key[2]))]
    return ListingPage(entries, sum(map(len, groups)), chosen[limit - 1] if len(chosen) > limit else None)


def entry(root: Path, path: str) -> Entry:
    """A single entry; "" is the folder itself. Raises: NotFound, Conflict, Invalid."""
    if not path:
        with directory(root, "") as handle:
            return described("", os.fstat(handle))
    above, name = split(path)
    with directory(root, above) as handle, errors_naming(path):
        return described(path, os.stat(name, dir_fd=handle, follow_symlinks=False))


def search(root: Path, path: str, part: str, limit: int) -> SearchResult:
    """Entries below the path whose name contains the text, breadth first; stops early after a time limit."""
    until = time.monotonic() + SEARCH_S
    lowered, entries = part.casefold(), list[Entry]()
    waiting = deque([path])
    while waiting:
        above = waiting.popleft()
        try:
            with directory(root, above) as handle:
                groups = _scanned(handle)
                for name in itertools.chain(*groups):
                    if lowered not in name.casefold() or (entry := _looked(handle, above, name)) is None:
                        continue
                    if len(entries) == limit or time.monotonic() > until:
                        return SearchResult(entries, complete=False)
                    entries.append(entry)
        except (CarrelError, OSError):
            if above == path:
                raise
            continue  # deleted meanwhile or not accessible: continue with the rest
        if time.monotonic() > until:
            return SearchResult(entries, complete=False)
        waiting.extend(joined(above, name) for name in groups[0] if _readable(name))
    return SearchResult(entries, complete=True)


def _scanned(handle: int) -> tuple[list[str], list[str]]:
    """Names of directories and of other entries, without a stat call per entry."""
    directories: list[str] = []
    others: list[str] = []
    # Reading continues at the handle's position, which may not be the start.
    os.lseek(handle, 0, os.SEEK_SET)
    with os.scandir(handle) as entries:
        for each in entries:
            (directories if each.is_dir(follow_symlinks=False) else others).append(each.name)
    return directories, others


def _sorted_by(handle: int, group: list[str], by: By, *, is_file: bool) -> Iterable[_Pair]:
    # The size of a directory has no meaning for users.
    if by == "name" or (by == "size" and not is_file):
        return zip(map(str.casefold, group), group, strict=True)
    return _measured(handle, group, by)


def _measured(handle: int, group: list[str], by: By) -> Iterator[_Pair]:
    for name in group:
        try:
            status = os.stat(name, dir_fd=handle, follow_symlinks=False)
        except FileNotFoundError:
            continue
        yield (status.st_mtime_ns if by == "modified" else status.st_size), name


def _first(pairs: Iterable[_Pair], order: ListingOrder, count: int, is_file: bool) -> list[_Pair]:
    """The first entries after the previous page. A page is far smaller than the directory: avoid sorting everything."""
    after = order.after
    if after and after[0] != is_file:
        # If the last seen entry was a file, all directories were listed; if it was a directory, no file was.
        pairs = pairs if is_file else ()
    elif after:
        seen = after[1:]
        pairs = (pair for pair in pairs if (pair < seen if order.descending else pair > seen))
    return (heapq.nlargest if order.descending else heapq.nsmallest)(count, pairs)


def _looked(handle: int, above: str, name: str) -> Entry | None:
    """The entry; None: deleted meanwhile."""
    try:
        return described(joined(above, name), os.stat(name, dir_fd=handle, follow_symlinks=False))
    except FileNotFoundError:
        return None


def described(path: str, status: os.stat_result) -> Entry:
    """The entry for a stat result."""
    return Entry(
        path,
        _kind(status.st_mode),
        status.st_size,
        stat.S_IMODE(status.st_mode),
        status.st_mtime_ns,
        status.st_ino,
    )


def _kind(mode: int) -> FileKind:
    if stat.S_ISREG(mode):
        return FileKind.FILE
    if stat.S_ISDIR(mode):
        return FileKind.DIRECTORY
    return FileKind.LINK if stat.S_ISLNK(mode) else FileKind.OTHER


def _readable(name: str) -> bool:
    return name.isascii() or not any("\udc80" <= each <= "\udcff" for each in name)
