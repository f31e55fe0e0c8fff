"""Which files of a container belong into an image of it: those that it changed, and none of what is left out. Pure."""

import copy
import tarfile
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from carrel.engines.docker.tar_filter import TarEntry, absolute

_DELETED = 2


@dataclass(frozen=True)
class ChangedFiles:
    """paths: what a container changed, as its daemon lists it. left_out: absolute paths; everything below them, too."""

    paths: frozenset[str]
    deleted: Sequence[str]
    left_out: frozenset[str]
    links: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Further names of files that are left out, by the name that is; known once all entries were chosen. A package
    manager links files of its cache, so that an image without the cache would lack them.
    """

    def chosen(self, entry: TarEntry) -> bytes | None:
        """A `tar_filter.Choice` for all files of the container."""
        if entry.path not in self.paths or self._is_left_out(entry.path):
            return None
        target = absolute(entry.info.linkname)
        if entry.info.islnk() and self._is_left_out(target):
            self.links[target].append(entry.info.name)
            return None
        return entry.raw

    def linked(self, entry: TarEntry) -> bytes | None:
        """The same for the `links`: each file under the first of its names."""
        names = self.links.get(entry.path)
        return _headers(entry.info, name=names[0]) if names and entry.info.isreg() else None

    def further_links(self) -> Iterator[bytes]:
        """The other names of these files, to be written after them."""
        for first, *others in self.links.values():
            for name in others:
                link = tarfile.TarInfo(name)
                link.type, link.linkname = tarfile.LNKTYPE, first
                yield link.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")

    def _is_left_out(self, path: str) -> bool:
        return _within(path, self.left_out)


def changed_files(
    before: Iterable[Mapping[str, Any]] | None,
    after: Iterable[Mapping[str, Any]] | None,
    left_out: Collection[str],
) -> ChangedFiles:
    """The changes between a container and its image, from the daemon's lists before and after it was copied.

    A file in both images and in only one of the lists is the same in both, so that it does no harm.
    """
    before, after = list(before or ()), list(after or ())
    without = frozenset(left_out)
    deleted = [one["Path"] for one in before if one["Kind"] == _DELETED]
    return ChangedFiles(
        frozenset(one["Path"] for one in (*before, *after)),
        [path for path in deleted if not _within(path, without)],
        without,
    )


def _within(path: str, directories: Collection[str]) -> bool:
    return path in directories or any(str(parent) in directories for parent in PurePosixPath(path).parents)


def _headers(info: tarfile.TarInfo, *, name: str) -> bytes:
    renamed = copy.copy(info)
    renamed.name, renamed.pax_headers = name, {}
    return renamed.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
