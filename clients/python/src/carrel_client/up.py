"""Walks local files and directory trees and queues their uploads."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from functools import partial

from carrel_client import sending
from carrel_client.errors import CarrelError
from carrel_client.files import Files
from carrel_client.outcome import Transfer, taken
from carrel_client.packing import SMALL, Bundle, send_packed
from carrel_client.sending import Source, UploadTarget, local_error, naming, send
from carrel_client.workers import WorkerPool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models
    from carrel_client.outcome import Choice, Clash

_ODD = "client.odd_name"
_PAGE = 1000


class _Branch:
    """A local directory to walk.

    above: device and inode of its ancestors, to detect cycles of links. new: the folder has neither it nor anything
    below it.
    """

    __slots__ = ("above", "local", "new", "path")

    def __init__(self, local: str, path: str, above: tuple[tuple[int, int], ...], *, new: bool) -> None:
        self.local = local
        self.path = path
        self.above = above
        self.new = new


class Up:
    """Lists files and queues their uploads. follow: follow symbolic links."""

    def __init__(self, place: UploadTarget, clash: Clash, done: Transfer, *, follow: bool) -> None:
        self._place = place
        self._clash = clash
        self._done = done
        self._follow = follow
        self._known: tuple[str, dict[str, models.FileView]] | None = None
        self._bundles: dict[str, Bundle] = {}

    def bring(self, pool: WorkerPool, source: str, to: str) -> None:
        """Upload a file or directory into a directory of the folder."""
        name = os.path.basename(source)
        status = _stat(source)
        if not stat.S_ISDIR(status.st_mode):
            self.bring_as(pool, source, joined(to, name))
            return
        # A path that ends with a slash or dots has no name of its own: only its contents are uploaded.
        target = to.strip("/") if name in ("", ".", "..") else joined(to, name)
        _check_name(target)
        waiting = [_Branch(source, target, (_identity(status),), new=False)]
        while waiting:
            waiting += self._inside(pool, waiting.pop())

    def bring_as(self, pool: WorkerPool, source: str, path: str) -> None:
        """Upload one file to a path of the folder."""
        status = _stat(source)
        if stat.S_ISDIR(status.st_mode):
            raise CarrelError(
                "client.local_file", f"{source} is a directory.", status=400, hint="Bring it with -r."
            )
        _check_name(path)
        directory, _, name = path.rpartition("/")
        # A directory that is the target of many files is listed once.
        if self._known is None or self._known[0] != directory:
            self._known = directory, self._there(directory)
        self._file(pool, source, path, status, self._known[1].get(name))

    def finish(self) -> None:
        """Queue the small files that are not yet in a full batch."""
        for bundle in self._bundles.values():
            bundle.flush()

    def _inside(self, pool: WorkerPool, branch: _Branch) -> list[_Branch]:
        """Queue the files of a directory; returns its subdirectories."""
        there = {} if branch.new else self._there(branch.path)
        try:
            entries = list(os.scandir(branch.local))
        except OSError as wrong:
            pool.fail(branch.local, local_error(branch.local, wrong))
            return []
        inside = []
        count = self._done.meter.total_files
        for entry in entries:
            try:
                inside += self._entry(pool, entry, branch, there)
            except OSError as wrong:
                pool.fail(entry.path, local_error(entry.path, wrong))
            except CarrelError as odd:
                if odd.code != _ODD:
                    raise
                pool.fail(entry.path, odd)
        if branch.new and not inside and count == self._done.meter.total_files:
            self._make(branch.path)  # no file in it would create it
        return inside

    def _entry(
        self, pool: WorkerPool, entry: os.DirEntry[str], branch: _Branch, there: Mapping[str, models.FileView]
    ) -> list[_Branch]:
        if entry.is_symlink() and not self._follow:
            self._done.skip(entry.path, "a symbolic link; --follow uploads its target")
            return []
        _check_name(entry.name)
        status = entry.stat()
        target = joined(branch.path, entry.name)
        if stat.S_ISREG(status.st_mode):
            self._file(pool, entry.path, target, status, there.get(entry.name))
        elif not stat.S_ISDIR(status.st_mode):
            self._done.skip(entry.path, "neither a file nor a directory")
        elif _identity(status) in branch.above:
            self._done.skip(entry.path, "a symbolic link to a directory above it")
        else:
            above = (*branch.above, _identity(status))
            return [_Branch(entry.path, target, above, new=entry.name not in there)]
        return []

    def _file(
        self, pool: WorkerPool, local: str, path: str, status: os.stat_result, there: models.FileView | None
    ) -> None:
        clash: models.Clash = "refuse"
        if there:
            if Source(local, path, status).is_there(there):
                self._done.unchanged += 1
                return
            choice: Choice = self._clash if isinstance(self._clash, str) else self._clash(path)
            if choice == "skip":
                self._done.skip(local, "its name is taken")
                return
            if choice == "refuse":
                pool.fail(local, taken(f"{self._place.folder}:{path}"))
                return
            clash = choice
        source = Source(local, path, status, clash=clash)
        if source.size > sending.AT_ONCE:
            self._place.look_for_unfinished()
        self._done.meter.add_file(source.size)
        if source.size > SMALL or self._place.checked:
            pool.give(local, partial(send, self._place, source, self._done.meter))
        else:
            self._bundle(pool, clash).add(local, source.size, source)

    def _bundle(self, pool: WorkerPool, clash: models.Clash) -> Bundle:
        """The batch for files with this clash setting; only these fit into one request."""
        bundle = self._bundles.get(clash)
        if bundle is None:
            place, meter = self._place, self._done.meter
            bundle = self._bundles[clash] = Bundle(
                pool, lambda source: send(place, source, meter), partial(send_packed, place, meter)
            )
        return bundle

    def _there(self, path: str) -> dict[str, models.FileView]:
        """The entries of a directory of the folder, by name; created if missing."""
        try:
            return {entry["name"]: entry for entry in listing(self._place.files, self._place.folder, path)}
        except CarrelError as error:
            if error.status != 404 or not path:
                raise
        self._make(path)
        return {}

    def _make(self, path: str) -> None:
        try:
            self._place.files.make_directory(self._place.folder, path=path)
        except CarrelError as error:
            if error.status != 409:  # created meanwhile
                raise


def listing(files: Files, folder: str, path: str) -> Iterator[models.FileView]:
    """All entries of a directory of a folder."""
    cursor = None
    while True:
        page = files.list(folder, path=path, limit=_PAGE, cursor=cursor)
        yield from page["items"]
        cursor = page["next_cursor"]
        if not cursor:
            return


def joined(directory: str, name: str) -> str:
    """The joined path in a folder."""
    return f"{directory.strip('/')}/{name}".lstrip("/")


def _stat(path: str) -> os.stat_result:
    with naming(path):
        return os.stat(path)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _check_name(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise CarrelError(
            _ODD, "Its name is not UTF-8, as folders require.", status=400, hint="Give it another name."
        ) from None
