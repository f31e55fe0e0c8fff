"""Directories of folders as contexts of builds."""

import io
import os
import stat
import tarfile
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from carrel_client.ignored import FILE, LONGEST, BadIgnoreFile, IgnoreRules

from carrel.builds.build_recipes import OWN
from carrel.builds.contexts import LARGEST_BYTES, MOST_FILES, too_large
from carrel.core.errors import Invalid, NotFound
from carrel.storage.paths import directory, opened_in
from carrel.storage.walk import DirectoryEntered, DirectoryLeft, TreeEntry, walk

_MOST_SEEN = 200_000
_LONGEST_PATH = 4096
_LONGEST_S = 300.0
"""Below the deadline of the storage host's thread, so that it does not count as stuck."""


def read(root: Path, path: str) -> bytes:
    """A tar file of a directory, without what .dockerignore and .git leave, and without special files. Symbolic links
    are kept as such. root: the folder's files.

    Raises: NotFound, Conflict, Invalid, TooLarge, StorageError, OSError.
    """
    with directory(root, path) as handle, io.BytesIO() as buffer:
        rules = _rules(handle)
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
            _add_all(archive, handle, rules)
        return buffer.getvalue()


def _add_all(archive: tarfile.TarFile, handle: int, rules: IgnoreRules) -> None:
    prefix: list[str] = []
    seen = files = size = 0
    deadline = monotonic() + _LONGEST_S

    def is_pruned(name: str) -> bool:
        if monotonic() > deadline:
            raise too_large()
        parts = [*prefix, name]
        return _is_own(parts) or rules.prunes("/".join(parts))

    for step in walk(handle, pruned=is_pruned):
        match step:
            case DirectoryEntered():
                prefix.append(step.name)
            case DirectoryLeft():
                prefix.pop()
            case TreeEntry():
                seen += 1
                name = "/".join([*prefix, step.name])
                if seen > _MOST_SEEN or len(name) > _LONGEST_PATH or monotonic() > deadline:
                    raise too_large()
                if _is_own([*prefix, step.name]) or rules.ignores(name):
                    continue
                added = _add(archive, step, name, LARGEST_BYTES - size)
                files, size = files + (added is not None), size + (added or 0)
                if files > MOST_FILES:
                    raise too_large()


def _add(archive: tarfile.TarFile, entry: TreeEntry, name: str, most: int) -> int | None:
    """The bytes that were added; None if it is no file and no link. Raises: TooLarge above that many, Conflict."""
    header = tarfile.TarInfo(name)
    if stat.S_ISLNK(entry.stat.st_mode):
        header.type, header.linkname = tarfile.SYMTYPE, os.readlink(entry.name, dir_fd=entry.parent)
        archive.addfile(header)
        return 0
    if not stat.S_ISREG(entry.stat.st_mode):
        return None
    if entry.stat.st_size > most:
        raise too_large()
    with opened_in(entry.parent, entry.name, name) as file:
        content = io.BufferedReader(file).read(most + 1) if entry.stat.st_size else b""
    if len(content) > most:
        raise too_large()
    header.size, header.mode = len(content), entry.stat.st_mode & 0o777
    archive.addfile(header, io.BytesIO(content))
    return len(content)


def _is_own(parts: Sequence[str]) -> bool:
    return parts[-1] == ".git" or parts[0] == OWN


def _rules(handle: int) -> IgnoreRules:
    """Raises: Invalid."""
    try:
        with opened_in(handle, FILE, FILE) as file:
            return IgnoreRules(file.read(LONGEST + 1).decode(errors="replace"))
    except NotFound:
        return IgnoreRules("")
    except BadIgnoreFile as error:
        raise Invalid(
            "build.bad_ignore_file",
            str(error),
            hint="Correct the rule, or leave out whole directories by one rule.",
            field="path",
        ) from None
