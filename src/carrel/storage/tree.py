"""Changes of a folder's content: each is one rename, so that no intermediate state is visible.

New content is created in the stage and renamed to its place; deleted entries are renamed into the stage and removed
there later (`walk.remove_tree`). Names of entries being deleted begin with REMOVED.
"""

import ctypes
import errno
import fcntl
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path

from carrel.core.errors import Changed, Conflict, Invalid, NotFound
from carrel.core.ids import new_id
from carrel.core.units import format_size
from carrel.storage import walk
from carrel.storage.copies import copy_entry
from carrel.storage.intents import Intent, begun
from carrel.storage.listing import etag
from carrel.storage.paths import LONGEST_NAME, directory, errors_naming, exists, joined, made_directory, split
from carrel.storage.port import Advance, OverQuota, Tick

REMOVED = "removed-"
_LOCK = ".lock"
_MOST_NUMBERS = 1000
_RENAME_NOREPLACE = 1
_UNSUPPORTED = frozenset({errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP})
_libc = ctypes.CDLL(None, use_errno=True)


class Clash(StrEnum):
    """What to do when a file of that name exists already. RENAME: give the new file a number."""

    REFUSE = "refuse"
    REPLACE = "replace"
    RENAME = "rename"


def make_directory(root: Path, path: str, intent: Intent | None = None) -> None:
    """Create a directory with its parents. Twice: no-op. Raises: Conflict, Invalid."""
    split(path)
    with begun(intent, "directory", path=path), made_directory(root, path):
        pass


def move(root: Path, path: str, to: str, clash: Clash) -> str:
    """Move an entry to another path; returns its final path. A directory never replaces anything.

    Raises: NotFound, Conflict, Invalid.
    """
    (above, name), (target_above, target) = split(path), split(to)
    if to.startswith(f"{path}/"):
        raise Invalid("file.into_itself", f"{path} cannot be moved into itself.", field="to")
    with directory(root, above) as source, directory(root, target_above) as handle:
        with errors_naming(path):
            os.stat(name, dir_fd=source, follow_symlinks=False)
        if path == to:
            return path
        return joined(target_above, _place(source, name, handle, target, to, clash))


def remove(root: Path, stage: Path, path: str, entry: str) -> None:
    """Delete an entry. A non-empty directory is renamed to this entry of the stage, to be deleted there.

    Btrfs refuses that rename out of a subvolume created by a session, and every rename once a quota is fully used: then
    it is deleted in place.
    Raises: NotFound, Conflict, Invalid.
    """
    above, name = split(path)
    with directory(root, above) as handle, errors_naming(path):
        try:
            os.unlink(name, dir_fd=handle)
            return
        except IsADirectoryError:
            pass
        try:
            os.rmdir(name, dir_fd=handle)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            try:
                with made_directory(stage, entry) as out:
                    os.rename(name, new_id(), src_dir_fd=handle, dst_dir_fd=out)
            except OSError as refused:
                if refused.errno not in (errno.EDQUOT, errno.ENOSPC, errno.EXDEV):
                    raise
                walk.remove_tree(handle, name, lambda _: None)


def inode(root: Path, path: str) -> int | None:
    """The inode of the entry at the path; None if there is none. Raises: Invalid."""
    above, name = split(path)
    with suppress(NotFound, Conflict, FileNotFoundError), directory(root, above) as handle:
        return os.stat(name, dir_fd=handle, follow_symlinks=False).st_ino
    return None


def removed(stage: Path) -> list[str]:
    """Entries of the stage that hold deleted content."""
    with directory(stage, "") as handle:
        return [name for name in os.listdir(handle) if name.startswith(REMOVED)]


def put(
    root: Path,
    stage: Path,
    name: str,
    path: str,
    clash: Clash,
    *,
    expected: Sequence[str] | None = None,
    intent: Intent | None = None,
) -> str:
    """Move a finished file of the stage to its place, creating parent directories; returns its final path.

    expected: ETags, one of which the existing file must have, or "*". Raises: Changed, Conflict, Invalid.
    """
    above, new_name = split(path)
    with made_directory(root, above) as handle, directory(stage, "") as source:
        file = os.stat(name, dir_fd=source, follow_symlinks=False)
        placed = [(name, path, file.st_size, file.st_ino)]
        with begun(intent, "put", files=placed, clash=clash), alone(source):
            got = put_in(source, name, handle, new_name, path, clash, expected=expected)
        # Outside of the lock, so that concurrent calls sync concurrently.
        os.fsync(handle)
    return joined(above, got)


def put_in(
    source: int,
    name: str,
    handle: int,
    new_name: str,
    path: str,
    clash: Clash,
    *,
    expected: Sequence[str] | None = None,
) -> str:
    """As `put`, from one directory to another, for a caller within `alone`; returns the name. path: target for
    messages.
    """
    if expected is not None or clash is Clash.REPLACE:
        present = _present(handle, new_name)
        if expected is not None and not _is_one_of(present, expected):
            raise changed(path)
        if clash is Clash.REPLACE and present and stat.S_ISREG(present.st_mode):
            # Scripts stay executable.
            os.chmod(name, stat.S_IMODE(present.st_mode) & 0o777, dir_fd=source)
    return _place(source, name, handle, new_name, path, clash)


