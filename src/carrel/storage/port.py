"""The storage port: what Carrel needs from whatever keeps the files of folders.

A back end keeps folders (`FolderLocation`) below one root. Each folder has two directories on one file system, between
which a rename is atomic: its files, which sessions mount, and its stage, which nobody but Carrel sees: unfinished
uploads and what is on its way out are there, and count against the same quota.

Methods block: `storage.threads.Threads` runs them, with a deadline, in threads of that host alone. Everything is
safe to call twice; absent on removal is success. What a back end can do beyond the port is said by the protocols
that it also implements (`HardQuota`, `Clone`, `Snapshots`, `FastUsage`): ask with isinstance, never by name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from pydantic import BaseModel, Field

from carrel.core.ids import FolderId

WORK_UID = 1000
"""Whom files belong to: the user that every session runs as."""


class StorageError(Exception):
    """The storage said no. `message` is a sentence for people; `code` is stable."""

    code = "storage_error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class StorageUnavailable(StorageError):
    """The storage does not answer, or not in time; later may help."""

    code = "storage_unavailable"


class StorageUnusable(StorageError):
    """The root is not there, is of the wrong kind, or may not be used by this process: a person must look."""

    code = "storage_unusable"


class StorageFull(StorageError):
    """No space is left, for anybody."""

    code = "storage_full"


class OverQuota(StorageError):
    """The quota of the folder's owner is used up."""

    code = "over_quota"


@dataclass(frozen=True, slots=True)
class FolderLocation:
    """Where a folder is on its host. scope: whose quota it counts against, "user-ID" or "project-ID"."""

    scope: str
    folder: FolderId


@dataclass(frozen=True, slots=True)
class Capacity:
    """Of the whole storage, in bytes."""

    total_bytes: int
    free_bytes: int


@dataclass(frozen=True, slots=True)
class Measure:
    """What a folder takes, its stage too. used_bytes: allocated, each inode once. files: files and directories, each
    inode once; None where the storage knows the bytes without looking at files.
    """

    used_bytes: int
    files: int | None


@dataclass(frozen=True, slots=True)
class Advance:
    """How far a long call is. total: None while unknown."""

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
"""Called often, from the thread that works; raises to end the work early."""


class StorageBackend(Protocol):
    """One root. See the module for what all of it shares."""

    @property
    def root(self) -> Path: ...

    def probe(self) -> Capacity:
        """Look whether it can be used. Raises: StorageUnavailable, StorageUnusable."""
        ...

    def claim(self) -> None:
        """Say in the root, which was just probed, that it is ours, before there are folders in it. Twice: no-op."""
        ...

    def recognise(self) -> None:
        """Return when the root is one that was claimed, and takes changes, as far as there is room.

        Raises: StorageUnavailable for any other, such as an empty directory on which the storage is not mounted.
        """
        ...

    def create(self, place: FolderLocation) -> None:
        """Make an empty folder, writable for sessions and for this process. Twice: no-op.

        Raises: StorageUnavailable when the root was never claimed.
        """
        ...

    def remove(self, place: FolderLocation, tick: Tick) -> None:
        """Delete a folder with everything in it. It is gone at once, as a whole. Twice, or absent: success.

        Raises: StorageUnavailable when no folder of ours was ever in what is at the root, such as an empty directory
        on which the storage is not mounted.
        """
        ...

    def rescope(self, old: FolderLocation, new: FolderLocation) -> None:
        """Have a folder in another scope, at once, with all that is in it. Both places are of it. Twice: no-op.

        Raises: StorageUnavailable when it is in neither.
        """
        ...

    def files(self, place: FolderLocation) -> Path:
        """The directory that sessions mount. It need not exist."""
        ...

    def stage(self, place: FolderLocation) -> Path:
        """The directory for what is not finished. It need not exist."""
        ...

    def measure(self, place: FolderLocation) -> Measure:
        """What the folder takes now. May take long, unless the back end is also `FastUsage`.

        Raises: StorageUnavailable also when the folder is not there.
        """
        ...

    def places(self) -> Sequence[FolderLocation]:
        """All folders that are there."""
        ...


@runtime_checkable
class HardQuota(Protocol):
    """Writing past the limit fails at once with EDQUOT, in sessions too."""

    def set_quota(self, scope: str, limit_bytes: int | None) -> None:
        """Limit all folders of the scope together; None: no limit. Twice: no-op."""
        ...


@runtime_checkable
class FastUsage(Protocol):
    """`measure` of this back end answers at once, whatever the folder holds, with what was so this long ago."""

    usage_late_s: float


@runtime_checkable
class Clone(Protocol):
    """Whole folders are copied at once, sharing what is equal."""

    def clone(self, source: FolderLocation, target: FolderLocation) -> None:
        """Make the target a copy of the source, without its stage. Twice: the target stays as it is."""
        ...


@runtime_checkable
class Snapshots(Protocol):
    """Read-only pictures of a folder at a moment."""

    def snapshot(self, place: FolderLocation, name: str) -> None: ...

    def snapshots(self, place: FolderLocation) -> Sequence[str]: ...

    def remove_snapshot(self, place: FolderLocation, name: str) -> None: ...
