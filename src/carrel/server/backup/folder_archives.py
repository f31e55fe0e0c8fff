"""The files of folders: one tar archive per folder, from a snapshot if the storage supports them, else from the live
directory.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carrel.core.ids import FolderId
from carrel.server.backup.host_settings import HostSettings
from carrel.server.backup.manifest import Manifest, Progress, StoredFile, StoredHost, damaged
from carrel.server.backup.programs import extract_tar, into_file
from carrel.storage import btrfs_ioctls
from carrel.storage.btrfs import BtrfsBackend
from carrel.storage.make import make
from carrel.storage.port import FolderLocation, Snapshots, StorageBackend, StorageError
from carrel.storage.posix import FILES, STAGE, directory

DIRECTORY = "folders"
POSIX = "posix"
_SNAPSHOTS = ".snapshots-"
_CHANGED = 1
"""tar's exit code if files changed during the read; the rest of the archive is valid."""
_TAR = ("tar", "--create", "--sparse", "--numeric-owner", "--acls", "--xattrs", "--xattrs-include=user.*")


@dataclass(frozen=True)
class FolderSource:
    host: StoredHost
    place: FolderLocation

    @property
    def archive(self) -> str:
        """Its path in the backup."""
        return f"{DIRECTORY}/{self.host.name}/{self.place.scope}/{self.place.folder}.tar"


@dataclass(frozen=True)
class Archived:
    file: StoredFile
    changed: bool


def archive(
    folder: FolderSource, backup: Path, *, snapshot: str | None, settings: HostSettings, progress: Progress
) -> Archived | None:
    """Write the folder's archive; None if the folder does not exist. snapshot: name of a temporary snapshot.

    Raises: Unavailable.
    """
    backend = make(folder.host.backend, Path(folder.host.root), settings.get(folder.host.name))
    target = backup / folder.archive
    try:
        with _source(backend, folder.place, snapshot) as source:
            if not source.is_dir():
                return None
            target.parent.mkdir(parents=True, exist_ok=True)
            command = [
                *_TAR,
                f"--directory={source}",
                *(name for name in (FILES, STAGE) if (source / name).is_dir()),
            ]
            stored, code = into_file(
                command, target, name=folder.archive, progress=progress, tolerated=(_CHANGED,)
            )
    except StorageError:
        return None
    return Archived(stored, changed=code == _CHANGED)


@contextmanager
def _source(backend: StorageBackend, place: FolderLocation, snapshot: str | None) -> Iterator[Path]:
    """The directory to read: a snapshot of the folder, or the folder itself."""
    here = backend.files(place).parent
    if snapshot is None or not isinstance(backend, Snapshots) or _has_nested(backend, place):
        yield here
        return
    backend.snapshot(place, snapshot)
    try:
        yield here.parent / f"{_SNAPSHOTS}{place.folder}" / snapshot
    finally:
        backend.remove_snapshot(place, snapshot)


def _has_nested(backend: StorageBackend, place: FolderLocation) -> bool:
    """True if the folder contains subvolumes, which a snapshot of it omits."""
    if not isinstance(backend, BtrfsBackend):
        return False
    with backend.opened_folder(place) as handle:
        return bool(btrfs_ioctls.nested(handle, btrfs_ioctls.subvolume(handle)))


def extract(
    manifest: Manifest, backup: Path, roots: dict[str, Path], settings: HostSettings, progress: Progress
) -> list[str]:
    """Unpack every folder of the backup; returns the names of hosts that had to become plain directories.

    roots: storage host name -> new root. Raises: Conflict, Unavailable.
    """
    backends: dict[str, StorageBackend] = {}
    plain: list[str] = []
    hosts = {host.name: host for host in manifest.hosts}
    for name in sorted(name for name in manifest.files if name.startswith(f"{DIRECTORY}/")):
        host, place = _parsed(name, hosts, backup)
        if host.name not in backends:
            backends[host.name], as_before = _prepared(host, roots[host.name], settings.get(host.name, {}))
            if not as_before:
                plain.append(host.name)
        backend = backends[host.name]
        backend.create(place)
        with (backup / name).open("rb") as archived:
            extract_tar(archived.fileno(), backend.files(place).parent)
        progress(name, manifest.files[name].bytes)
    return plain


def _parsed(name: str, hosts: dict[str, StoredHost], backup: Path) -> tuple[StoredHost, FolderLocation]:
    """The storage host and folder of an archive. Raises: Conflict for an invalid archive name."""
    try:
        _, host, scope, file = name.split("/")
        return hosts[host], FolderLocation(directory(scope), FolderId(directory(file.removesuffix(".tar"))))
    except (ValueError, KeyError):
        raise damaged(backup, f"{name} is not the archive of a folder") from None


def _prepared(host: StoredHost, root: Path, settings: Mapping[str, Any]) -> tuple[StorageBackend, bool]:
    """The back end of a host in its new root, and whether its kind is unchanged. A kind that does not work there, such
    as Btrfs on another file system, becomes plain directories.
    """
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    backend = make(host.backend, root, settings)
    as_before = True
    try:
        backend.probe()
    except StorageError:
        backend, as_before = make(POSIX, root), False
        backend.probe()
    backend.claim()
    return backend, as_before
