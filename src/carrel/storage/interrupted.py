"""Recovery of changes whose process was killed or gave up. See `intents`."""

import fcntl
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from carrel.core.errors import CarrelError
from carrel.storage import tree
from carrel.storage.intents import INTENTS, Done
from carrel.storage.paths import directory, joined, split

_AT_ONCE = 500
_OLD_S = 3600.0


class InterruptedChange:
    """An abandoned change, locked by this process while this is open."""

    def __init__(
        self, path: Path, fd: int, known: Mapping[str, Any], change: Mapping[str, Any], done: Any
    ) -> None:
        self.known = known
        self._path = path
        self._fd = fd
        self._change = change
        self._done = done

    def __del__(self) -> None:
        self.close()

    def done(self, files: Path, stage: Path) -> Done:
        """The part of the change that happened. files, stage: the current directories of the folder. Raises: OSError,
        StorageError.
        """
        if self._done is not None:
            return [(path, size) for path, size in self._done]
        change = self._change
        match change["kind"]:
            case "put":
                return [
                    (_placed(files, path, tree.Clash(change["clash"]), inode), size)
                    for name, path, size, inode in change["files"]
                    if tree.inode(stage, name) is None
                ]
            case "move":
                moves = change["moves"]
                return [(to, None) for path, to, inode in moves if inode != tree.inode(files, path)]
            case "remove":
                return [(path, None) for path, inode in change["paths"] if inode != tree.inode(files, path)]
            case "directory":
                return [(change["path"], None)] if tree.inode(files, change["path"]) is not None else []
            case "touch":
                return [(change["path"], None)] if _has_time(files, change) else []
            case "copy":
                ready = tree.inode(stage, change["name"]) is not None
                is_placed = ready and tree.inode(stage, joined(change["name"], "0")) is None
                return [(change["to"], None)] if is_placed else []
        return []

    def clear(self, stage: Path) -> None:
        """Delete its remains in the stage, except those that `staged.sweep` deletes."""
        if self._change["kind"] == "copy":
            tree.discard(stage, self._change["name"], lambda _: None)

    def end(self) -> None:
        self._path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Release it for a later attempt. Twice: no-op."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def left(root: Path) -> list[InterruptedChange]:
    """Abandoned changes; at most a limited number. Unreadable intents were never started."""
    intents: list[InterruptedChange] = []
    with suppress(FileNotFoundError), os.scandir(root / INTENTS) as entries:
        for entry in entries:
            if len(intents) == _AT_ONCE:
                break
            with suppress(FileNotFoundError, BlockingIOError):
                if taken := _taken(root / INTENTS / entry.name):
                    intents.append(taken)
    return intents


def held(root: Path) -> list[Mapping[str, Any]]:
    """The `known` part of changes that are in progress or abandoned."""
    intents: list[Mapping[str, Any]] = []
    with suppress(FileNotFoundError):
        for path in (root / INTENTS).iterdir():
            with suppress(FileNotFoundError, orjson.JSONDecodeError):
                intents.append(orjson.loads(path.read_bytes().partition(b"\n")[0])["known"])
    return intents


def _taken(path: Path) -> InterruptedChange | None:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        about = os.fstat(fd)
        first, _, second = os.pread(fd, about.st_size, 0).partition(b"\n")
        if about.st_nlink:
            with suppress(orjson.JSONDecodeError, KeyError):
                intent = orjson.loads(first)
                taken = InterruptedChange(path, fd, intent["known"], intent["change"], _settled(second))
                fd = -1
                return taken
            if about.st_mtime < time.time() - _OLD_S:
                path.unlink(missing_ok=True)
        return None
    finally:
        if fd >= 0:
            os.close(fd)


def _settled(line: bytes) -> Any:
    with suppress(orjson.JSONDecodeError, KeyError):
        return orjson.loads(line)["done"]
    return None


def _placed(files: Path, path: str, clash: tree.Clash, inode: int) -> str:
    """The path where it was placed; the intended path if it no longer exists."""
    above, name = split(path)
    with suppress(CarrelError), directory(files, above) as handle:
        for candidate in tree.candidates(name, clash):
            try:
                status = os.stat(candidate, dir_fd=handle, follow_symlinks=False)
            except FileNotFoundError:
                break
            if status.st_ino == inode:
                return joined(above, candidate)
    return path


def _has_time(files: Path, change: Mapping[str, Any]) -> bool:
    above, name = split(change["path"])
    with suppress(CarrelError, FileNotFoundError), directory(files, above) as handle:
        status = os.stat(name, dir_fd=handle, follow_symlinks=False)
        return bool(status.st_mtime_ns == change["modified_ns"])
    return False
