"""Selection of entries from a tar that arrives in chunks, without holding the content of its files."""

import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_BLOCK = tarfile.BLOCKSIZE
_LONG_NAMES = {tarfile.GNUTYPE_LONGNAME: "path", tarfile.GNUTYPE_LONGLINK: "linkpath"}
_EXTENSIONS = {tarfile.XHDTYPE, *_LONG_NAMES}
END = bytes(2 * _BLOCK)
"""What ends a tar."""


@dataclass(frozen=True, slots=True)
class TarEntry:
    """info: with its full names. raw: its headers, as they came."""

    info: tarfile.TarInfo
    raw: bytes

    @property
    def path(self) -> str:
        return absolute(self.info.name)


Choice = Callable[[TarEntry], bytes | None]
"""The headers with which an entry is written; None: it is left out."""


class TarFilter:
    """The chosen entries of a tar, without its end."""

    def __init__(self, choose: Choice) -> None:
        self._choose = choose
        self._buffer = bytearray()
        self._raw = b""
        self._attributes: dict[str, str] = {}
        self._extension: tarfile.TarInfo | None = None
        self._left, self._kept = 0, False
        """Bytes of the present file, with its padding, and whether they are written."""
        self._ended = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """What to write after these bytes."""
        self._buffer += chunk
        while self._buffer and not self._ended:
            if self._left:
                part = bytes(self._buffer[: self._left])
                del self._buffer[: len(part)]
                self._left -= len(part)
                if self._kept:
                    yield part
            elif not self._header_complete():
                return
            else:
                yield from self._header()

    def _header_complete(self) -> bool:
        return len(self._buffer) >= (_padded(self._extension.size) if self._extension else _BLOCK)

    def _header(self) -> Iterator[bytes]:
        if self._extension:
            self._extend(self._extension, self._taken(_padded(self._extension.size)))
            self._extension = None
            return
        block = self._taken(_BLOCK)
        if block == bytes(_BLOCK):
            self._ended = True
            return
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        self._raw += block
        if info.type in _EXTENSIONS:
            self._extension = info
            return
        self._apply(info)
        headers = self._choose(TarEntry(info, self._raw))
        self._raw, self._attributes = b"", {}
        self._kept, self._left = headers is not None, _padded(info.size) if info.isreg() else 0
        if headers:
            yield headers

    def _taken(self, count: int) -> bytes:
        part = bytes(self._buffer[:count])
        del self._buffer[:count]
        return part

    def _extend(self, extension: tarfile.TarInfo, content: bytes) -> None:
        self._raw += content
        content = content[: extension.size]
        if name := _LONG_NAMES.get(extension.type):
            self._attributes[name] = _text(content.rstrip(b"\0"))
            return
        while content:
            length, _, _ = content.partition(b" ")
            record, content = content[: int(length)], content[int(length) :]
            key, _, value = record[len(length) + 1 : -1].partition(b"=")
            self._attributes[_text(key)] = _text(value)

    def _apply(self, info: tarfile.TarInfo) -> None:
        info.name = self._attributes.get("path", info.name)
        info.linkname = self._attributes.get("linkpath", info.linkname)
        info.size = int(self._attributes.get("size", info.size))


def absolute(name: str) -> str:
    """The path of a name in a tar of a root directory."""
    return "/" + name.removeprefix("./").strip("/")


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")
