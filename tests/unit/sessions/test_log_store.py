"""The log files of containers: what is written is read again, whatever happened in between."""

import gzip
import random
import subprocess
from itertools import count, pairwise
from pathlib import Path

import pytest

from carrel.core.ids import ContainerId
from carrel.engines.port import LogRecord
from carrel.sessions.logs import blocks, store
from carrel.sessions.logs.records import decode, encode
from carrel.sessions.logs.store import LogStore, Superseded, trail_of
from carrel.sessions.logs.trail import Trail

CONTAINER = ContainerId("abcdefghijkl")


def record(number: int, content: bytes = b"", stream: int = 1) -> LogRecord:
    """One millisecond after the one before."""
    at = b"2026-01-02T03:04:%02d.%03d000000Z" % divmod(number, 1000)
    return LogRecord(at, stream, content or b"line %d\n" % number)


def numbered(*numbers: int) -> list[LogRecord]:
    return [record(number) for number in numbers]


def stored(logs: LogStore, attempt: int | None = None) -> list[LogRecord]:
    return [
        one
        for parts in logs.index(CONTAINER, attempt)
        for member in parts
        for one in decode(blocks.unpack(member))
    ]


@pytest.fixture
def logs(tmp_path: Path) -> LogStore:
    return LogStore(tmp_path / store.DIRECTORY)


def file_of(logs: LogStore) -> Path:
    return logs.segments(CONTAINER)[-1].path


def test_records_are_read_as_they_were_written() -> None:
    records = [
        record(1, b"plain\n"),
        record(2, b"err\r\n", 2),
        record(3, b"part of a long line", 2),
        record(4, b"\n"),
        record(5, b"\xff\x00 and blanks \n"),
        record(6, b"no break at the end"),
    ]
    assert decode(encode(records)) == records
    assert encode(records[:1]) == b"2026-01-02T03:04:00.001000000Z stdout F plain\n"


def test_file_is_gzip_that_other_tools_read(logs: LogStore) -> None:
    writer = logs.writer(CONTAINER, None)
    writer.append(numbered(1, 2))
    writer.append(numbered(3))
    writer.end()
    assert gzip.decompress(file_of(logs).read_bytes()) == encode(numbered(1, 2, 3))
    shown = subprocess.run(["zcat", file_of(logs)], capture_output=True, check=True)
    assert shown.stdout == encode(numbered(1, 2, 3))
    [parts] = logs.index(CONTAINER)
    assert [(one.first_line, one.lines, one.ended) for one in parts] == [
        (0, 2, False),
        (2, 1, False),
        (3, 0, True),
    ]
    assert (parts[0].first_at, parts[0].last_at) == (record(1).at, record(2).at)


@pytest.mark.parametrize("left", [1, 50, 120])
def test_member_that_a_crash_cut_off_is_dropped_and_written_again(logs: LogStore, left: int) -> None:
    first = logs.writer(CONTAINER, None)
    first.append(numbered(1, 2))
    first.append(numbered(*range(3, 200)))
    path = file_of(logs)
    content = path.read_bytes()
    boundary = logs.index(CONTAINER)[0][1].offset
    path.write_bytes(content[: boundary + left])
    assert stored(logs) == numbered(1, 2)
    again = logs.writer(CONTAINER, None)
    missing = again.trail.resume().new(numbered(*range(1, 200)))
    assert missing == numbered(*range(3, 200))
    again.append(missing)
    assert path.read_bytes() == content


def test_member_without_content_after_a_power_cut_is_written_again(logs: LogStore) -> None:
    writer = logs.writer(CONTAINER, None)
    writer.append(numbered(1))
    writer.append(numbered(2))
    path = file_of(logs)
    last = logs.index(CONTAINER)[0][1]
    content = bytearray(path.read_bytes())
    content[last.offset + 100 :] = bytes(len(content) - last.offset - 100)
    path.write_bytes(content)
    again = logs.writer(CONTAINER, None)
    again.append(again.trail.resume().new(numbered(1, 2)))
    assert stored(logs) == numbered(1, 2)