def copy(
    source: Path,
    paths: Sequence[str],
    root: Path,
    stage: Path,
    name: str,
    to: str,
    clash: Clash,
    tick: Tick,
    *,
    renamed: str | None = None,
    room: int | None = None,
) -> list[str]:
    """Copy entries into the directory `to` of a folder; returns their paths. Symbolic links are copied as links.

    renamed: the target name of a single entry. room: maximum number of bytes; None: no limit. name: of this copy, in
    the target's stage. Everything is copied to the stage first and then placed; a repeated call after a crash
    continues. In the end, whatever the result, call `discard`.
    Raises: NotFound, Conflict, Invalid; OverQuota if the limit is exceeded; exceptions of tick.
    """
    goals = [joined(to, renamed or split(path)[1]) for path in paths]
    with directory(stage, "") as staged, made_directory(root, to) as handle:
        if _present(staged, name) is None:
            if clash is Clash.REFUSE:
                _require_free(handle, goals)
            if room is not None:
                _require_room(source, paths, room, tick)
            _copy_all(source, paths, staged, f"{name}.part", tick)
            os.rename(f"{name}.part", name, src_dir_fd=staged, dst_dir_fd=staged)
        with directory(stage, name) as ready:
            return [
                _put_copy(ready, str(number), handle, goal, clash)
                for number, goal in enumerate(goals)
                if _present(ready, str(number)) is not None
            ]


def discard(stage: Path, name: str, tick: Tick) -> None:
    """Delete the remains of a copy in the stage. Twice, or absent: success."""
    with directory(stage, "") as handle:
        walk.remove_tree(handle, f"{name}.part", tick)
        walk.remove_tree(handle, name, tick)


def changed(path: str) -> Changed:
    return Changed(
        "file.changed",
        f"{path} has changed or no longer exists.",
        hint="Reload it and reapply your changes.",
        field="path",
    )


def _copy_all(source: Path, paths: Sequence[str], staged: int, name: str, tick: Tick) -> None:
    walk.remove_tree(staged, name, tick)
    os.mkdir(name, 0o700, dir_fd=staged)
    inner = os.open(name, walk.DIRECTORY, dir_fd=staged)
    done = Advance(0, 0)
    try:
        for number, path in enumerate(paths):
            above, last = split(path)
            with directory(source, above) as handle, errors_naming(path):
                done = _sum(done, copy_entry(handle, last, inner, str(number), _after(done, tick)))
    finally:
        os.close(inner)


def _put_copy(ready: int, number: str, target: int, path: str, clash: Clash) -> str:
    above, new_name = split(path)
    return joined(above, _place(ready, number, target, new_name, path, clash))


def _after(done: Advance, tick: Tick) -> Tick:
    """A tick that adds to the progress of a completed part."""
    return lambda now: tick(_sum(done, now))


def _sum(done: Advance, now: Advance) -> Advance:
    return Advance(
        done.done_bytes + now.done_bytes,
        done.done_files + now.done_files,
        None if now.total_bytes is None else done.done_bytes + now.total_bytes,
        None if now.total_files is None else done.done_files + now.total_files,
    )


def _require_room(source: Path, paths: Sequence[str], room: int, tick: Tick) -> None:
    needed = 0
    for path in paths:
        above, last = split(path)
        with directory(source, above) as handle, errors_naming(path):
            needed += _weight(handle, last, tick)
    if needed > room:
        raise OverQuota(
            f"The quota for folders leaves {format_size(room)}, and this takes {format_size(needed)}."
        )


def _weight(parent: int, name: str, tick: Tick) -> int:
    there = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if not stat.S_ISDIR(there.st_mode):
        return there.st_blocks * 512
    inner = walk.open_directory(parent, name)
    try:
        return walk.measure(inner, tick).used_bytes
    finally:
        os.close(inner)


def _require_free(handle: int, goals: Sequence[str]) -> None:
    for goal in goals:
        if _present(handle, split(goal)[1]) is not None:
            raise exists(goal)


def _place(source: int, name: str, target: int, new_name: str, path: str, clash: Clash) -> str:
    """Rename from one directory to another; returns the name. path: target for messages."""
    with errors_naming(path):
        if clash is Clash.REPLACE:
            try:
                os.rename(name, new_name, src_dir_fd=source, dst_dir_fd=target)
            except NotADirectoryError:
                raise exists(path) from None
            return new_name
        for candidate in candidates(new_name, clash):
            with suppress(FileExistsError):
                _rename_new(source, name, target, candidate)
                return candidate
    raise exists(path)


def candidates(name: str, clash: Clash) -> Iterator[str]:
    """The names to try for a file, the preferred one first."""
    yield name
    if clash is Clash.RENAME:
        stem, ending = os.path.splitext(name)
        for number in range(1, _MOST_NUMBERS):
            mark = f" ({number}){ending}".encode()
            yield stem.encode()[: LONGEST_NAME - len(mark)].decode(errors="ignore") + mark.decode()


def _rename_new(source: int, name: str, target: int, new_name: str) -> None:
    """Rename without replacing. Raises: FileExistsError; OSError."""
    old, new = os.fsencode(name), os.fsencode(new_name)
    if _libc.renameat2(source, old, target, new, _RENAME_NOREPLACE) == 0:
        return
    number = ctypes.get_errno()
    if number not in _UNSUPPORTED:
        raise OSError(number, os.strerror(number), name)
    # Some file systems do not support RENAME_NOREPLACE. A hard link works instead, but not for directories.
    if stat.S_ISDIR(os.stat(name, dir_fd=source, follow_symlinks=False).st_mode):
        if _present(target, new_name) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new_name)
        os.rename(name, new_name, src_dir_fd=source, dst_dir_fd=target)
        return
    os.link(name, new_name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
    os.unlink(name, dir_fd=source)


def _present(handle: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=handle, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _is_one_of(present: os.stat_result | None, tags: Sequence[str]) -> bool:
    if present is None:
        return False
    return "*" in tags or etag(present.st_ino, present.st_size, present.st_mtime_ns) in tags


@contextmanager
def alone(stage: int) -> Iterator[None]:
    """Lock the folder against other placements during the block, so that checks stay valid."""
    lock = os.open(_LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o660, dir_fd=stage)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
