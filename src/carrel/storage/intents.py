"""Write-ahead log of file changes: each intent is a file until the change is in the audit trail.

A change reaches the disk before its audit entry can be committed, so a kill in between would leave an unrecorded
change. Therefore the intent is written first, beside the folders of the storage host, and emptied once the audit entry
is committed. The owner holds a lock on the file, which ends with the process; `interrupted` determines the outcome of
unlocked intents. Durability across power loss is not guaranteed: see docs/decisions/0014.

Emptied files are reused, because creating a file can be slow after many deletions: ext4 without a journal skips inodes
deleted within the last minutes (`recently_deleted` in fs/ext4/ialloc.c).

A file has one line of JSON: `known`, the actor and context in the caller's format; and `change`, of one kind:

- put: `files`, each with its name in the stage, path, bytes and inode; `clash`.
- move: `moves`, each with source, target, inode. remove: `paths`, each with path and inode.
- directory: `path`. touch: `path`, `modified_ns`. copy: `to`, and the copy's `name` in the stage.

A second line, once known: `done`, each with path and bytes (null if they do not count).
"""

import errno
import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

import orjson
import structlog

from carrel.core.ids import new_id
from carrel.storage.posix import MARK

log = structlog.get_logger()

INTENTS = ".intents"
Done = Sequence[tuple[str, int | None]]
_MOST_SPARE = 32
_spare: dict[Path, list[str]] = {}
"""Paths of emptied files created by this process, by root."""
_OPENED = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class Intent:
    """One change. root: of the storage host. known: the actor, and other content of the audit entry."""

    def __init__(self, root: Path, known: Mapping[str, object]) -> None:
        self._root = root
        self._known = known
        self._path = ""
        self._fd = -1
        self._happened = False

    def __del__(self) -> None:
        self.close()

    @contextmanager
    def about(self, kind: str, **change: object) -> Iterator[None]:
        """Record the change, which happens within the block. If the block fails without any effect, the intent is
        discarded.
        """
        self._begin(orjson.dumps({"known": self._known, "change": {"kind": kind, **change}}) + b"\n")
        try:
            yield
        except BaseException:
            if self._happened:
                self.close()
            else:
                self.end()
            raise

    def happened(self) -> None:
        """Mark that the change has partly happened, so that the intent is kept."""
        self._happened = True

    def settle(self, done: Done) -> None:
        """Record the result; discard the intent if nothing has happened."""
        if not done:
            self.end()
        elif self._fd >= 0:
            with suppress(OSError):  # then `interrupted` determines it
                os.write(self._fd, orjson.dumps({"done": done}) + b"\n")

    def end(self) -> None:
        """Empty the file: the change is in the audit trail or did not happen. Twice: no-op."""
        if self._fd >= 0:
            os.ftruncate(self._fd, 0)
            self.close()
            spare = _spare.setdefault(self._root, [])
            if len(spare) < _MOST_SPARE:
                spare.append(self._path)
            else:
                with suppress(FileNotFoundError):
                    os.unlink(self._path)

    def close(self) -> None:
        """Release the file so that recovery records the change. Twice: no-op."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def _begin(self, line: bytes) -> None:
        fd = -1
        try:
            fd = self._opened()
            if os.write(fd, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._fd = fd
        except OSError as error:
            if fd >= 0:
                os.unlink(self._path)
                os.close(fd)
            # Deletion must work on a full disk; a missing directory makes the change itself fail.
            if error.errno not in _FULL and not isinstance(error, FileNotFoundError):
                raise
            log.warning("intents.not_written", root=str(self._root), error=error.strerror)

    def _opened(self) -> int:
        """An empty file, locked by this process."""
        spare = _spare.get(self._root, [])
        while True:
            try:
                self._path = spare.pop()
                fd = os.open(self._path, _OPENED)
            except IndexError:
                fd = self._made()
            except FileNotFoundError:
                continue
            # Recovery may hold it for a moment and finds it empty.
            fcntl.flock(fd, fcntl.LOCK_EX)
            if os.fstat(fd).st_nlink:
                return fd
            os.close(fd)

    def _made(self) -> int:
        self._path, flags = f"{self._root}/{INTENTS}/{new_id()}", _OPENED | os.O_CREAT | os.O_EXCL
        try:
            return os.open(self._path, flags, 0o600)
        except FileNotFoundError:
            if not (self._root / MARK).exists():  # not mounted
                raise
            (self._root / INTENTS).mkdir(mode=0o700, exist_ok=True)
            return os.open(self._path, flags, 0o600)


def begun(intent: Intent | None, kind: str, **change: object) -> AbstractContextManager[None]:
    """As `Intent.about`; no-op without an intent."""
    return intent.about(kind, **change) if intent else nullcontext()


def end_all(intents: Sequence[Intent]) -> None:
    for intent in intents:
        intent.end()