def test_records_with_equal_times_are_neither_lost_nor_repeated() -> None:
    same = [record(207, b"same\n"), record(207, b"same\n"), record(207, b"other\n", 2)]
    seen = Trail([[record(206), *same[:2]]]).resume()
    assert seen.since is not None
    assert record(50).at < seen.since < record(206).at
    late = record(205, b"out of order\n", 2)
    assert list(seen.new([record(50), record(206), late, same[0], same[1], same[2], same[0]])) == [
        late,
        same[2],
        same[0],
    ]


def test_policy_keeps_the_head_and_the_newest(logs: LogStore) -> None:
    writer = logs.writer(CONTAINER, 1 << 20)
    numbers = count()
    seeded = random.Random(1)
    lines = [seeded.randbytes(50).hex().encode() + b"\n" for _ in range(60_000)]
    for at in range(0, len(lines), 200):
        writer.append([record(next(numbers) % 60_000, one) for one in lines[at : at + 200]])
    size = sum(one.path.stat().st_size for one in logs.segments(CONTAINER))
    assert (1 << 20) * 0.7 < size <= 1 << 20
    kept = [one.content for one in stored(logs)]
    assert (kept[0], kept[-1]) == (lines[0], lines[-1])
    [parts] = logs.index(CONTAINER)
    gaps = [after.first_line - before.first_line - before.lines for before, after in pairwise(parts)]
    assert sum(gaps) == len(lines) - len(kept)
    assert sum(gap > 0 for gap in gaps) == 1
    # It goes on there.
    logs.writer(CONTAINER, 1 << 20).append([record(59_999, b"last\n")])
    assert logs.index(CONTAINER)[0][-1].first_line == len(lines)


def test_next_attempt_begins_after_the_end(logs: LogStore) -> None:
    assert logs.current_attempt(CONTAINER) == 1
    logs.writer(CONTAINER, None).end()
    assert logs.segments(CONTAINER) == [], "nothing was printed"
    writer = logs.writer(CONTAINER, None)
    writer.append(numbered(1))
    assert logs.current_attempt(CONTAINER) == 1
    writer.end()
    assert logs.current_attempt(CONTAINER) == 2
    writer = logs.writer(CONTAINER, None)
    assert writer.trail.resume().since is None
    writer.append(numbered(2))
    assert stored(logs, 1) == numbered(1)
    assert stored(logs, 2) == numbered(2)
    assert stored(logs) == numbered(1, 2)


def test_writer_that_was_superseded_does_not_write(logs: LogStore) -> None:
    old, new = logs.writer(CONTAINER, None), logs.writer(CONTAINER, None)
    new.append(numbered(1))
    with pytest.raises(Superseded):
        old.append(numbered(1))
    assert stored(logs) == numbered(1)


def test_almost_full_disk_drops_lines_and_counts_them(
    logs: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = logs.writer(CONTAINER, None)
    writer.append(numbered(1))
    with monkeypatch.context() as patch:
        patch.setattr(LogStore, "has_space", lambda self: False)
        with pytest.raises(OSError, match="almost full"):
            writer.append(numbered(2, 3))
    writer.append(numbered(4))
    assert stored(logs) == numbered(1, 4)
    assert logs.index(CONTAINER)[0][1].first_line == 3


def test_trail_of_a_stored_log_is_its_end(logs: LogStore) -> None:
    writer = logs.writer(CONTAINER, None)
    for at in range(0, 5000, 100):
        writer.append(numbered(*range(at, at + 100)))
    resumption = trail_of(logs.index(CONTAINER)[0]).resume()
    assert resumption.since == record(4899).at
    assert list(resumption.new(numbered(*range(4899, 5010)))) == numbered(*range(5000, 5010))
