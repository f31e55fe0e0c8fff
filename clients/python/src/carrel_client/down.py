"""Download files and directories of a folder."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from carrel_client.errors import CarrelError
from carrel_client.fetching import fetch
from carrel_client.files import Files
from carrel_client.outcome import Transfer, taken
from carrel_client.packing import SMALL, Bundle, fetch_packed
from carrel_client.sending import Source, naming
from carrel_client.up import listing
from carrel_client.workers import WorkerPool, holds_for_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models
    from carrel_client.outcome import Clash


class Down:
    """Lists files and queues their downloads."""

    def __init__(self, files: Files, folder: str, clash: Clash, done: Transfer) -> None:
        self._files = files
        self._folder = folder
        self._clash = clash
        self._done = done
        self._bundle: Bundle | None = None
        self._promised = set[str]()
        """Local paths of files that are queued, also while they are not yet downloaded."""

    def bring(self, pool: WorkerPool, path: str, to: str) -> None:
        """Download a file or directory into a local directory."""
        contents = path.endswith("/")
        path = path.strip("/")
        if not path:
            self._tree(pool, "", to if contents else os.path.join(to, self._folder))
            return
        entry = self._files.show(self._folder, path=path)
        if entry["kind"] == "directory":
            self._tree(pool, path, to if contents else os.path.join(to, _safe(entry["name"])))
            return
        with naming(to):
            os.makedirs(to, exist_ok=True)
        self.file(pool, entry, os.path.join(to, _safe(entry["name"])))

    def file(self, pool: WorkerPool, entry: models.FileView, local: str) -> None:
        """Queue the download of one file."""
        if not entry["readable"]:
            self._done.skip(entry["path"], "its name is not UTF-8; a session can rename it")
            return
        if entry["kind"] != "file":
            self._done.skip(entry["path"], "a symbolic link" if entry["kind"] == "link" else "no plain file")
            return
        there, promised = _stat(local), local in self._promised
        if there and not promised and Source(local, "", there).is_there(entry):
            self._done.unchanged += 1
            return
        target = local
        if there or promised:
            choice = self._clash if isinstance(self._clash, str) else self._clash(local)
            if choice == "skip":
                self._done.skip(entry["path"], "its name is taken here")
                return
            # Do not replace a file of this download.
            kept = promised and choice == "replace"
            if choice == "refuse" or kept or (there and stat.S_ISDIR(there.st_mode)):
                pool.fail(entry["path"], taken(local))
                return
            target = self._free(local) if choice == "rename" else local
        self._promised.add(target)
        size = entry["size_bytes"] or 0
        self._done.meter.add_file(size)
        if size <= SMALL:
            self._small(pool).add(entry["path"], size, (entry, target))
        else:
            pool.give(entry["path"], partial(self._fetch, (entry, target)))

    def finish(self) -> None:
        """Queue the small files that are not yet in a full batch."""
        if self._bundle:
            self._bundle.flush()

    def _small(self, pool: WorkerPool) -> Bundle:
        if self._bundle is None:
            several = partial(fetch_packed, self._files, self._folder, self._done.meter)
            self._bundle = Bundle(pool, self._fetch, several)
        return self._bundle

    def _free(self, path: str) -> str:
        """An unused path like this one: with a number before its extension."""
        stem, ending = os.path.splitext(path)
        others = (f"{stem} ({number}){ending}" for number in itertools.count(1))
        return next(other for other in others if other not in self._promised and _stat(other) is None)

    def _fetch(self, target: tuple[models.FileView, str]) -> None:
        fetch(self._files, self._folder, *target, self._done.meter)

    def _tree(self, pool: WorkerPool, path: str, local: str) -> None:
        waiting = self._inside(pool, path, local)
        while waiting:
            path, local = waiting.pop()
            with _failing_alone(pool, path):
                waiting += self._inside(pool, path, local)

    def _inside(self, pool: WorkerPool, path: str, local: str) -> list[tuple[str, str]]:
        """Queue the files of a directory; returns its subdirectories and their targets."""
        with naming(local):
            os.makedirs(local, exist_ok=True)
        inside = []
        for entry in listing(self._files, self._folder, path):
            target = os.path.join(local, _safe(entry["name"]))
            if entry["kind"] == "directory" and entry["readable"]:
                inside.append((entry["path"], target))
            else:
                with _failing_alone(pool, entry["path"]):
                    self.file(pool, entry, target)
        return inside


@contextmanager
def _failing_alone(pool: WorkerPool, path: str) -> Iterator[None]:
    """Record an error in the block as a failure of this file, unless it affects all files."""
    try:
        yield
    except CarrelError as error:
        if holds_for_all(error):
            raise
        pool.fail(path, error)


def _stat(path: str) -> os.stat_result | None:
    with naming(path):
        try:
            return os.lstat(path)
        except FileNotFoundError:
            return None


def _safe(name: str) -> str:
    """The name, if it stays in its directory. Raises: CarrelError otherwise."""
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise CarrelError("client.odd_name", f"The server names a file {name!r}.", status=502)
    return name
