"""Trees by directory handles: traversal, measuring, removal. (Copies: `carrel.storage.copies`.)

Sessions can create links and replace directories during a walk, so no path from the tree is ever passed to the system:
every step opens one name relative to a handle and refuses symbolic links. Trees of any depth are walked with a bounded
number of handles; the sub-directories of a directory are held by name, without bound.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from carrel.storage.pace import Pace
from carrel.storage.port import Advance, Measure, StorageError, StorageUnusable, Tick

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_HANDLES = 48
"""Depth up to which a walk keeps handles open; deeper, it closes outer ones and reopens them later."""
_ROUNDS = 10
_SWAPPED = frozenset({errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENOENT})


class TreeChanged(StorageError):
    """A tree keeps changing during the walk."""

    code = "storage_busy"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """An entry of a tree. parent: handle of its directory, valid until the walk continues."""

    parent: int
    name: str
    stat: os.stat_result


@dataclass(frozen=True, slots=True)
class DirectoryEntered:
    """A directory, before its content."""

    handle: int
    name: str


@dataclass(frozen=True, slots=True)
class DirectoryLeft:
    """The directory last entered, after its content."""

    handle: int


@dataclass(slots=True)
class _Level:
    """A directory being walked. handle: -1 while closed. rest: remaining sub-directories."""

    handle: int
    name: str
    key: tuple[int, int]
    rest: list[str] = field(default_factory=list)


# walking


def walk(
    directory: int,
    refused: Callable[[str, StorageUnusable], object] | None = None,
    *,
    pruned: Callable[[str], bool] | None = None,
) -> Iterator[TreeEntry | DirectoryEntered | DirectoryLeft]:
    """Everything below a directory. Entries that vanish meanwhile are skipped.

    refused: called with name and reason for each directory that cannot be entered, while the walk is in its parent; the
    walk continues. Without it, the walk fails.
    pruned: called likewise before a directory is entered; True if it is not to be.
    Raises: TreeChanged, StorageUnusable, OSError.
    """
    levels = [_Level(os.dup(directory), "", _key(directory))]
    try:
        yield from _entries(levels[0])
        while levels:
            if not levels[-1].rest:
                if len(levels) > 1:
                    yield DirectoryLeft(levels[-1].handle)
                _leave(levels)
                continue
            name = levels[-1].rest.pop()
            if pruned and pruned(name):
                continue
            try:
                entered = _enter(levels, name)
            except StorageUnusable as error:
                if refused is None:
                    raise
                refused(name, error)
                continue
            if entered:
                yield DirectoryEntered(levels[-1].handle, levels[-1].name)
                yield from _entries(levels[-1])
    finally:
        _close(levels)


def _entries(level: _Level) -> Iterator[TreeEntry]:
    with os.scandir(level.handle) as entries:
        for entry in entries:
            try:
                there = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if stat.S_ISDIR(there.st_mode):
                level.rest.append(entry.name)
            yield TreeEntry(level.handle, entry.name, there)


def _enter(levels: list[_Level], name: str) -> bool:
    try:
        handle = open_directory(levels[-1].handle, name)
    except (FileNotFoundError, NotADirectoryError):
        return False
    levels.append(_Level(handle, name, _key(handle)))
    if len(levels) > _HANDLES:
        outer = levels[-_HANDLES - 1]
        os.close(outer.handle)
        outer.handle = -1
    return True


def _leave(levels: list[_Level]) -> None:
    inner = levels.pop()
    try:
        if levels and levels[-1].handle < 0:
            levels[-1].handle = os.open("..", DIRECTORY, dir_fd=inner.handle)
            if _key(levels[-1].handle) != levels[-1].key:
                raise TreeChanged("Directories of the folder were moved during the operation. Try again.")
    finally:
        os.close(inner.handle)


def _key(handle: int) -> tuple[int, int]:
    there = os.fstat(handle)
    return there.st_dev, there.st_ino


def _close(levels: list[_Level]) -> None:
    for level in levels:
        if level.handle >= 0:
            os.close(level.handle)


def open_directory(parent: int, name: str) -> int:
    """A handle of a directory. If its mode denies access to its owner, the owner's access is restored first.

    Raises: FileNotFoundError, NotADirectoryError (also for a symbolic link), StorageUnusable, OSError.
    """
    try:
        return os.open(name, DIRECTORY, dir_fd=parent)
    except PermissionError:
        place = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        os.chmod(f"/proc/self/fd/{place}", 0o770)
        return os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError as error:
        raise shut_out(name) from error
    finally:
        os.close(place)


def shut_out(name: str) -> StorageUnusable:
    """The error if a session has denied this process access."""
    shown = os.fsencode(name).decode(errors="replace")
    return StorageUnusable(
        f"The server has no access to {shown!r}: a session made it private. "
        "Permit it there (chmod -R ug+rwX), or run the server as root."
    )


# measuring


def measure(directory: int, tick: Tick = lambda _: None) -> Measure:
    """Usage below a directory: bytes allocated and files, each inode once. Raises: exceptions of tick; as `walk`."""
    used, files, pace = 0, 0, Pace(lambda _: tick(Advance(0, 0)))
    linked: set[tuple[int, int]] = set()
    for entry in walk(directory):
        if not isinstance(entry, TreeEntry):
            continue
        pace.look()
        if entry.stat.st_nlink > 1 and not stat.S_ISDIR(entry.stat.st_mode):
            key = (entry.stat.st_dev, entry.stat.st_ino)
            if key in linked:
                continue
            linked.add(key)
        files += not stat.S_ISDIR(entry.stat.st_mode)
        used += entry.stat.st_blocks * 512
    return Measure(used_bytes=used, files=files)


# removing


def remove_tree(parent: int, name: str, tick: Tick) -> Advance:
    """Delete an entry of any kind with everything below it. Absent: success.

    The sessions' user first loses access to every directory, so that processes with open handles cannot add entries;
    after an abort, remaining directories stay inaccessible.
    Raises: TreeChanged if entries keep appearing; StorageUnusable; exceptions of tick; OSError.
    """
    pace = Pace(tick)
    for _ in range(_ROUNDS):
        try:
            there = os.stat(name, dir_fd=parent, follow_symlinks=False)
        except FileNotFoundError:
            return pace.end()
        try:
            if stat.S_ISDIR(there.st_mode):
                _empty(parent, name, pace)
                os.rmdir(name, dir_fd=parent)
            else:
                os.unlink(name, dir_fd=parent)
                pace.file()
        except OSError as error:
            if error.errno not in _SWAPPED:
                raise
    raise TreeChanged("The files to delete keep changing.")


def _empty(parent: int, name: str, pace: Pace) -> None:
    """Delete the content of a directory, as far as no entries are added.

    Entries that are too deep are first moved up beside the other entries being deleted, so that few handles suffice.
    """
    levels = [_Level(open_directory(parent, name), name, (0, 0))]
    try:
        _shut(levels[0].handle)
        _unlink_files(levels[0], pace)
        while True:
            level = levels[-1]
            if level.rest:
                _go_down(levels, level.rest.pop(), pace)
            elif len(levels) == 1:
                return
            else:
                os.close(levels.pop().handle)
                _allowed(os.rmdir, levels[-1].handle, level.name)
                pace.look()
    finally:
        _close(levels)


def _go_down(levels: list[_Level], name: str, pace: Pace) -> None:
    """Descend into a directory to empty it; move a deep one up for later."""
    here, top = levels[-1], levels[0]
    if len(levels) >= _HANDLES:
        moved = f".{os.urandom(12).hex()}"
        try:
            os.rename(name, moved, src_dir_fd=here.handle, dst_dir_fd=top.handle)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
        else:
            top.rest.append(moved)
            return
    try:
        levels.append(_Level(open_directory(here.handle, name), name, (0, 0)))
    except FileNotFoundError:
        return
    _shut(levels[-1].handle)
    _unlink_files(levels[-1], pace)


def _shut(directory: int) -> None:
    """Restrict a directory to this process, whatever its mode, as far as permitted."""
    try:
        if os.geteuid() == 0:
            os.fchown(directory, 0, 0)
        os.fchmod(directory, 0o700)
    except PermissionError:  # owned by the sessions' user, with access by its ACL
        pass


def _unlink_files(level: _Level, pace: Pace) -> None:
    with os.scandir(level.handle) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                level.rest.append(entry.name)
                continue
            try:
                there = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            _allowed(os.unlink, level.handle, entry.name)
            pace.bytes(there.st_blocks * 512 if there.st_nlink == 1 else 0)
            pace.file()


class _Remove(Protocol):
    def __call__(self, name: str, /, *, dir_fd: int) -> None: ...


def _allowed(remove: _Remove, parent: int, name: str) -> None:
    """Remove one name. Absent: success. Raises: StorageUnusable, OSError."""
    try:
        remove(name, dir_fd=parent)
    except PermissionError as error:
        raise shut_out(name) from error
    except FileNotFoundError:
        pass
