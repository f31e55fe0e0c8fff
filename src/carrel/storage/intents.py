"""Changes that are about to be made, each in a file of its own until it is in the audit trail.

A change is on disk before its entry can be committed, so that a kill in between would leave a change that nobody
knows of. Therefore what is about to be done is written first, beside the folders of its storage host, and emptied when
the entry is there. Whoever is at it holds a lock on the file, which ends with the process; of what nobody holds any
more, `interrupted` says what of it happened. Nothing here survives a power cut for certain: see
docs/decisions/0014.

An emptied file is used again, because a file system may take long to make a file after many were deleted: ext4 without
a journal passes over each inode that was deleted within the last minutes (`recently_deleted` in fs/ext4/ialloc.c).

A file has one line of JSON: `known`, who and what for, as the caller wants it; and `change`, of a kind:

- put: `files`, of each its name in the stage, path, bytes and inode; `clash`.
- move: `moves`, of each from where, to where, inode. remove: `paths`, of each the path and inode.
- directory: `path`. touch: `path`, `modified_ns`. copy: `to`, and the copy's `name` in the stage.

A second line, as soon as that is known: `done`, of each the path and bytes (null where they do not count).
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
"""Paths of emptied files that this process made, by root."""
_OPENED = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class Intent:
    """One change. root: the storage host's. known: who makes it, and what else its entry is to say."""

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
        """Within the block the change is made. When the block fails, and nothing has happened, it is forgotten."""
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
        """A part of it: it is not forgotten any more."""
        self._happened = True

    def settle(self, done: Done) -> None:
        """Say what has happened; of nothing, forget it."""
        if not done:
            self.end()
        elif self._fd >= 0:
            with suppress(OSError):  # then what happened is found out
                os.write(self._fd, orjson.dumps({"done": done}) + b"\n")

    def end(self) -> None:
        """It is in the audit trail, or did not happen. Twice: no-op."""
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
        """Leave it to whoever writes down what is left. Twice: no-op."""
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
            # Who has no room left must be able to delete; and what is not there says so by itself.
            if error.errno not in _FULL and not isinstance(error, FileNotFoundError):
                raise
            log.warning("intents.not_written", root=str(self._root), error=error.strerror)

    def _opened(self) -> int:
        """An empty file that we have the lock of."""
        spare = _spare.get(self._root, [])
        while True:
            try:
                self._path = spare.pop()
                fd = os.open(self._path, _OPENED)
            except IndexError:
                fd = self._made()
            except FileNotFoundError:
                continue
            # Somebody who looks for what is left may have it for a moment, and finds nothing in it.
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
    """As `Intent.about`; without an intent, nothing."""
    return intent.about(kind, **change) if intent else nullcontext()


def end_all(intents: Sequence[Intent]) -> None:
    for intent in intents:
        intent.end()
