"""Files in the stage of a folder, while they grow. Their size is how much of them has arrived."""

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
"""Begins names of what is made within one request. What is left of that is from a server that was killed."""
UPLOAD = "upload-"
"""Begins names of what several requests may bring."""
PART = ".part"
"""Ends the name of what counts only when all of its request is there and right."""
_OPENED = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_PIECES = 512
_WRITE_BACK_BYTES = 32 << 20
_SYNC_FILE_RANGE_WRITE = 2
_libc = ctypes.CDLL(None, use_errno=True)
_libc.sync_file_range.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)


class Staged:
    """A file of a stage that nobody else can write meanwhile.

    A thread that hangs with it keeps it open, so that its descriptor is never another's: it is closed when nobody has
    it any more, or by `close`, when no thread works on it.
    """

    def __init__(self, fd: int, stage: Path, name: str) -> None:
        self.fd = fd
        self.stage = stage
        self.name = name
        self._unwritten = 0

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Twice: no-op."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    def size(self) -> int:
        return self.status().st_size

    def status(self) -> os.stat_result:
        return os.fstat(self.fd)

    def write(self, pieces: Sequence[bytes | memoryview], checking: Any = None) -> None:
        """Add to its end. checking: a hash that learns of it. Raises: OSError, with a part of it written."""
        os.lseek(self.fd, 0, os.SEEK_END)
        if checking is not None:
            for piece in pieces:
                checking.update(piece)
        for start in range(0, len(pieces), _MOST_PIECES):
            self._write_some(pieces[start : start + _MOST_PIECES])
        self._unwritten += sum(map(len, pieces))
        if self._unwritten >= _WRITE_BACK_BYTES:
            # Have the disk begin now, or having it all on disk in the end takes as long again as sending it did.
            _libc.sync_file_range(self.fd, 0, 0, _SYNC_FILE_RANGE_WRITE)
            self._unwritten = 0

    def _write_some(self, pieces: Sequence[bytes | memoryview]) -> None:
        gone = os.writev(self.fd, pieces)
        if gone < sum(map(len, pieces)):
            left = memoryview(b"".join(pieces))[gone:]
            while left:
                left = left[os.write(self.fd, left) :]

    def truncate(self, size: int) -> None:
        """Forget what is behind so many bytes. Raises: OSError."""
        os.ftruncate(self.fd, size)

    def take(self, other: "Staged") -> None:
        """Add what is in another one. Raises: OSError; then it is as it was before."""
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
        """Have it on disk and in its place; the path it got. modified_ns: when it was last changed elsewhere.

        Raises: as `tree.put`.
        """
        self.stamp(modified_ns, executable=executable)
        os.fsync(self.fd)
        return tree.put(root, self.stage, self.name, path, clash, expected=expected, intent=intent)

    def stamp(self, modified_ns: int | None, *, executable: bool) -> None:
        """Give it what else it had where it comes from."""
        if executable:
            mode = os.fstat(self.fd).st_mode
            os.fchmod(self.fd, mode | (mode >> 2 & 0o111))  # for whoever may read it
        if modified_ns is not None:
            os.utime(self.fd, ns=(modified_ns, modified_ns))

    def remove(self) -> None:
        with directory(self.stage, "") as handle, suppress(FileNotFoundError):
            os.unlink(self.name, dir_fd=handle)


def create(stage: Path, name: str) -> Staged:
    """A new one. What had the name is gone. Raises: Locked, OSError."""
    remove(stage, name)
    return fresh(stage, name)


def fresh(stage: Path, name: str) -> Staged:
    """The same, of a name that nothing ever had. Raises: OSError."""
    with directory(stage, "") as handle:
        return fresh_in(handle, stage, name)


def fresh_in(handle: int, stage: Path, name: str) -> Staged:
    """The same, by a handle of the stage. Raises: OSError."""
    staged = Staged(os.open(name, _OPENED | os.O_CREAT | os.O_EXCL, FILE_MODE, dir_fd=handle), stage, name)
    own(staged.fd, FILE_MODE)
    fcntl.flock(staged.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return staged


def opened(stage: Path, name: str) -> Staged:
    """One that is there. Raises: NotFound, Locked."""
    try:
        return _opened(stage, name)
    except FileNotFoundError:
        raise NotFound("upload.not_found", "There is no such upload, or it is over.") from None


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
    """A file of which everything is here, from nothing to its place. name: in the stage, meanwhile.

    Raises: as `Staged.put`, and then there is nothing.
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
    """Give a file in its place another time. Raises: NotFound, Conflict, Invalid."""
    about = begun(intent, "touch", path=path, modified_ns=modified_ns)
    with about, paths.opened(root, path) as file, paths.said(path):
        os.utime(file.fileno(), ns=(modified_ns, modified_ns))


def remove(stage: Path, name: str) -> None:
    """Twice, or absent: success."""
    with directory(stage, "") as handle, suppress(FileNotFoundError):
        os.unlink(name, dir_fd=handle)


def sweep(stages: Sequence[Path], before_ns: int) -> None:
    """Delete what requests left that ended in the middle, and have not touched since; nothing that is being written."""
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
    """How large they are; None for what is not there."""
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
        # Who had the lock before may have put the file into its place: then it is no upload any more.
        if os.stat(name, dir_fd=handle, follow_symlinks=False).st_ino != os.fstat(staged.fd).st_ino:
            raise FileNotFoundError(name)
    return staged


def locked() -> Locked:
    return Locked(
        "upload.locked",
        "Another request is sending this upload.",
        hint="Wait until that one has ended.",
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
