"""The log files of containers: `<data directory>/session-logs/<first two letters>/<container>.<attempt>.<segment>.gz`.

An attempt is one life of a container in its engine: when it is removed and created again, the next one begins. A
segment is a part of an attempt; the policy's size is kept by deleting segments, so that the first one and the newest
remain. The sum of the lines of deleted segments follows from the line numbers in the members around them.
"""

import asyncio
import fcntl
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

from carrel.core.ids import ContainerId
from carrel.engines.port import LogRecord
from carrel.sessions.logs.blocks import LogBlock, Summary, pack, scan, unpack
from carrel.sessions.logs.records import decode, encode, full_lines
from carrel.sessions.logs.trail import Trail

T = TypeVar("T")
P = ParamSpec("P")

DIRECTORY = "session-logs"
_SEGMENTS = 8
_LEAST_SEGMENT_BYTES = 64 << 10
_NAME = re.compile(r"(?P<container>[a-z0-9]+)\.(?P<attempt>\d+)\.(?P<segment>\d+)\.gz")
_TRAIL_MEMBERS = 16
_RESERVED_BYTES, _RESERVED_SHARE = 512 << 20, 0.05


class Superseded(Exception):
    """Another controller has written meanwhile."""


@dataclass(frozen=True, slots=True, order=True)
class Segment:
    attempt: int
    number: int
    path: Path


class LogStore:
    """root: `DIRECTORY` in the data directory; created when needed."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def do(self, work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Run work on the files, which blocks, in a thread."""
        return await asyncio.to_thread(work, *arguments, **options)

    def segments(self, container: ContainerId) -> list[Segment]:
        """The files of a container, oldest first."""
        try:
            names = os.listdir(self._root / container[:2])
        except FileNotFoundError:
            return []
        matches = [_NAME.fullmatch(name) for name in names if name.startswith(f"{container}.")]
        return sorted(
            Segment(int(match["attempt"]), int(match["segment"]), self._root / container[:2] / match[0])
            for match in matches
            if match and match["container"] == container
        )

    def index(self, container: ContainerId, attempt: int | None = None) -> list[list[LogBlock]]:
        """The members of each attempt, oldest first; only of one if given."""
        attempts: dict[int, list[LogBlock]] = {}
        for segment in self.segments(container):
            if attempt in (None, segment.attempt):
                attempts.setdefault(segment.attempt, []).extend(scan(segment.path))
        return list(attempts.values())

    def current_attempt(self, container: ContainerId) -> int:
        """The attempt to which the next output belongs; the first is 1."""
        segments = self.segments(container)
        if not segments:
            return 1
        members = scan(segments[-1].path)
        return segments[-1].attempt + bool(members and members[-1].ended)

    def path(self, container: ContainerId, attempt: int, segment: int) -> Path:
        return self._root / container[:2] / f"{container}.{attempt}.{segment:05}.gz"

    def writer(self, container: ContainerId, most_bytes: int | None) -> "LogWriter":
        """Goes on after the last complete member. most_bytes: compressed, for all attempts; None: no limit."""
        return LogWriter(self, container, most_bytes)

    def has_space(self) -> bool:
        """False if writing would take the space that the database needs."""
        place = next((one for one in (self._root, *self._root.parents) if one.is_dir()), self._root)
        disk = os.statvfs(place)
        reserved = min(_RESERVED_BYTES, disk.f_blocks * disk.f_frsize * _RESERVED_SHARE)
        return disk.f_bavail * disk.f_frsize > reserved


def trail_of(members: Sequence[LogBlock]) -> Trail:
    """The end of a stored log. members: of one attempt."""
    trail = Trail()
    for member in members[-_TRAIL_MEMBERS:]:
        trail.add(decode(unpack(member)))
    return trail


class LogWriter:
    """Appends to the log of one container. Its methods block on the disk."""

    def __init__(self, store: LogStore, container: ContainerId, most_bytes: int | None) -> None:
        self._store = store
        self._container = container
        self._most_bytes = most_bytes
        segments = store.segments(container)
        self._attempt, self._segment, self._next_line = 1, 0, 0
        self._size = self._size_before = 0
        self.trail = Trail()
        """Where to go on reading the engine's log."""
        if not segments:
            return
        attempt = [one for one in segments if one.attempt == segments[-1].attempt]
        members = [member for one in attempt for member in scan(one.path)]
        if members and members[-1].ended:
            self._attempt = attempt[-1].attempt + 1
            return
        self._attempt, self._segment = attempt[-1].attempt, attempt[-1].number
        # After a power cut the last member may have its size but not its content.
        if members and not unpack(members[-1]):
            members.pop()
        if members:
            self._next_line = members[-1].first_line + members[-1].lines
            self.trail = trail_of(members)
            if members[-1].path == attempt[-1].path:
                self._size = members[-1].offset + members[-1].size
        self._size_before = attempt[-1].path.stat().st_size

    def append(self, records: Sequence[LogRecord]) -> None:
        """Store them. Raises: OSError, Superseded; the records are then dropped, and counted as lines."""
        times = [record.at for record in records]
        about = Summary(self._next_line, full_lines(records), min(times), max(times))
        self._next_line += about.lines
        if not self._store.has_space():
            raise OSError("the disk is almost full")
        self._write(pack(encode(records), about))

    def end(self) -> None:
        """The container is gone: later output belongs to the next attempt. Raises: OSError, Superseded."""
        if self._size:
            now = b"0" * 30
            self._write(pack(b"", Summary(self._next_line, 0, now, now, ended=True)))

    def _write(self, member: bytes) -> None:
        if self._most_bytes is not None and self._size:
            segment_bytes = max(self._most_bytes // _SEGMENTS, _LEAST_SEGMENT_BYTES)
            if self._size + len(member) > segment_bytes:
                self._segment, self._size, self._size_before = self._segment + 1, 0, 0
                self._trim(self._most_bytes - segment_bytes)
        path = self._store.path(self._container, self._attempt, self._segment)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file.fileno()).st_size != self._size_before:
                raise Superseded
            # Cuts off an incomplete member.
            os.ftruncate(file.fileno(), self._size)
            file.seek(self._size)
            written = 0
            try:
                while written < len(member):
                    written += file.write(member[written:])
            except OSError:
                os.ftruncate(file.fileno(), self._size)
                self._size_before = self._size
                raise
        self._size += len(member)
        self._size_before = self._size

    def _trim(self, most_bytes: int) -> None:
        """Delete the oldest segments but the first and the last, down to this size."""
        segments = self._store.segments(self._container)
        sizes = {one: one.path.stat().st_size for one in segments}
        total = sum(sizes.values())
        for segment in segments[1:-1]:
            if total <= most_bytes:
                return
            segment.path.unlink(missing_ok=True)
            total -= sizes[segment]
