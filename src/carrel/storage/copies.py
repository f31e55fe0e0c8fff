"""Copies of trees, files and links by directory handles (see `carrel.storage.walk`)."""

import ctypes
import errno
import os
import stat

from carrel.storage.extents import copy_bytes
from carrel.storage.pace import Pace
from carrel.storage.port import WORK_UID, Advance, StorageError, Tick
from carrel.storage.walk import (
    DIRECTORY,
    DirectoryEntered,
    DirectoryLeft,
    TreeEntry,
    open_directory,
    remove_tree,
    shut_out,
    walk,
)

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_libc = ctypes.CDLL(None, use_errno=True)


def copy_tree(source: int, target_parent: int, name: str, tick: Tick) -> Advance:
    """Copy the content of a directory into a new one of this name, and sync it to disk. Replaces an existing entry.

    Copied files belong to the sessions' user. Preserved: bytes, holes, modes (without set-user-id and similar bits),
    times, hard links within the tree, user attributes, symbolic links as such. Skipped: sockets, pipes and devices. A
    failure or kill leaves a partial copy: copy into a stage, then rename.
    Raises: TreeChanged, StorageUnusable, exceptions of tick, OSError.
    """
    remove_tree(target_parent, name, lambda _: tick(Advance(0, 0)))
    pace = Pace(tick, _total(source, tick))
    os.mkdir(name, 0o700, dir_fd=target_parent)
    copy = _Copy(os.open(name, DIRECTORY, dir_fd=target_parent), pace)
    try:
        for step in walk(source):
            copy.step(step)
        _same(source, copy.top)
        copy.finish()
    finally:
        copy.close()
    return pace.end()


def copy_entry(source_parent: int, source_name: str, target_parent: int, name: str, tick: Tick) -> Advance:
    """Copy a directory, file or symbolic link from one directory to another; see `copy_tree`.

    Raises: FileNotFoundError; StorageError for sockets, pipes and devices; and as `copy_tree`.
    """
    there = os.stat(source_name, dir_fd=source_parent, follow_symlinks=False)
    if stat.S_ISDIR(there.st_mode):
        source = open_directory(source_parent, source_name)
        try:
            return copy_tree(source, target_parent, name, tick)
        finally:
            os.close(source)
    remove_tree(target_parent, name, lambda _: tick(Advance(0, 0)))
    pace = Pace(tick, Advance(_weight(there), 1))
    if not _copy_one(TreeEntry(source_parent, source_name, there), target_parent, name, pace):
        raise StorageError("Only files, directories and links can be copied.")
    _flush(target_parent)
    return pace.end()


def _total(source: int, tick: Tick) -> Advance:
    size, files, pace = 0, 0, Pace(lambda _: tick(Advance(0, 0)))
    for entry in walk(source):
        if isinstance(entry, TreeEntry):
            size += _weight(entry.stat)
            files += not stat.S_ISDIR(entry.stat.st_mode)
            pace.look()
    return Advance(size, files)


def _weight(there: os.stat_result) -> int:
    """The bytes to copy for a file: its size without holes."""
    return min(there.st_size, there.st_blocks * 512) if stat.S_ISREG(there.st_mode) else 0


