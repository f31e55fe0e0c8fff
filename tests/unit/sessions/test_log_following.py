"""Reading on in an engine's log that has lost output."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta

from carrel.engines.port import LogRecord
from carrel.sessions.logs.following import MISSING, read_on
from carrel.sessions.logs.records import NOTICE, decode, encode
from carrel.sessions.logs.trail import Trail

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def record(ms: int, text: str = "") -> LogRecord:
    at = NOON + timedelta(milliseconds=ms)
    return LogRecord(f"{at:%Y-%m-%dT%H:%M:%S.%f}000Z".encode(), 1, (text or f"{ms}").encode() + b"\n")


class Ring:
    """An engine that has these records; a stream may skip some that it still has, or has no more."""

    def __init__(self, *has: LogRecord, streams: Sequence[Sequence[LogRecord]] = ()) -> None:
        self.has = list(has)
        self.streams = list(streams)
        self.reads = 0

    async def logs(
        self, container: str, *, follow: bool, tail: int | None = None, since: bytes | None = None
    ) -> AsyncIterator[Sequence[LogRecord]]:
        self.reads += 1
        if follow and self.streams:
            yield self.streams.pop(0)
        elif some := [one for one in self.has if since is None or one.at >= since]:
            yield some


async def read(ring: Ring, *passed: LogRecord, begun_at: datetime | None = None) -> list[str]:
    trail = Trail([list(passed)] if passed else [])
    texts: list[str] = []
    async for records in read_on(ring, "c", trail, follow=True, begun_at=begun_at):  # type: ignore[arg-type]
        texts += ["?" if one.stream == NOTICE else one.content.decode().strip() for one in records]
    return texts


async def test_a_reader_that_finds_its_last_record_again_has_missed_nothing():
    assert await read(Ring(record(0), record(10), record(20)), record(0), record(10)) == ["20"]
    assert await read(Ring(record(0), record(10)), record(0), record(10)) == []


async def test_what_the_engine_has_deleted_before_it_is_read_leaves_a_notice():
    assert await read(Ring(record(500), record(510)), record(0), record(10)) == ["?", "500", "510"]


async def notices(ring: Ring, *passed: LogRecord, begun_at: datetime | None = None) -> list[bytes]:
    trail = Trail([list(passed)] if passed else [])
    read = read_on(ring, "c", trail, follow=True, begun_at=begun_at)  # type: ignore[arg-type]
    return [one.content async for records in read for one in records if one.stream == NOTICE]


async def test_a_notice_estimates_what_is_missing_by_the_output_around():
    before = [record(ms, "x" * 99) for ms in range(0, 1000, 10)]
    after = [record(ms, "x" * 99) for ms in range(21_000, 22_000, 10)]
    [notice] = await notices(Ring(*after), *before)
    assert notice == (
        b"--- output is missing here, about 2,000 lines (195.3 KiB): it was printed faster than it could be read ---\n"
    )
    large = [record(ms, "x" * (1 << 20)) for ms in range(2000, 2400, 10)]
    [beginning] = await notices(Ring(*large), begun_at=NOON)
    assert b"about 200 lines (209.8 MiB)" in beginning
    # One record tells nothing about a rate.
    [alone] = await notices(Ring(record(500)), record(0))
    assert alone == b"--- output is missing here: it was printed faster than it could be read ---\n"


async def test_a_quiet_time_is_no_loss():
    quiet = Ring(record(0), record(5000), record(9000))
    assert await read(quiet) == ["0", "5000", "9000"]
    # The trust in a complete log is not checked again for each of many pauses.
    pauses = Ring(*(record(1000 * second) for second in range(60)))
    assert len(await read(pauses)) == 60
    assert pauses.reads < 10


async def test_a_jump_in_the_stream_is_read_again_from_what_is_left_with_a_notice():
    # The stream jumps from 20 to 9000; the engine has deleted what was before 4000.
    left = [record(4000), record(4010), record(9000), record(9010)]
    ring = Ring(*left, streams=[[record(0), record(20), record(9000), record(9010)]])
    assert await read(ring) == ["0", "20", "?", "4000", "4010", "9000", "9010"]


async def test_records_that_come_again_are_not_repeated():
    # Docker 20.10 begins its older file anew.
    ring = Ring(
        *(record(ms) for ms in range(0, 500, 50)),
        streams=[[*(record(ms) for ms in range(0, 400, 50)), record(50), record(450)]],
    )
    assert await read(ring) == [str(ms) for ms in range(0, 500, 50)]


async def test_a_beginning_that_is_late_and_large_leaves_a_notice():
    large = [record(800, "x" * (8 << 20)), *(record(810 + ms, "x" * (8 << 20)) for ms in range(4))]
    assert (await read(Ring(*large), begun_at=NOON))[0] == "?"
    assert (await read(Ring(*large), begun_at=NOON + timedelta(milliseconds=700)))[0] != "?"
    assert await read(Ring(record(800)), begun_at=NOON) == ["800"]


def test_a_notice_is_stored_with_its_stream():
    notice = LogRecord(record(0).at, NOTICE, MISSING + b" ---\n")
    assert decode(encode([notice, record(1)])) == [notice, record(1)]
