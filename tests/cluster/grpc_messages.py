"""The few messages of plug-ins of the kubelet, encoded by hand: they have only texts and messages."""

from collections.abc import Iterator

_LENGTH_DELIMITED = 2


def _number(value: int) -> bytes:
    """A varint."""
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _number(rest) if rest else bytes([low])


def field(number: int, content: bytes) -> bytes:
    """A field with these bytes: a message, or a text."""
    return _number(number << 3 | _LENGTH_DELIMITED) + _number(len(content)) + content


def text(number: int, value: str) -> bytes:
    """A field with a text."""
    return field(number, value.encode())


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message that has only texts and messages."""
    at = 0

    def read() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag, length = read(), read()
        assert tag & 7 == _LENGTH_DELIMITED
        yield tag >> 3, message[at : at + length]
        at += length
