"""The engine's log, read on from where a reader is, with a notice where output is missing.

An engine keeps only the latest output, in two files of a limited size. What a container prints faster than it is read
is deleted, and the engine's stream may not say so: it jumps forward, begins a file anew, or ends.

- A reading begins shortly before the last record that the reader has. If the engine still has that record, it has
  everything after it, because it deletes the oldest first. If not, output may be missing: a notice.
- A jump forward in the times that the reader did not wait for may be a quiet time, or a deleted file. If the engine
  still has the record before it, nothing is missing; else the reading begins anew. So it does after a step back.
- If the last record is of an earlier container with the same id, the engine cannot have it: the next point applies.
- Before the first record, output is missing if it is late and the engine has as much as fills a file.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import cast

from carrel.core.units import format_size
from carrel.engines.port import Engine, LogRecord
from carrel.sessions.logs.records import NOTICE, full_lines
from carrel.sessions.logs.trail import Trail, moved

MISSING = b"--- output is missing here"
"""The beginning of a notice. How much is missing the engine does not tell: it is estimated from the output around."""
_JUMP = timedelta(milliseconds=100)
"""The shortest: no engine fills a file sooner."""
_WAITED_S = 0.05
"""A reader that has waited so long had read everything."""
_TRUSTED_S = 0.25
"""After a check without result. A file is not filled sooner."""
_TENTH = slice(0, 21)
_OLD = timedelta(milliseconds=200)
"""A record that was printed so long ago, and earlier than the one before it, is read for the second time. Otherwise the
clock was set back.
"""
_FILE_BYTES = 31 << 20
"""A little less than an engine keeps in one file."""
_LEAST_SPAN_S = 0.001
"""The shortest time of output from which more of it is estimated."""
_RECORD_BYTES = 70
"""What an engine stores for a record besides its content, about."""

Batches = AsyncIterator[Sequence[LogRecord]]


async def read_on(
    engine: Engine, container: str, trail: Trail, *, follow: bool, begun_at: datetime | None = None
) -> Batches:
    """Records after the trail, which is extended by them. begun_at: when the container began to run.

    Raises: as `Engine.logs`.
    """
    check = _Check(engine, container)
    again = begins = True
    while again:
        again = False
        resumption = trail.resume()
        joined = trail.last is None
        stream = engine.logs(container, follow=follow, since=resumption.since)
        async with aclosing(cast("AsyncGenerator[Sequence[LogRecord]]", stream)) as batches:
            loop = asyncio.get_running_loop()
            asked_at = loop.time()
            async for records in batches:
                unsure = begins and trail.last is None and begun_at and _is_late(records[0], begun_at)
                begins = False
                waited = loop.time() - asked_at >= _WAITED_S
                new = resumption.new(records)
                if unsure and begun_at and await check.lacks_beginning(begun_at):
                    start = _time(begun_at)
                    yield [LogRecord(start, NOTICE, _notice((), new, start))]
                if new and not joined:
                    joined = waited = True
                    if not resumption.met and not await check.begins_anew(trail.last, begun_at):
                        passed = [record for batch in trail for record in batch]
                        yield [LogRecord(new[0].at, NOTICE, _notice(passed, new, passed[-1].at))]
                jump = await check.jump(trail.last, new, waited=waited)
                again = jump is not None
                trail.add(new[:jump])
                if new[:jump]:
                    yield new[:jump]
                if again:
                    break
                asked_at = loop.time()


def _notice(before: Sequence[LogRecord], after: Sequence[LogRecord], since: bytes) -> bytes:
    """Tells that output is missing from this time to the first record after, and how much if it was printed as fast as
    the records around.
    """
    span = lines = size = 0.0
    for records in (before, after):
        if len(records) > 1:
            span += max(_seconds(records[0].at, records[-1].at), 0)
            lines += full_lines(records)
            size += sum(len(record.content) for record in records)
    missing_s = _seconds(since, after[0].at)
    amount = ""
    if span > _LEAST_SPAN_S and missing_s > 0:
        share = missing_s / span
        amount = f", about {_rounded(lines * share):,} lines ({format_size(_rounded(size * share))})"
    return MISSING + f"{amount}: it was printed faster than it could be read ---\n".encode()


def _rounded(number: float) -> int:
    """To two digits, as it is an estimate."""
    whole = round(number)
    return round(whole, 2 - len(str(whole)))


class _Check:
    """Whether the engine has skipped output."""

    def __init__(self, engine: Engine, container: str) -> None:
        self._engine = engine
        self._container = container
        self._trusted_until = 0.0

    async def jump(self, last: LogRecord | None, new: Sequence[LogRecord], *, waited: bool) -> int | None:
        """The index of the record before which output is missing; None: nothing is."""
        if not new or (last is None and len(new) == 1):
            return None
        before = last or new[0]
        for index, record in enumerate(new):
            # Most records are of the same tenth of a second.
            if record.at[_TENTH] != before.at[_TENTH]:
                if record.at < moved(before.at, -_JUMP) and _age(record) > _OLD:
                    return index
                later = record.at > moved(before.at, _JUMP) and not (waited and index == 0)
                if later and not await self._is_complete(before):
                    return index
            before = record
        return None

    async def _is_complete(self, record: LogRecord) -> bool:
        """True if the engine has the record, and so everything after it."""
        loop = asyncio.get_running_loop()
        if loop.time() < self._trusted_until:
            return True
        stream = self._engine.logs(self._container, follow=False, since=record.at)
        async with aclosing(cast("AsyncGenerator[Sequence[LogRecord]]", stream)) as batches:
            async for records in batches:
                if record.at in {one.at for one in records}:
                    self._trusted_until = loop.time() + _TRUSTED_S
                    return True
                return False
        return False

    async def begins_anew(self, last: LogRecord | None, begun_at: datetime | None) -> bool:
        """True if the record is of an earlier container, and the engine has the output of this one from its start."""
        if last is None or begun_at is None or last.at >= _time(begun_at):
            return False
        return not await self.lacks_beginning(begun_at)

    async def lacks_beginning(self, begun_at: datetime) -> bool:
        """True if the engine has probably deleted the first output."""
        size, first = 0, True
        stream = self._engine.logs(self._container, follow=False)
        async with aclosing(cast("AsyncGenerator[Sequence[LogRecord]]", stream)) as batches:
            async for records in batches:
                if first and not _is_late(records[0], begun_at):
                    return False
                first = False
                size += sum(_RECORD_BYTES + len(record.content) for record in records)
                if size >= _FILE_BYTES:
                    return True
        return False


def _time(moment: datetime) -> bytes:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}000Z".encode()


def _is_late(record: LogRecord, begun_at: datetime) -> bool:
    """True if it may not be the first of a container that has begun then."""
    return record.at >= _time(begun_at + 5 * _JUMP)


def _moment(at: bytes) -> datetime:
    return datetime.fromisoformat(at[:26].decode() + "+00:00")


def _seconds(since: bytes, until: bytes) -> float:
    return (_moment(until) - _moment(since)).total_seconds()


def _age(record: LogRecord) -> timedelta:
    return datetime.now(UTC) - _moment(record.at)
