"""Contexts of builds: the tar files that people send, as they are kept, and as an engine is given them."""

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from carrel.builds.build_recipes import OWN
from carrel.core.errors import Invalid, TooLarge

LARGEST_BYTES = 32 << 20
"""Of the tar file, and of its files in total."""
MOST_FILES = 5000
_MOST_BYTES = LARGEST_BYTES + 4096 * MOST_FILES
"""Of a tar file, with its headers."""
_COMPRESSED: tuple[tuple[bytes, Callable[..., Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ", lzma.open),
)
_LONGEST_TEXT = 256 << 10
_IGNORED = ".dockerignore"


@dataclass(frozen=True)
class Packed:
    """content: a compressed tar file. size_bytes: of the files."""

    content: bytes
    files: int
    size_bytes: int


def pack(sent: bytes) -> Packed:
    """A tar file, compressed or not, with only files, directories and links that stay within it.

    Raises: Invalid, TooLarge.
    """
    entries: dict[str, tuple[tarfile.TarInfo, bytes]] = {}
    size = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(_uncompressed(sent)), mode="r:") as archive:
            for number, entry in enumerate(archive):
                if number >= 2 * MOST_FILES:
                    raise too_large()
                path = _path(entry.name)
                if path == "." or path.split("/")[0] == OWN or entry.isdir():
                    continue
                size += entry.size if entry.isfile() else 0
                if size > LARGEST_BYTES or len(entries) >= MOST_FILES:
                    raise too_large()
                entries[path] = _plain(entry, path), _content(archive, entry)
    except (tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise Invalid(
            "build.bad_context",
            "The context is not a tar file.",
            hint="Send a tar file, which may be compressed by gzip, bzip2 or xz.",
            field="context",
        ) from error
    return Packed(_compressed(_written(entries.values())), len(entries), size)


def _uncompressed(sent: bytes) -> bytes:
    """What was sent, whatever it is compressed with. Raises: TooLarge; OSError, EOFError, zlib.error, LZMAError."""
    opened = next((opener for magic, opener in _COMPRESSED if sent.startswith(magic)), None)
    if opened is None:
        return sent
    with opened(io.BytesIO(sent)) as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise too_large()
    return bytes(content)


def listing(content: bytes) -> Collection[str]:
    """The paths of the files of a kept context."""
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        return [entry.name for entry in archive]


def texts(content: bytes, chosen: Collection[str]) -> Mapping[str, str]:
    """Those of these files that a kept context has. Raises: Invalid if one is no text."""
    texts_by_path = {}
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        for entry in archive:
            if entry.name in chosen and entry.isfile():
                texts_by_path[entry.name] = _text(entry.name, _content(archive, entry))
    return texts_by_path


def for_engine(content: bytes | None, added: Mapping[str, bytes]) -> io.BytesIO:
    """What a builder reads: a kept context with further files, which come before its own. Times are left out, so that
    the same files are texts_by_path in the builder's cache.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        ignored = b""
        for entry, body in _kept(content):
            if entry.name == _IGNORED:
                ignored = body
            elif entry.name not in added:
                archive.addfile(entry, io.BytesIO(body) if entry.isfile() else None)
        if ignored:
            added = {**added, _IGNORED: ignored + f"\n!{OWN}\n!{OWN}/**\n".encode()}
        for path, body in sorted(added.items()):
            archive.addfile(_file(path, len(body)), io.BytesIO(body))
    buffer.seek(0)
    return buffer


def too_large() -> TooLarge:
    """The error for a context over the limits."""
    return TooLarge(
        "build.context_too_large",
        f"A context has at most {LARGEST_BYTES >> 20} MiB in {MOST_FILES} files.",
        hint="Leave out what the build does not need by .dockerignore, and keep data in folders.",
        field="context",
    )


def _kept(content: bytes | None) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    if content is not None:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
            for entry in archive:
                yield entry, _content(archive, entry)


def _content(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(entry) if entry.isfile() else None
    return file.read() if file else b""


def _path(name: str) -> str:
    """Raises: Invalid for one outside of the context."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or any(ord(letter) < 32 for letter in name):
        raise _outside(name)
    return str(path)


def _plain(entry: tarfile.TarInfo, path: str) -> tarfile.TarInfo:
    """Without owner and times. Raises: Invalid for what is no file or link."""
    if entry.isfile():
        return _file(path, entry.size, executable=bool(entry.mode & 0o100))
    if not entry.issym():
        raise Invalid(
            "build.bad_context",
            f"{path[:200]} is no file, directory or symbolic link.",
            hint="Leave it out.",
            field="context",
        )
    target = PurePosixPath(path).parent / entry.linkname
    depth = 0
    for part in target.parts:
        depth += -1 if part == ".." else 1
        if depth < 0 or target.is_absolute():
            raise _outside(path)
    link = tarfile.TarInfo(path)
    link.type, link.linkname = tarfile.SYMTYPE, entry.linkname
    return link


def _file(path: str, size: int, *, executable: bool = False) -> tarfile.TarInfo:
    file = tarfile.TarInfo(path)
    file.size, file.mode = size, 0o755 if executable else 0o644
    return file


def _outside(path: str) -> Invalid:
    return Invalid(
        "build.bad_context",
        f"{path[:200]} is, or leads, outside of the context.",
        hint="Leave it out.",
        field="context",
    )


def _written(entries: Collection[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for entry, body in sorted(entries, key=lambda one: one[0].name):
            archive.addfile(entry, io.BytesIO(body) if entry.isfile() else None)
    return buffer.getvalue()


def _compressed(content: bytes) -> bytes:
    return gzip.compress(content, compresslevel=1, mtime=0)


def _text(path: str, content: bytes) -> str:
    try:
        if len(content) > _LONGEST_TEXT or b"\0" in content:
            raise ValueError
        return content.decode()
    except ValueError as error:
        raise Invalid(
            "build.bad_recipe",
            f"{path} is no text of at most 256 KiB.",
            hint="Save it as UTF-8.",
            field="context",
        ) from error
