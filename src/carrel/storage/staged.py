"""Growing files in the stage of a folder. Their size is the number of bytes received."""

import ctypes
import fcntl
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from carrel.core.errors import Locked, NotFound
from carrel.storage import paths, tree
from carrel.storage.intents import Intent, begun
from carrel.storage.listing import Entry, described
from carrel.storage.paths import FILE_MODE, directory, own
from carrel.storage.port import StorageUnavailable
from carrel.storage.tree import Clash

WRITTEN = "written-"
"""Prefix of files of a single request. Remaining ones are from a killed server."""
UPLOAD = "upload-"
"""Prefix of files that several requests may extend."""
PART = ".part"
"""Suffix of files that count only if their request completes successfully."""
_OPENED = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_PIECES = 512
_WRITE_BACK_BYTES = 32 << 20
_SYNC_FILE_RANGE_WRITE = 2
_libc = ctypes.CDLL(None, use_errno=True)
_libc.sync_file_range.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)


class Staged:
    """A file of a stage, locked against other writers.

    A hanging thread keeps it open, so that its descriptor is not reused: it is closed when the last reference is gone,
    or by `close` if no thread uses it.
    """

    def __init__(self, fd: int, stage: Path, name: str) -> None:
        self.fd = fd
        self.stage = stage
        self.name = name
        self._unwritten = 0

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Twice: no-op."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    def size(self) -> int:
        return self.status().st_size

    def status(self) -> os.stat_result:
        return os.fstat(self.fd)

    def write(self, pieces: Sequence[bytes | memoryview], checking: Any = None) -> None:
        """Append to the file. checking: a hash to update. Raises: OSError after a partial write."""
        os.lseek(self.fd, 0, os.SEEK_END)
        if checking is not None:
            for piece in pieces:
                checking.update(piece)
        for start in range(0, len(pieces), _MOST_PIECES):
            self._write_some(pieces[start : start + _MOST_PIECES])
        self._unwritten += sum(map(len, pieces))
        if self._unwritten >= _WRITE_BACK_BYTES:
            # Start writeback now; otherwise the final sync takes as long as the transfer.
            _libc.sync_file_range(self.fd, 0, 0, _SYNC_FILE_RANGE_WRITE)
            self._unwritten = 0

    def _write_some(self, pieces: Sequence[bytes | memoryview]) -> None:
        gone = os.writev(self.fd, pieces)
        if gone < sum(map(len, pieces)):
            left = memoryview(b"".join(pieces))[gone:]
            while left:
                left = left[os.write(self.fd, left) :]

    def truncate(self, size: int) -> None:
        """Truncate the file to this size. Raises: OSError."""
        os.ftruncate(self.fd, size)

    def take(self, other: "Staged") -> None:
        """Append the content of another file. Raises: OSError; then the file is unchanged."""
        size, at, left = self.size(), 0, other.size()
        os.lseek(self.fd, 0, os.SEEK_END)
        try:
            while left:
                count = _copied(other.fd, self.fd, at, left)
                at, left = at + count, left - count
        except OSError:
            os.ftruncate(self.fd, size)
            raise

    def put(
        self,
        root: Path,
        path: str,
        clash: Clash,
        expected: Sequence[str] | None = None,
        *,
        modified_ns: int | None = None,
        executable: bool = False,
        intent: Intent | None = None,
    ) -> str:
        """Sync the file and move it to its place; returns its final path. modified_ns: original modification time.

        Raises: as `tree.put`.
        """
        self.stamp(modified_ns, executable=executable)
        os.fsync(self.fd)
        return tree.put(root, self.stage, self.name, path, clash, expected=expected, intent=intent)

    def stamp(self, modified_ns: int | None, *, executable: bool) -> None:
        """Set the attributes from its origin."""
        if executable:
            mode = os.fstat(self.fd).st_mode
            os.fchmod(self.fd, mode | (mode >> 2 & 0o111))  # executable for everybody who may read it
        if modified_ns is not None:
            os.utime(self.fd, ns=(modified_ns, modified_ns))

    def remove(self) -> None:
        with directory(self.stage, "") as handle, suppress(FileNotFoundError):
            os.unlink(self.name, dir_fd=handle)


def create(stage: Path, name: str) -> Staged:
    """Create a file, replacing one of the same name. Raises: Locked, OSError."""
    remove(stage, name)
    return fresh(stage, name)


