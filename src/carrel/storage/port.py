"""The storage port: the interface to back ends that store the files of folders.

A back end keeps folders (`FolderLocation`) below one root. Each folder has two directories on one file system, between
which a rename is atomic: its files, which sessions mount, and its stage, which only Carrel accesses. The stage contains
unfinished uploads and entries being deleted, and counts against the same quota.

Methods block: `storage.threads.Threads` runs them with a deadline in threads of that host alone. Every method is
idempotent; removing an absent object succeeds. Optional capabilities are protocols that a back end implements in
addition (`HardQuota`, `Clone`, `Snapshots`, `FastUsage`): check with isinstance, never by name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from pydantic import BaseModel, Field

from carrel.core.ids import FolderId

WORK_UID = 1000
"""Owner of files: the user that every session runs as."""


class StorageError(Exception):
    """The storage refused. `message` is a sentence for people; `code` is stable."""

    code = "storage_error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class StorageUnavailable(StorageError):
    """The storage does not respond in time; a retry may succeed."""

    code = "storage_unavailable"


class StorageUnusable(StorageError):
    """The root is missing, of the wrong kind, or not accessible to this process; needs an operator."""

    code = "storage_unusable"


class StorageFull(StorageError):
    """No space is left on the storage."""

    code = "storage_full"


class OverQuota(StorageError):
    """The quota of the folder's owner is used up."""

    code = "over_quota"


@dataclass(frozen=True, slots=True)
class FolderLocation:
    """Location of a folder on its host. scope: whose quota it counts against, "user-ID" or "project-ID"."""

    scope: str
    folder: FolderId


@dataclass(frozen=True, slots=True)
class Capacity:
    """Capacity of the whole storage, in bytes."""

    total_bytes: int
    free_bytes: int


@dataclass(frozen=True, slots=True)
class Measure:
    """Usage of a folder. used_bytes: allocated, with directories and the stage, each inode once. files: without those,
    each inode once; None if the storage measures bytes without visiting files.
    """

    used_bytes: int
    files: int | None


@dataclass(frozen=True, slots=True)
class Advance:
    """Progress of a long call; directories are not files. total: None while unknown."""

    done_bytes: int
    done_files: int
    total_bytes: int | None = None
    total_files: int | None = None


class StorageSettings(BaseModel):
    """Folders are kept in directories below a root."""

    root: Path = Field(
        description="A directory of the server, which is there on the machines that run sessions too."
    )


Tick = Callable[[Advance], None]
"""Called often, from the worker thread; raises to abort the work."""


class StorageBackend(Protocol):
    """A back end for one root. See the module for common behaviour."""

    @property
    def root(self) -> Path: ...

    def probe(self) -> Capacity:
        """Check that the storage is usable. Raises: StorageUnavailable, StorageUnusable."""
        ...

    def claim(self) -> None:
        """Mark the probed root as ours before it contains folders. Twice: no-op."""
        ...

    def recognise(self) -> None:
        """Check that the root is claimed and writable, apart from free space.

        Raises: StorageUnavailable otherwise, such as for an empty directory where the storage is not mounted.
        """
        ...

    def create(self, place: FolderLocation) -> None:
        """Create an empty folder, writable for sessions and for this process. Twice: no-op.

        Raises: StorageUnavailable if the root was never claimed.
        """
        ...

    def remove(self, place: FolderLocation, tick: Tick) -> None:
        """Delete a folder with its content. It disappears atomically. Twice, or absent: success.

        Raises: StorageUnavailable if the root never contained a folder of ours, such as an empty directory where the
        storage is not mounted.
        """
        ...

    def rescope(self, old: FolderLocation, new: FolderLocation) -> None:
        """Move a folder with its content to another scope, atomically. Both locations are of this folder. Twice: no-op.

        Raises: StorageUnavailable if it is in neither.
        """
        ...

    def files(self, place: FolderLocation) -> Path:
        """The directory that sessions mount. May not exist."""
        ...

    def stage(self, place: FolderLocation) -> Path:
        """The directory for unfinished content. May not exist."""
        ...

    def measure(self, place: FolderLocation) -> Measure:
        """The current usage of the folder. May take long, unless the back end is also `FastUsage`.

        Raises: StorageUnavailable, also if the folder is missing.
        """
        ...

    def places(self) -> Sequence[FolderLocation]:
        """All existing folders."""
        ...


@runtime_checkable
class HardQuota(Protocol):
    """Writes beyond the limit fail immediately with EDQUOT, in sessions too."""

    def set_quota(self, scope: str, limit_bytes: int | None) -> None:
        """Limit the total usage of the scope's folders; None: no limit. Twice: no-op."""
        ...


@runtime_checkable
class FastUsage(Protocol):
    """`measure` of this back end is fast for any folder; its result may be this old."""

    usage_late_s: float


@runtime_checkable
class Clone(Protocol):
    """Copies whole folders instantly, sharing unchanged data."""

    def clone(self, source: FolderLocation, target: FolderLocation) -> None:
        """Make the target a copy of the source, without its stage. Twice: the target is unchanged."""
        ...


@runtime_checkable
class Snapshots(Protocol):
    """Read-only snapshots of a folder."""

    def snapshot(self, place: FolderLocation, name: str) -> None: ...

    def snapshots(self, place: FolderLocation) -> Sequence[str]: ...

    def remove_snapshot(self, place: FolderLocation, name: str) -> None: ...
