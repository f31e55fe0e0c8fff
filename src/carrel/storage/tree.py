"""Changing what is in a folder: each change is one rename, so that nobody ever sees half of it.

New content is made in the stage and renamed to its place; what is deleted is renamed into the stage and goes from
there at leisure (`walk.remove_tree`). What is on its way out has a name that begins with REMOVED.
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
from carrel.storage.paths import LONGEST_NAME, directory, exists, joined, made_directory, said, split
from carrel.storage.port import Advance, OverQuota, Tick

REMOVED = "removed-"
_LOCK = ".lock"
_MOST_NUMBERS = 1000
_RENAME_NOREPLACE = 1
_UNSUPPORTED = frozenset({errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP})
_libc = ctypes.CDLL(None, use_errno=True)


class Clash(StrEnum):
    """What becomes of a file where there is one of the name already. RENAME: the new one gets a number."""

    REFUSE = "refuse"
    REPLACE = "replace"
    RENAME = "rename"


def make_directory(root: Path, path: str, intent: Intent | None = None) -> None:
    """Make a directory and those above it. Twice: no-op. Raises: Conflict, Invalid."""
    split(path)
    with begun(intent, "directory", path=path), made_directory(root, path):
        pass


def move(root: Path, path: str, to: str, clash: Clash) -> str:
    """Move something to another path; the path it got. A directory never replaces anything.

    Raises: NotFound, Conflict, Invalid.
    """
    (above, name), (target_above, target) = split(path), split(to)
    if to.startswith(f"{path}/"):
        raise Invalid("file.into_itself", f"{path} cannot be moved into itself.", field="to")
    with directory(root, above) as source, directory(root, target_above) as handle:
        with said(path):
            os.stat(name, dir_fd=source, follow_symlinks=False)
        if path == to:
            return path
        return joined(target_above, _place(source, name, handle, target, to, clash))


def remove(root: Path, stage: Path, path: str, entry: str) -> None:
    """Delete something. A directory with something in it goes into this entry of the stage, to be deleted there.

    Btrfs refuses that rename out of a subvolume that a session made, and any where a quota is used up to its last
    byte: then it is deleted where it is.
    Raises: NotFound, Conflict, Invalid.
    """
    above, name = split(path)
    with directory(root, above) as handle, said(path):
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
    """Of what is at the path; None when nothing is. Raises: Invalid."""
    above, name = split(path)
    with suppress(NotFound, Conflict, FileNotFoundError), directory(root, above) as handle:
        return os.stat(name, dir_fd=handle, follow_symlinks=False).st_ino
    return None


def removed(stage: Path) -> list[str]:
    """Entries of the stage that hold what was deleted."""
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
    """Move a finished file of the stage to its place, with the directories that it needs; the path it got.

    expected: ETags of which the file there must still have one, or "*". Raises: Changed, Conflict, Invalid.
    """
    above, wanted = split(path)
    with made_directory(root, above) as handle, directory(stage, "") as source:
        file = os.stat(name, dir_fd=source, follow_symlinks=False)
        placed = [(name, path, file.st_size, file.st_ino)]
        with begun(intent, "put", files=placed, clash=clash), alone(source):
            got = put_in(source, name, handle, wanted, path, clash, expected=expected)
        # Not alone: whoever comes at the same time has it on disk at the same time.
        os.fsync(handle)
    return joined(above, got)


def put_in(
    source: int,
    name: str,
    handle: int,
    wanted: str,
    path: str,
    clash: Clash,
    *,
    expected: Sequence[str] | None = None,
) -> str:
    """The same from one directory to another, for who is `alone` there; the name it got. path: where to, in words."""
    if expected is not None or clash is Clash.REPLACE:
        present = _present(handle, wanted)
        if expected is not None and not _is_one_of(present, expected):
            raise changed(path)
        if clash is Clash.REPLACE and present and stat.S_ISREG(present.st_mode):
            # A script stays one that can be run.
            os.chmod(name, stat.S_IMODE(present.st_mode) & 0o777, dir_fd=source)
    return _place(source, name, handle, wanted, path, clash)


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
    """Copy things into the directory `to` of a folder; the paths they got. Symbolic links stay what they are.

    renamed: what a single one is called there. room: how many bytes may come; None: as many as there are. name: of this
    copy, in the target's stage. All is copied there first, under another name, and then put into place; called again
    after a crash it goes on where it was. When it is all over, however it ended: `discard` it.
    Raises: NotFound, Conflict, Invalid; OverQuota when there is no room; what tick raises.
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
    """Let go of what a copy of this name has left in the stage. Twice, or absent: success."""
    with directory(stage, "") as handle:
        walk.remove_tree(handle, f"{name}.part", tick)
        walk.remove_tree(handle, name, tick)


def changed(path: str) -> Changed:
    return Changed(
        "file.changed",
        f"{path} was changed meanwhile, or is gone.",
        hint="Load it again, and put your changes into what is there now.",
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
            with directory(source, above) as handle, said(path):
                done = _sum(done, copy_entry(handle, last, inner, str(number), _after(done, tick)))
    finally:
        os.close(inner)


def _put_copy(ready: int, number: str, target: int, path: str, clash: Clash) -> str:
    above, wanted = split(path)
    return joined(above, _place(ready, number, target, wanted, path, clash))


def _after(done: Advance, tick: Tick) -> Tick:
    """The same tick for what comes after something that is done."""
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
        with directory(source, above) as handle, said(path):
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


def _place(source: int, name: str, target: int, wanted: str, path: str, clash: Clash) -> str:
    """Rename from one directory to another; the name it got. path: where to, in words."""
    with said(path):
        if clash is Clash.REPLACE:
            try:
                os.rename(name, wanted, src_dir_fd=source, dst_dir_fd=target)
            except NotADirectoryError:
                raise exists(path) from None
            return wanted
        for candidate in candidates(wanted, clash):
            with suppress(FileExistsError):
                _rename_new(source, name, target, candidate)
                return candidate
    raise exists(path)


def candidates(name: str, clash: Clash) -> Iterator[str]:
    """The names that a file may get, the wanted one first."""
    yield name
    if clash is Clash.RENAME:
        stem, ending = os.path.splitext(name)
        for number in range(1, _MOST_NUMBERS):
            mark = f" ({number}){ending}".encode()
            yield stem.encode()[: LONGEST_NAME - len(mark)].decode(errors="ignore") + mark.decode()


def _rename_new(source: int, name: str, target: int, wanted: str) -> None:
    """Raises: FileExistsError; OSError."""
    old, new = os.fsencode(name), os.fsencode(wanted)
    if _libc.renameat2(source, old, target, new, _RENAME_NOREPLACE) == 0:
        return
    number = ctypes.get_errno()
    if number not in _UNSUPPORTED:
        raise OSError(number, os.strerror(number), name)
    # Some file systems cannot say "only when it is free". A second link can, but of a directory there is none.
    if stat.S_ISDIR(os.stat(name, dir_fd=source, follow_symlinks=False).st_mode):
        if _present(target, wanted) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), wanted)
        os.rename(name, wanted, src_dir_fd=source, dst_dir_fd=target)
        return
    os.link(name, wanted, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
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
    """While the block lasts nobody else puts a file into this folder, so that what was looked at stays so."""
    lock = os.open(_LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o660, dir_fd=stage)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