class _Copy:
    """A copy in progress. top: its directory. Only this process uses it, so ".." is always where the walk came from."""

    def __init__(self, top: int, pace: Pace) -> None:
        self.top = top
        self._here = os.dup(top)
        self._pace = pace
        self._links = f".{os.urandom(12).hex()}"
        self._linked: dict[tuple[int, int], str] = {}

    def step(self, step: TreeEntry | DirectoryEntered | DirectoryLeft) -> None:
        if isinstance(step, DirectoryEntered):
            os.mkdir(step.name, 0o700, dir_fd=self._here)
            self._go(step.name)
        elif isinstance(step, DirectoryLeft):
            _same(step.handle, self._here)
            self._go("..")
        elif stat.S_ISDIR(step.stat.st_mode):
            self._pace.look()
        elif step.stat.st_nlink == 1 or not self._link(step):
            made = _copy_one(step, self._here, step.name, self._pace)
            if made and step.stat.st_nlink > 1:
                self._keep(step)

    def _go(self, name: str) -> None:
        there = os.open(name, DIRECTORY, dir_fd=self._here)
        os.close(self._here)
        self._here = there

    def _link(self, entry: TreeEntry) -> bool:
        """Create a hard link to a previously copied file."""
        kept = self._linked.get((entry.stat.st_dev, entry.stat.st_ino))
        if kept is None:
            return False
        try:
            os.link(
                f"{self._links}/{kept}",
                entry.name,
                src_dir_fd=self.top,
                dst_dir_fd=self._here,
                follow_symlinks=False,
            )
        except OSError as error:
            if error.errno == errno.EMLINK:
                return False
            raise
        self._pace.bytes(_weight(entry.stat))
        self._pace.file()
        return True

    def _keep(self, entry: TreeEntry) -> None:
        """Keep a link to it in a directory that is removed at the end, so that it is found at any depth."""
        if not self._linked:
            os.mkdir(self._links, 0o700, dir_fd=self.top)
        key = (entry.stat.st_dev, entry.stat.st_ino)
        name = f"{len(self._linked)}"
        if key in self._linked:  # maximum number of links: start a new copy
            os.unlink(f"{self._links}/{self._linked[key]}", dir_fd=self.top)
            name = self._linked[key]
        os.link(
            entry.name,
            f"{self._links}/{name}",
            src_dir_fd=self._here,
            dst_dir_fd=self.top,
            follow_symlinks=False,
        )
        self._linked[key] = name

    def finish(self) -> None:
        remove_tree(self.top, self._links, lambda _: None)
        _flush(self.top)

    def close(self) -> None:
        os.close(self._here)
        os.close(self.top)


def _copy_one(entry: TreeEntry, target_parent: int, name: str, pace: Pace) -> bool:
    """Copy a file or a symbolic link; False for anything else, and for entries that vanished or were replaced
    meanwhile.
    """
    if stat.S_ISLNK(entry.stat.st_mode):
        made = _copy_link(entry, target_parent, name)
    else:
        made = stat.S_ISREG(entry.stat.st_mode) and _copy_file(entry, target_parent, name, pace)
    pace.file()
    return made


def _copy_link(entry: TreeEntry, target_parent: int, name: str) -> bool:
    try:
        leads = os.readlink(entry.name, dir_fd=entry.parent)
    except (FileNotFoundError, OSError) as error:
        if error.errno in (errno.ENOENT, errno.EINVAL):
            return False
        raise
    os.symlink(leads, name, dir_fd=target_parent)
    if os.geteuid() == 0:
        os.chown(name, WORK_UID, WORK_UID, dir_fd=target_parent, follow_symlinks=False)
    times = (entry.stat.st_atime_ns, entry.stat.st_mtime_ns)
    os.utime(name, ns=times, dir_fd=target_parent, follow_symlinks=False)
    return True


def _copy_file(entry: TreeEntry, target_parent: int, name: str, pace: Pace) -> bool:
    try:
        source = os.open(entry.name, _READ, dir_fd=entry.parent)
    except PermissionError as error:
        raise shut_out(entry.name) from error
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO):
            return False
        raise
    try:
        there = os.fstat(source)
        if not stat.S_ISREG(there.st_mode):
            return False
        target = os.open(name, _MAKE, 0o600, dir_fd=target_parent)
        try:
            _copy_content(source, target, there, pace)
            _same(source, target)
        finally:
            os.close(target)
    finally:
        os.close(source)
    return True


def _copy_content(source: int, target: int, there: os.stat_result, pace: Pace) -> None:
    left = _weight(there)

    def advance(count: int) -> None:
        nonlocal left
        pace.bytes(min(count, left))
        left -= min(count, left)

    copy_bytes(source, target, there.st_size, advance)
    pace.bytes(left)


def _same(source: int, target: int) -> None:
    """Set the copy's owner, and the attributes, mode and times of its source."""
    there = os.fstat(source)
    for attribute in _attributes(source):
        os.setxattr(target, attribute, os.getxattr(source, attribute))
    give(target)
    os.fchmod(target, stat.S_IMODE(there.st_mode) & 0o777)
    os.utime(target, ns=(there.st_atime_ns, there.st_mtime_ns))


def _attributes(handle: int) -> list[str]:
    try:
        return [name for name in os.listxattr(handle) if name.startswith("user.")]
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            return []
        raise


def give(handle: int) -> None:
    """Give the sessions' user ownership of a new file. Without root, the directory's ACL has already granted access."""
    if os.geteuid() == 0:
        os.fchown(handle, WORK_UID, WORK_UID)


def _flush(handle: int) -> None:
    """Sync the file system: one wait for any number of files."""
    if _libc.syncfs(handle) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
