"""Where a reader is in a log, so that it goes on from another source, or after a break, without gaps and repeats."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from carrel.engines.port import LogRecord

_KEPT_BATCHES = 16
_OVERLAP = timedelta(milliseconds=100)
"""Engines receive stdout and stderr concurrently, so times are slightly out of order."""


class Trail:
    """The last batches of records that a reader has passed; bounded, because lines may be long."""

    def __init__(self, batches: Iterable[Sequence[LogRecord]] = ()) -> None:
        self._recent = deque(batches, _KEPT_BATCHES)

    def __iter__(self) -> Iterator[Sequence[LogRecord]]:
        return iter(self._recent)

    def add(self, records: Sequence[LogRecord]) -> None:
        if records:
            self._recent.append(records)

    @property
    def last(self) -> LogRecord | None:
        """The last record that the reader has passed."""
        return self._recent[-1][-1] if self._recent else None

    def resume(self) -> "Resumption":
        """How to go on after them."""
        if not self._recent:
            return Resumption(None, Counter())
        since = moved(self._recent[-1][-1].at, -_OVERLAP)
        if len(self._recent) == _KEPT_BATCHES:
            since = max(since, self._recent[0][0].at)
        recent = (record for records in self._recent for record in records)
        return Resumption(since, Counter(record for record in recent if record.at >= since))


class Resumption:
    """since: the time from which the source must be read again; None: from its start. met: the source has had a record
    that was passed before.
    """

    def __init__(self, since: bytes | None, seen: Counter[LogRecord]) -> None:
        self.since = since
        self._seen = seen
        self.met = False
        self._until = moved(max(record.at for record in seen), _OVERLAP) if seen else b""

    def new(self, records: Sequence[LogRecord]) -> Sequence[LogRecord]:
        """Those that were not passed before."""
        if not self._seen:
            return records
        fresh: list[LogRecord] = []
        since = self.since or b""
        for record in records:
            if self._seen[record] > 0:
                self._seen[record] -= 1
                self.met = True
            elif record.at >= since:
                fresh.append(record)
        if records and records[-1].at > self._until:
            self._seen.clear()
        return fresh


def moved(at: bytes, by: timedelta) -> bytes:
    """The time, as in `LogRecord.at`, moved by whole microseconds."""
    text = at.decode()
    moment = datetime.fromisoformat(text[:26]) + by
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}{text[26:29]}Z".encode()
