"""The file format: a gzip file of independent members, each with its size and content summary in its header.

So any tool reads the file (`zcat`), a reader seeks by time and line number without decompressing, and a member that
was cut off by a crash is recognised and dropped. Source: RFC 1952, 2.3.1.1 (extra field), as used by BGZF.
"""

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

_LEVEL = 3
_FIXED = b"\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff"
_SUMMARY = struct.Struct("<IQI?30s30s")
_EXTRA = struct.Struct("<H2sH")
_FIELD = b"CL"
_HEADER_BYTES = len(_FIXED) + _EXTRA.size + _SUMMARY.size
_TRAILER_BYTES = 8


@dataclass(frozen=True, slots=True)
class LogBlock:
    """offset, size: of its bytes in the file. first_line: number of lines of the attempt before it, including those
    that were dropped. first_at, last_at: the earliest and latest record. ended: the attempt ends with it.
    """

    path: Path
    offset: int
    size: int
    first_line: int
    lines: int
    first_at: bytes
    last_at: bytes
    ended: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """What a member says about its content; see `LogBlock`."""

    first_line: int
    lines: int
    first_at: bytes
    last_at: bytes
    ended: bool = False


def pack(text: bytes, about: Summary) -> bytes:
    """The bytes of a member."""
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = compressor.compress(text) + compressor.flush()
    size = _HEADER_BYTES + len(body) + _TRAILER_BYTES
    summary = _SUMMARY.pack(size, about.first_line, about.lines, about.ended, about.first_at, about.last_at)
    extra = _EXTRA.pack(4 + len(summary), _FIELD, len(summary)) + summary
    trailer = struct.pack("<II", zlib.crc32(text), len(text) & 0xFFFFFFFF)
    return _FIXED + extra + body + trailer


def scan(path: Path) -> list[LogBlock]:
    """The complete members of a file, in order; none if it does not exist."""
    members: list[LogBlock] = []
    try:
        with path.open("rb", buffering=0) as file:
            end = file.seek(0, 2)
            offset = 0
            while offset + _HEADER_BYTES + _TRAILER_BYTES <= end:
                file.seek(offset)
                header = file.read(_HEADER_BYTES)
                if not header.startswith(_FIXED[:4]) or header[12:14] != _FIELD:
                    break
                size, first_line, lines, ended, first_at, last_at = _SUMMARY.unpack_from(
                    header, _HEADER_BYTES - _SUMMARY.size
                )
                if size <= _HEADER_BYTES or offset + size > end:
                    break
                members.append(LogBlock(path, offset, size, first_line, lines, first_at, last_at, ended))
                offset += size
    except FileNotFoundError:
        return []
    return members


def unpack(member: LogBlock) -> bytes:
    """Its text; empty if the file is gone or the member is damaged, because a log is shown as far as it can be."""
    try:
        with member.path.open("rb", buffering=0) as file:
            file.seek(member.offset)
            return zlib.decompress(file.read(member.size), 16 + zlib.MAX_WBITS)
    except (FileNotFoundError, zlib.error):
        return b""
