"""Resolve the folders of a session to directories that the engine can mount."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from carrel.core.errors import CarrelError, Unavailable
from carrel.core.ids import StorageHostId
from carrel.engines import volumes
from carrel.engines.port import Mount
from carrel.engines.volumes import Location
from carrel.folders.hosts.storages import HostStorage, Storages
from carrel.sessions.mounting import MountedFolder
from carrel.storage import paths
from carrel.storage.port import StorageUnavailable


class Unmountable(Exception):
    """A folder cannot be mounted as requested, permanently."""


class Missing(Exception):
    """The host responds but a folder's directory is missing: it was removed, or the storage is not mounted."""

    def __init__(self, host: StorageHostId, message: str) -> None:
        super().__init__(message)
        self.host = host


async def ready(
    storages: Storages, mounted: Sequence[MountedFolder], locations: Mapping[StorageHostId, str | None]
) -> tuple[Mount, ...]:
    """The mounts, after every storage host responded and every directory was found.

    locations: where the engine has the hosts, if not at the same path.
    Raises: Unavailable if a host does not respond or the engine does not have it; Missing; Unmountable.
    """
    by_host = {host: await storages.of(host) for host in sorted({each.host for each in mounted})}
    for storage in by_host.values():
        await storage.call(storage.backend.probe)
    return tuple(
        [
            await _mount(by_host[each.host], each, _location(by_host[each.host], each.host, locations))
            for each in mounted
        ]
    )


def _location(
    storage: HostStorage, host: StorageHostId, locations: Mapping[StorageHostId, str | None]
) -> Location:
    text = locations.get(host, str(storage.backend.root))
    if text is None:
        # The scheduler knows this, but it may have been changed since.
        raise Unavailable("storage.unavailable", f"The engine cannot reach the storage host {storage.name}.")
    return volumes.parse(text)


async def _mount(storage: HostStorage, mounted: MountedFolder, location: Location) -> Mount:
    source = storage.backend.files(mounted.place)
    unreached = f"The folder {mounted.folder} on the storage host {storage.name} cannot be reached."
    try:
        await storage.call(_look, source, mounted.subpath)
    except _NotThere as error:
        raise Missing(
            mounted.host, f"{unreached} Its directory is not there: an administrator has to look for it."
        ) from error
    except (Unavailable, OSError) as error:
        detail = error.message if isinstance(error, Unavailable) else f"{os.strerror(error.errno or 0)}."
        raise Unavailable("storage.unavailable", f"{unreached} {detail}") from error
    except CarrelError as error:
        # We cannot read a directory that a session made private to its user, but it can be mounted.
        if error.code != "file.inaccessible":
            raise Unmountable(
                f"The folder {mounted.folder} has no directory {mounted.subpath} that can be mounted."
            ) from error
    return location.mount(
        PurePosixPath(source.relative_to(storage.backend.root)),
        mounted.path,
        subpath=mounted.subpath,
        read_only=mounted.read_only,
    )


class _NotThere(Exception):
    """The folder's own directory."""


def _look(source: Path, subpath: str) -> None:
    """Raises: _NotThere; CarrelError if the subpath is missing or contains a symbolic link."""
    try:
        with paths.directory(source, subpath):
            return
    except StorageUnavailable as error:
        raise _NotThere from error
