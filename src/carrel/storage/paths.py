"""Resolution of user-supplied paths to handles inside one folder.

Sessions can create symbolic links, pipes and sockets and replace directories at any time. So every name is opened
relative to the handle of its parent directory, links are refused rather than followed, and no system call gets a whole
path. The checked handle is the one that is used, which avoids races between check and use.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from io import FileIO
from pathlib import Path

from carrel.core.errors import CarrelError, Conflict, Invalid, NotFound
from carrel.storage.copies import give
from carrel.storage.port import StorageUnavailable
from carrel.storage.walk import DIRECTORY

LONGEST_NAME = 255
"""In bytes."""

# Opening a pipe without a writer must not block.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_IS_ROOT = os.geteuid() == 0
# Without root, the ACLs of directories decide, and a narrower mode would mask them.
FILE_MODE = 0o644 if _IS_ROOT else 0o666
_DIRECTORY_MODE = 0o755 if _IS_ROOT else 0o777


@lru_cache(maxsize=256)
def names(path: str) -> tuple[str, ...]:
    """The names in a path from outermost to innermost; empty for "". Raises: Invalid."""
    return tuple(_checked(name, path) for name in path.split("/")) if path else ()


def split(path: str) -> tuple[str, str]:
    """The parent path and the last name. Raises: Invalid, also for "", which has no name."""
    if not path:
        raise Invalid(
            "file.path", "This path is the folder itself.", hint="Specify a path inside it.", field="path"
        )
    above, slash, last = path.rpartition("/")
    if slash and not above:
        _checked("", path)
    names(above)
    return above, _checked(last, path)


def joined(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory else name


@contextmanager
def directory(root: Path, path: str) -> Iterator[int]:
    """A handle of a directory during the block. root: the folder's files. Raises: as `said`, Invalid."""
    steps = names(path)
    handle = _root(root)
    try:
        with errors_naming(path):
            for name in steps:
                inner = os.open(name, DIRECTORY, dir_fd=handle)
                os.close(handle)
                handle = inner
        yield handle
    finally:
        os.close(handle)


@contextmanager
def made_directory(root: Path, path: str) -> Iterator[int]:
    """As `directory`; creates missing directories. Raises: as `said`, Invalid."""
    steps = names(path)
    handle = _root(root)
    try:
        with errors_naming(path):
            for name in steps:
                inner = _entered(handle, name)
                os.close(handle)
                handle = inner
        yield handle
    finally:
        os.close(handle)


def opened(root: Path, path: str) -> FileIO:
    """A file opened for reading. Raises: NotFound; Conflict if it is not a regular file."""
    above, name = split(path)
    with directory(root, above) as handle:
        return opened_in(handle, name, path)


def opened_in(handle: int, name: str, path: str) -> FileIO:
    """As `opened`, relative to the handle of its directory. path: for messages."""
    with errors_naming(path):
        try:
            fd = os.open(name, _FILE, dir_fd=handle)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO, errno.ENODEV):
                raise not_a_file(path) from None
            raise
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return FileIO(fd)
    os.close(fd)
    raise not_a_file(path)


@contextmanager
def errors_naming(path: str) -> Iterator[None]:
    """Translate errors of system calls about a path. Raises: NotFound, Conflict, Invalid; other OSErrors unchanged."""
    try:
        yield
    except OSError as error:
        known = _words(error, path)
        if known is None:
            raise
        raise known from None


def own(fd: int, mode: int) -> None:
    """Set owner (the sessions' user) and mode, independent of the umask."""
    give(fd)
    if _IS_ROOT:
        os.fchmod(fd, mode)


def not_a_file(path: str) -> Conflict:
    return Conflict(
        "file.not_a_file",
        f"{shown(path)} is not a regular file.",
        hint="Only regular files have content.",
        field="path",
    )


def shown(path: str) -> str:
    """The path for people: invalid UTF-8 as U+FFFD."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace") or "The folder"


def _checked(name: str, path: str) -> str:
    try:
        length = len(name.encode())
    except UnicodeEncodeError:
        length = 0
    if not 0 < length <= LONGEST_NAME or name in (".", "..") or "\0" in name:
        raise Invalid(
            "file.path",
            f"{path.encode(errors='replace').decode()[:200]!r} is not a valid path.",
            hint=f"Use names of at most {LONGEST_NAME} bytes separated by single slashes, and not . or ..",
            field="path",
        )
    return name


def _root(root: Path) -> int:
    try:
        return os.open(root, DIRECTORY)
    except FileNotFoundError:
        raise StorageUnavailable("The folder is missing on its storage host.") from None


def _entered(handle: int, name: str) -> int:
    try:
        return os.open(name, DIRECTORY, dir_fd=handle)
    except FileNotFoundError:
        pass
    try:
        os.mkdir(name, _DIRECTORY_MODE, dir_fd=handle)
    except FileExistsError:
        return os.open(name, DIRECTORY, dir_fd=handle)
    inner = os.open(name, DIRECTORY, dir_fd=handle)
    try:
        own(inner, _DIRECTORY_MODE)
    except OSError:
        os.close(inner)
        raise
    return inner


def _words(error: OSError, path: str) -> CarrelError | None:
    name = shown(path)
    match error.errno:
        case errno.ENOENT:
            return NotFound(
                "file.not_found", f"There is no {name}.", hint="List the directory.", field="path"
            )
        case errno.ENOTDIR | errno.ELOOP:
            return Conflict(
                "file.not_a_directory",
                f"{name} or one of its parents is not a directory.",
                field="path",
                hint="Symbolic links are not followed.",
            )
        case errno.EEXIST | errno.ENOTEMPTY | errno.EISDIR:
            return exists(path)
        case errno.EACCES | errno.EPERM:
            return Conflict(
                "file.inaccessible",
                f"The permissions of {name} or of its directory deny access.",
                hint="Change them with chmod in a session.",
                field="path",
            )
        case errno.ENAMETOOLONG:
            return Invalid("file.path", f"The path {name[:200]} is too long.", field="path")
        case errno.EFBIG:
            return Invalid(
                "file.too_large", f"{name} exceeds the largest file size of this storage.", field="path"
            )
        case errno.EROFS:
            return Conflict("file.read_only", "The storage is currently read-only.", field="path")
        case errno.EXDEV:
            return Conflict(
                "file.subvolume",
                f"{name} cannot be moved into or out of a subvolume that a session created.",
                hint="Move it in a session, or copy it.",
                field="path",
            )
        case errno.EMLINK:
            return Conflict("file.too_many", "The directory has too many subdirectories.", field="path")
    return None


def exists(path: str) -> Conflict:
    return Conflict(
        "file.exists",
        f"{shown(path)} already exists.",
        hint="Choose another name, or replace the existing one.",
        field="path",
    )
