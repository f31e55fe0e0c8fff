"""What a request asks of a log, and how it is sent. Pure, but for the members that `piece_text` reads."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

import orjson

from carrel.engines.port import LogRecord
from carrel.sessions.logs.blocks import LogBlock, unpack
from carrel.sessions.logs.records import NOTICE, STREAMS, decode, full_lines

_NAMES = {NOTICE: "carrel"} | {number: name.decode() for number, name in STREAMS.items()}
ALL_STREAMS = frozenset(STREAMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogQuery:
    """attempt: None: all. since, until: as in `LogRecord.at`. tail: lines, of those that match. search: part of a line,
    in lower case.
    """

    attempt: int | None = None
    since: bytes | None = None
    until: bytes | None = None
    tail: int | None = None
    search: bytes = b""
    streams: frozenset[int] = ALL_STREAMS

    @property
    def is_filter(self) -> bool:
        """True if some lines may not match."""
        return bool(self.search or self.since or self.until) or self.streams != ALL_STREAMS

    def matching(self, records: Sequence[LogRecord]) -> Sequence[LogRecord]:
        if not self.is_filter:
            return records
        return [
            record
            for record in records
            if record.stream in self.streams
            and (self.since is None or record.at >= self.since)
            and (self.until is None or record.at < self.until)
            and (not self.search or self.search in record.content.lower())
        ]

    def may_match(self, member: LogBlock) -> bool:
        """False if no record of it matches."""
        return (self.since is None or member.last_at >= self.since) and (
            self.until is None or member.first_at < self.until
        )


@dataclass(frozen=True, slots=True)
class LogPart:
    """A member to send. gap: lines missing before it. skipped: lines of it that are not sent."""

    member: LogBlock
    gap: int = 0
    skipped: int = 0

    def records(self, query: LogQuery) -> Sequence[LogRecord]:
        records = _skip(_matching(self.member, query), self.skipped)
        if self.gap and not query.is_filter:
            text = b"--- %d lines are not kept ---\n" % self.gap
            return [LogRecord(self.member.first_at, NOTICE, text), *records]
        return records


def pieces_of(attempts: Iterable[Sequence[LogBlock]], query: LogQuery) -> list[LogPart]:
    """What a query reads of a stored log, without regard to its tail."""
    pieces: list[LogPart] = []
    for members in attempts:
        expected = 0
        for member in members:
            if member.lines or not member.ended:
                pieces.append(LogPart(member, gap=member.first_line - expected))
            expected = member.first_line + member.lines
    return [piece for piece in pieces if query.may_match(piece.member)]


def last_pieces(pieces: Sequence[LogPart], query: LogQuery, lines: int) -> list[LogPart]:
    """The end of them with so many matching lines. Reads members if the query filters."""
    chosen: list[LogPart] = []
    for piece in reversed(pieces):
        if lines <= 0:
            break
        own = full_lines(_matching(piece.member, query)) if query.is_filter else piece.member.lines
        chosen.append(replace(piece, skipped=max(own - lines, 0)))
        lines -= own
    if chosen:
        chosen[-1] = replace(chosen[-1], gap=0)
    return chosen[::-1]


def _matching(member: LogBlock, query: LogQuery) -> Sequence[LogRecord]:
    text = unpack(member)
    if query.search and query.search not in text.lower():
        return []
    return query.matching(decode(text))


def _skip(records: Sequence[LogRecord], lines: int) -> Sequence[LogRecord]:
    """Without its first lines."""
    at = 0
    while lines and at < len(records):
        lines -= records[at].content[-1:] == b"\n"
        at += 1
    return records[at:]


class LogFormat(Protocol):
    """How records are sent. Stateful: one for each response."""

    media_type: str

    def __call__(self, records: Iterable[LogRecord]) -> bytes: ...


class TextFormat:
    """The output itself, or each line after its time."""

    media_type = "text/plain; charset=utf-8"

    def __init__(self, *, timestamps: bool) -> None:
        self._timestamps = timestamps
        self._continued: set[int] = set()

    def __call__(self, records: Iterable[LogRecord]) -> bytes:
        if not self._timestamps:
            return b"".join(record.content for record in records)
        return b"".join(self._timed(records))

    def _timed(self, records: Iterable[LogRecord]) -> Iterator[bytes]:
        for at, stream, content in records:
            if stream not in self._continued:
                yield (at or b"-") + b" "
            yield content
            (self._continued.discard if content[-1:] == b"\n" else self._continued.add)(stream)


class JsonFormat:
    """One object per line: at, stream, text and, if the line goes on in the next one of the stream, partial."""

    media_type = "application/x-ndjson"

    def __call__(self, records: Iterable[LogRecord]) -> bytes:
        return b"".join(
            orjson.dumps(
                {
                    "at": at.decode() or None,
                    "stream": _NAMES[stream],
                    "text": content.decode("utf-8", "replace").removesuffix("\n"),
                }
                | ({} if content[-1:] == b"\n" else {"partial": True}),
                option=orjson.OPT_APPEND_NEWLINE,
            )
            for at, stream, content in records
        )


def time_of(moment: datetime) -> bytes:
    """As in `LogRecord.at`."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}000Z".encode()