def fresh(stage: Path, name: str) -> Staged:
    """As `create`, for a name that was never used. Raises: OSError."""
    with directory(stage, "") as handle:
        return fresh_in(handle, stage, name)


def fresh_in(handle: int, stage: Path, name: str) -> Staged:
    """As `fresh`, by a handle of the stage. Raises: OSError."""
    staged = Staged(os.open(name, _OPENED | os.O_CREAT | os.O_EXCL, FILE_MODE, dir_fd=handle), stage, name)
    own(staged.fd, FILE_MODE)
    fcntl.flock(staged.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return staged


def opened(stage: Path, name: str) -> Staged:
    """Open an existing file. Raises: NotFound, Locked."""
    try:
        return _opened(stage, name)
    except FileNotFoundError:
        raise NotFound("upload.not_found", "There is no such upload, or it has ended.") from None


def bring(
    root: Path,
    stage: Path,
    name: str,
    pieces: Sequence[bytes],
    path: str,
    clash: Clash,
    expected: Sequence[str] | None = None,
    *,
    modified_ns: int | None = None,
    executable: bool = False,
    intent: Intent | None = None,
) -> Entry:
    """Write a file whose whole content is available, and place it. name: temporary name in the stage.

    Raises: as `Staged.put`; then nothing remains.
    """
    file = fresh(stage, name)
    try:
        file.write(pieces)
        got = file.put(
            root, path, clash, expected, modified_ns=modified_ns, executable=executable, intent=intent
        )
        return described(got, file.status())
    except BaseException:
        file.remove()
        raise
    finally:
        file.close()


def touch(root: Path, path: str, modified_ns: int, intent: Intent | None = None) -> None:
    """Set the modification time of a file in the folder. Raises: NotFound, Conflict, Invalid."""
    about = begun(intent, "touch", path=path, modified_ns=modified_ns)
    with about, paths.opened(root, path) as file, paths.errors_naming(path):
        os.utime(file.fileno(), ns=(modified_ns, modified_ns))


def remove(stage: Path, name: str) -> None:
    """Delete a file of the stage. Twice, or absent: success."""
    with directory(stage, "") as handle, suppress(FileNotFoundError):
        os.unlink(name, dir_fd=handle)


def sweep(stages: Sequence[Path], before_ns: int) -> None:
    """Delete files of interrupted requests that have not changed since; files being written are kept."""
    for stage in stages:
        with suppress(StorageUnavailable, FileNotFoundError):
            for name in _left(stage, before_ns):
                with suppress(NotFound, Locked):
                    file = opened(stage, name)
                    file.remove()
                    file.close()


def _left(stage: Path, before_ns: int) -> list[str]:
    with directory(stage, "") as handle, os.scandir(handle) as entries:
        return [
            entry.name
            for entry in entries
            if (
                entry.name.startswith(WRITTEN)
                or (entry.name.startswith(UPLOAD) and entry.name.endswith(PART))
            )
            and entry.is_file(follow_symlinks=False)
            and entry.stat(follow_symlinks=False).st_ctime_ns < before_ns
        ]


def sizes(stage: Path, names: Sequence[str]) -> list[int | None]:
    """Their sizes in bytes; None for missing files."""
    with directory(stage, "") as handle:
        return [_size(handle, name) for name in names]


def _opened(stage: Path, name: str) -> Staged:
    with directory(stage, "") as handle:
        staged = Staged(os.open(name, _OPENED, dir_fd=handle), stage, name)
        try:
            fcntl.flock(staged.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            staged.close()
            raise locked() from None
        # The previous lock holder may have placed the file: then it is no longer an upload.
        if os.stat(name, dir_fd=handle, follow_symlinks=False).st_ino != os.fstat(staged.fd).st_ino:
            raise FileNotFoundError(name)
    return staged


def locked() -> Locked:
    return Locked(
        "upload.locked",
        "Another request is sending this upload.",
        hint="Wait until it ends.",
    )


def _copied(source: int, target: int, at: int, count: int) -> int:
    try:
        done = os.copy_file_range(source, target, count, at)
    except OSError:
        done = os.sendfile(target, source, at, count)
    if not done:
        raise OSError("A part became shorter.")
    return done


def _size(handle: int, name: str) -> int | None:
    try:
        return os.stat(name, dir_fd=handle, follow_symlinks=False).st_size
    except FileNotFoundError:
        return None
