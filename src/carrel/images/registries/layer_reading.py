"""Reads the package databases out of a layer, as it comes, without storing it.

A layer is a tar archive, mostly compressed. Whoever pushed it is not trusted: limits hold for what it expands to, for
each read into memory, and for the number of databases. Its digest is checked, since what is read is kept by it.
"""

import hashlib
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from carrel.images.registries.package_databases import Packages, kind_of, packages_of

MOST_DATABASES = 10_000
_LONGEST_PATH, _DEEPEST = 1000, 64
_MOST_EXPANDED = 64 << 30
_LEAST_EXPANDED, _RATIO = 64 << 20, 100
"""Of a layer of n bytes come at most this and n times the ratio: deflate could have ten times as much."""
_AT_ONCE = 1 << 20
_MOST_METADATA = 1 << 20
"""Of the headers of one file, with its long names and extended attributes: as Go's archive/tar, which engines use."""
_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BROKEN = (tarfile.TarError, zlib.error, ValueError, ArithmeticError, RecursionError, EOFError)


class LayerUnreadable(Exception):
    """It never will be: its digest is right."""


class LayerUnsupported(Exception):
    """Another version of this program may read it."""


class OtherDigest(Exception):
    """What came is not the layer."""


@dataclass
class LayerDatabases:
    """databases: packages by path, also of databases without any that the catalogue shows. removed: paths of files and
    directories that the layer removes from those below; opaque: directories of which it removes everything.
    """

    databases: dict[str, Packages] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    opaque: list[str] = field(default_factory=list)

    def over(self, below: dict[str, Packages]) -> dict[str, Packages]:
        """The databases of this layer on those below."""
        # An opaque root hides everything.
        if "" in self.opaque:
            return dict(self.databases)
        gone = set(self.removed)
        hidden = gone.union(self.opaque)
        kept = {
            path: packages
            for path, packages in below.items()
            if path not in gone and hidden.isdisjoint(_directories(path))
        }
        return kept | self.databases


def _directories(path: str) -> Iterator[str]:
    """Those that it is in."""
    while path := path.rpartition("/")[0]:
        yield path


def read_layer(digest: str, more: Callable[[], bytes]) -> LayerDatabases:
    """The databases of a layer. more: the next bytes; empty at the end. Blocks.

    Raises: LayerUnreadable, LayerUnsupported, OtherDigest, and what `more` raises.
    """
    blob = _Blob(more)
    layer, problem = LayerDatabases(), ""
    try:
        _read_archive(_Expanded(blob), layer)
    except LayerUnreadable as error:
        problem = str(error)
    except _BROKEN as error:
        problem = f"it is no archive: {error or type(error).__name__}"
    while blob.read():
        pass
    if f"sha256:{blob.hash.hexdigest()}" != digest:
        raise OtherDigest(digest)
    if problem:
        raise LayerUnreadable(problem)
    return layer


def _read_archive(expanded: "_Expanded", layer: LayerDatabases) -> None:
    with tarfile.open(fileobj=expanded, mode="r:") as archive:  # type: ignore[call-overload]
        while (member := _next(archive, expanded)) is not None:
            path = (
                member.name.removeprefix("./").strip("/").replace("\0", "").encode(errors="replace").decode()
            )
            if len(path) > _LONGEST_PATH or path.count("/") > _DEEPEST:
                continue
            folder, _, name = path.rpartition("/")
            if name == _OPAQUE:
                _note(layer.opaque, folder)
            elif name.startswith(_WHITEOUT):
                _note(layer.removed, f"{folder}/{name.removeprefix(_WHITEOUT)}".lstrip("/"))
            elif member.isreg() and (kind := kind_of(path)):
                if len(layer.databases) >= MOST_DATABASES:
                    raise LayerUnreadable(f"it has more than {MOST_DATABASES} package databases")
                if member.issparse():
                    # Its map may lead `tarfile` in circles.
                    raise LayerUnreadable("a package database in it is a sparse file")
                content = archive.extractfile(member)
                assert content
                layer.databases[path] = packages_of(kind, path, content)


def _next(archive: tarfile.TarFile, expanded: "_Expanded") -> tarfile.TarInfo | None:
    """The next file; nothing of those before stays in memory."""
    archive.members.clear()  # type: ignore[attr-defined]
    # Global headers, which engines ignore.
    archive.pax_headers.clear()  # type: ignore[attr-defined]
    expanded.metadata_left = _MOST_METADATA
    member = archive.next()
    expanded.metadata_left = None
    return member


def _note(paths: list[str], path: str) -> None:
    """As many as an image can have without being an attack."""
    if len(paths) < MOST_DATABASES:
        paths.append(path)


class _Blob:
    """The bytes of a layer, with their hash."""

    def __init__(self, more: Callable[[], bytes]) -> None:
        self.hash = hashlib.sha256()
        self.size = 0
        self._more = more

    def read(self) -> bytes:
        piece = self._more()
        self.hash.update(piece)
        self.size += len(piece)
        return piece


class _Expanded:
    """A file that is read forwards only, as `tarfile` needs it: it seeks to what it reads next.

    metadata_left: how much may still be read while `tarfile` looks for the next file; None: it is not looking.
    """

    def __init__(self, blob: _Blob) -> None:
        # It looks for the first file when the archive is opened.
        self.metadata_left: int | None = _MOST_METADATA
        self._blob = blob
        self._position = 0
        self._ready, self._taken = b"", 0
        self._input = blob.read()
        while len(self._input) < len(_ZSTD) and (piece := blob.read()):
            self._input += piece
        if self._input.startswith(_ZSTD):
            raise LayerUnsupported("it is compressed by zstd")
        self._plain = not self._input.startswith(_GZIP)
        self._inflater = zlib.decompressobj(wbits=31)

    def tell(self) -> int:
        return self._position

    def seek(self, position: int) -> int:
        if position < self._position:
            raise LayerUnreadable("it is no archive: it leads backwards")
        while self._position < position and self._take(min(position - self._position, _AT_ONCE)):
            pass
        return self._position

    def read(self, size: int) -> bytes:
        if self.metadata_left is not None:
            # Sizes of headers may be negative.
            self.metadata_left -= max(size, 0)
            if self.metadata_left < 0:
                raise LayerUnreadable(f"it has headers of more than {_MOST_METADATA >> 20} MiB")
        pieces = bytearray()
        while len(pieces) < size and (piece := self._take(size - len(pieces))):
            pieces += piece
        return bytes(pieces)

    def _take(self, most: int) -> bytes:
        if self._taken >= len(self._ready):
            self._ready, self._taken = self._input if self._plain else self._inflated(), 0
            if self._plain:
                self._input = self._blob.read()
        taken = self._ready[self._taken : self._taken + most]
        self._taken += len(taken)
        self._position += len(taken)
        if self._position > min(_MOST_EXPANDED, _LEAST_EXPANDED + _RATIO * self._blob.size):
            raise LayerUnreadable("it expands to too much")
        return taken

    def _inflated(self) -> bytes:
        """The next bytes; empty at the end."""
        while True:
            if self._inflater.eof:
                # Several members may follow each other.
                rest = self._inflater.unused_data or self._blob.read()
                if not rest:
                    return b""
                self._inflater, self._input = zlib.decompressobj(wbits=31), rest
            if not self._input and not (piece := self._blob.read()):
                raise EOFError("it ends early")
            if not self._input:
                self._input = piece
            data = self._inflater.decompress(self._input, _AT_ONCE)
            self._input = self._inflater.unconsumed_tail
            if data:
                return data
