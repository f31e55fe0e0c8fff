"""Headers of a tar file (POSIX.1-2001, pax) for plain files: those of `tarfile` take five times as long to make."""

from __future__ import annotations

import struct

BLOCK = 512
_HEADER = struct.Struct("100s8s8s8s12s12s8s1s100s6s2s32s32s8s8s155s12x")
_LONGEST_NAME = 100
_LARGEST = 8**11 - 1
_NO_CHECKSUM = b" " * 8


def header(path: str, *, size: int, mode: int, modified_s: float) -> bytes:
    """The header of a file. modified_s: with microseconds."""
    name = path.encode()
    records = b""
    if len(name) > _LONGEST_NAME or not path.isascii():
        records += _record(b"path", name)
        name = name[:_LONGEST_NAME]
    if size > _LARGEST:
        records += _record(b"size", b"%d" % size)
        size = 0
    seconds = int(modified_s)
    if seconds != modified_s or not 0 <= seconds <= _LARGEST:
        records += _record(b"mtime", b"%.6f" % modified_s)
        seconds = 0
    before = _block(b"pax", len(records), 0o644, 0, b"x") + padded(records) if records else b""
    return before + _block(name, size, mode, seconds, b"0")


def padded(content: bytes) -> bytes:
    """Padded with zeros to full blocks."""
    return content + bytes(-len(content) % BLOCK)


def _block(name: bytes, size: int, mode: int, seconds: int, kind: bytes) -> bytes:
    fields = (
        name,
        b"%07o\0" % mode,
        b"0000000\0",
        b"0000000\0",
        b"%011o\0" % size,
        b"%011o\0" % seconds,
        _NO_CHECKSUM,
        kind,
        b"",
        b"ustar\0",
        b"00",
        b"",
        b"",
        b"0000000\0",
        b"0000000\0",
        b"",
    )
    made = _HEADER.pack(*fields)
    return made[:148] + b"%06o\0 " % sum(made) + made[156:]


def _record(key: bytes, value: bytes) -> bytes:
    """A pax record: its own length, key and value."""
    rest = len(key) + len(value) + 3
    length = rest + len(str(rest))
    if len(str(length)) != len(str(rest)):
        length += 1
    return b"%d %s=%s\n" % (length, key, value)
