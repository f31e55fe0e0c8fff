"""From a path that somebody wrote to handles inside one folder, and never anywhere else.

A session can put symbolic links, pipes and sockets wherever it likes and change directories under our feet. So every
name is opened from the handle of the directory above it, links are refused rather than followed, and nothing is
asked of a whole path. What is opened is what is used: no look first and use later.
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

# A pipe without a writer must not block whoever opens it.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_IS_ROOT = os.geteuid() == 0
# Not as root, the access lists of directories decide, which a narrower mode would mask.
FILE_MODE = 0o644 if _IS_ROOT else 0o666
_DIRECTORY_MODE = 0o755 if _IS_ROOT else 0o777


@lru_cache(maxsize=256)
def names(path: str) -> tuple[str, ...]:
    """The names in a path from outermost to innermost; of "" none. Raises: Invalid."""
    return tuple(_checked(name, path) for name in path.split("/")) if path else ()


def split(path: str) -> tuple[str, str]:
    """The directory's path and the last name. Raises: Invalid, also for "", which has no name."""
    if not path:
        raise Invalid(
            "file.path", "This would be the folder itself.", hint="Name something in it.", field="path"
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
    """A handle of a directory, while the block lasts. root: the folder's files. Raises: as `said`, Invalid."""
    wanted = names(path)
    handle = _root(root)
    try:
        with said(path):
            for name in wanted:
                inner = os.open(name, DIRECTORY, dir_fd=handle)
                os.close(handle)
                handle = inner
        yield handle
    finally:
        os.close(handle)


@contextmanager
def made_directory(root: Path, path: str) -> Iterator[int]:
    """The same, with what is missing made. Raises: as `said`, Invalid."""
    wanted = names(path)
    handle = _root(root)
    try:
        with said(path):
            for name in wanted:
                inner = _entered(handle, name)
                os.close(handle)
                handle = inner
        yield handle
    finally:
        os.close(handle)


def opened(root: Path, path: str) -> FileIO:
    """A file for reading. Raises: NotFound; Conflict when it is no plain file."""
    above, name = split(path)
    with directory(root, above) as handle:
        return opened_in(handle, name, path)


def opened_in(handle: int, name: str, path: str) -> FileIO:
    """The same, from the handle of its directory. path: for words."""
    with said(path):
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
def said(path: str) -> Iterator[None]:
    """What the system says of a path, in words. Raises: NotFound, Conflict, Invalid; else OSError as it is."""
    try:
        yield
    except OSError as error:
        known = _words(error, path)
        if known is None:
            raise
        raise known from None


def own(fd: int, mode: int) -> None:
    """Give it to the sessions' user, whatever our umask is."""
    give(fd)
    if _IS_ROOT:
        os.fchmod(fd, mode)


def not_a_file(path: str) -> Conflict:
    return Conflict(
        "file.not_a_file", f"{shown(path)} is no plain file.", hint="Only files have content.", field="path"
    )


def shown(path: str) -> str:
    """The path for people: what is no UTF-8 as U+FFFD."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace") or "The folder"


def _checked(name: str, path: str) -> str:
    try:
        length = len(name.encode())
    except UnicodeEncodeError:
        length = 0
    if not 0 < length <= LONGEST_NAME or name in (".", "..") or "\0" in name:
        raise Invalid(
            "file.path",
            f"{path.encode(errors='replace').decode()[:200]!r} is no path here.",
            hint=f"Write names of at most {LONGEST_NAME} bytes with one / between them, none of them . or ..",
            field="path",
        )
    return name


def _root(root: Path) -> int:
    try:
        return os.open(root, DIRECTORY)
    except FileNotFoundError:
        raise StorageUnavailable("The folder is not where it should be on its storage host.") from None


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
                f"{name}, or something above it, is no directory.",
                field="path",
                hint="Symbolic links are not followed.",
            )
        case errno.EEXIST | errno.ENOTEMPTY | errno.EISDIR:
            return exists(path)
        case errno.EACCES | errno.EPERM:
            return Conflict(
                "file.inaccessible",
                f"The permission bits of {name}, or of its directory, do not allow it.",
                hint="Change them with chmod in a session.",
                field="path",
            )
        case errno.ENAMETOOLONG:
            return Invalid("file.path", f"{name[:200]} is too long a path.", field="path")
        case errno.EFBIG:
            return Invalid(
                "file.too_large", f"{name} would be larger than this storage allows.", field="path"
            )
        case errno.EROFS:
            return Conflict("file.read_only", "This storage can only be read now.", field="path")
        case errno.EXDEV:
            return Conflict(
                "file.subvolume",
                f"{name} would go into a subvolume that a session made, or out of one.",
                hint="Do it in a session, or copy it out of there.",
                field="path",
            )
        case errno.EMLINK:
            return Conflict("file.too_many", "There are too many directories here already.", field="path")
    return None


def exists(path: str) -> Conflict:
    return Conflict(
        "file.exists",
        f"There is something at {shown(path)} already.",
        hint="Choose another name, or say that it shall be replaced.",
        field="path",
    )
