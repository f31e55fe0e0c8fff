"""Log records as lines of text, in the format of Kubernetes' container runtime interface (CRI): time, stream, F for a
full line or P for a part of one, and the content.
"""

from collections.abc import Iterable, Sequence

from carrel.engines.port import LogRecord

STREAMS = {1: b"stdout", 2: b"stderr"}
NOTICE = 0
"""The stream of records that Carrel itself inserts."""
_WORDS = STREAMS | {NOTICE: b"carrel"}
_NUMBERS = {name: number for number, name in _WORDS.items()}
_AT = slice(0, 30)
_STREAM = slice(31, 37)
_FULL = 38
_CONTENT = 40


def encode(records: Iterable[LogRecord]) -> bytes:
    """One line for each record."""
    lines: list[bytes] = []
    for at, stream, content in records:
        if content[-1:] == b"\n":
            lines.append(b"%b %b F %b" % (at, _WORDS[stream], content))
        else:
            lines.append(b"%b %b P %b\n" % (at, _WORDS[stream], content))
    return b"".join(lines)


def decode(text: bytes) -> list[LogRecord]:
    """The records of `encode`."""
    return [
        LogRecord(
            line[_AT],
            _NUMBERS[line[_STREAM]],
            line[_CONTENT:] + b"\n" if line[_FULL] == _F else line[_CONTENT:],
        )
        for line in text.split(b"\n")[:-1]
    ]


def full_lines(records: Sequence[LogRecord]) -> int:
    """The number of line breaks."""
    return sum(record.content[-1:] == b"\n" for record in records)


_F = ord("F")
