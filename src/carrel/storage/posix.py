"""Folders as plain directories of any local or mounted POSIX file system.

ROOT/<scope>/<folder>/files and .../stage. Other users of the machine cannot traverse the directories of scopes and
folders; their content belongs to the sessions' user. A server that runs as neither root nor that user gets access by
ACLs, which new entries inherit.
"""

import errno
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from carrel.core.ids import FolderId
from carrel.plugins import Plugin
from carrel.storage import acls
from carrel.storage.port import (
    WORK_UID,
    Capacity,
    FolderLocation,
    Measure,
    StorageSettings,
    StorageUnavailable,
    StorageUnusable,
    Tick,
)
from carrel.storage.walk import DIRECTORY, measure, remove_tree

FILES = "files"
STAGE = "stage"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
MARK = ".carrel"
"""Marks a claimed root: if missing, something else is there, such as an empty mount point."""
GOING = ".going-"
"""Prefix of the name of a folder that is being deleted."""
_ATTEMPTS = 10


class PosixBackend:
    """Quotas are enforced by measuring, copies are made file by file; a folder changes its scope by a rename."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._acls_tried = False

    @property
    def root(self) -> Path:
        return self._root

    def probe(self) -> Capacity:
        self._make_root()
        with self._opened() as root:
            if not os.access(self._root, os.W_OK | os.X_OK, effective_ids=True):
                raise StorageUnusable(
                    f"The server may not write in {self._root}, or it is mounted read-only."
                )
            if os.fstat(root).st_mode & 0o002:
                raise StorageUnusable(
                    f"Everybody may write in {self._root}: remove that permission (chmod o-w)."
                )
            if not _owner_suffices() and not self._acls_tried:
                acls.attempt(root)
                self._acls_tried = True
            room = os.fstatvfs(root)
        return Capacity(total_bytes=room.f_blocks * room.f_frsize, free_bytes=room.f_bavail * room.f_frsize)

    def claim(self) -> None:
        with self._opened() as root:
            os.close(
                os.open(MARK, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=root)
            )

    def recognise(self) -> None:
        with self._opened() as root:
            self._recognise(root)

    def create(self, place: FolderLocation) -> None:
        scope, folder = directory(place.scope), directory(place.folder)
        for _ in range(_ATTEMPTS):
            try:
                with self._opened() as root:
                    self._recognise(root)
                    with made(root, scope) as above:
                        self._make_folder(above, place)
                        with opened(above, folder) as here:
                            for name in (FILES, STAGE):
                                with made(here, name) as inner:
                                    share(inner)
                            os.fsync(here)
                        os.fsync(above)
                return
            except FileNotFoundError:
                continue  # the scope's last other folder was just deleted together with the scope's directory
        raise StorageUnavailable(f"Directories in {self._root} disappear as soon as they are created.")

    def remove(self, place: FolderLocation, tick: Tick) -> None:
        # 1. Rename it: after a kill at any moment, the folder exists completely or not at all.
        # 2. Delete. A repeated call continues.
        scope, folder = directory(place.scope), directory(place.folder)
        with self._opened() as root:
            try:
                with opened(root, scope) as above:
                    self._delete_folder(above, place, tick)
                    try:
                        os.rename(folder, GOING + folder, src_dir_fd=above, dst_dir_fd=above)
                    except FileNotFoundError:
                        return
                    os.fsync(above)
                    self._delete_folder(above, place, tick)
            except FileNotFoundError:
                if not _is_marked(root):
                    raise self._missing(place) from None
            finally:
                self._drop_scope(root, scope)

    def rescope(self, old: FolderLocation, new: FolderLocation) -> None:
        former, folder = directory(old.scope), directory(old.folder)
        scope, name = directory(new.scope), directory(new.folder)
        with self._opened() as root, made(root, scope) as there:
            try:
                with opened(root, former) as here:
                    os.rename(folder, name, src_dir_fd=here, dst_dir_fd=there)
                    os.fsync(there)
                    os.fsync(here)
            except FileNotFoundError:
                with self.opened_folder(new):  # already moved, or in neither place
                    pass
            finally:
                self._drop_scope(root, former)
                self._drop_scope(root, scope)

    def files(self, place: FolderLocation) -> Path:
        return self._root / directory(place.scope) / directory(place.folder) / FILES

    def stage(self, place: FolderLocation) -> Path:
        return self._root / directory(place.scope) / directory(place.folder) / STAGE

    def measure(self, place: FolderLocation) -> Measure:
        with (
            self.opened_folder(place) as folder,
            opened(folder, FILES) as files,
            opened(folder, STAGE) as stage,
        ):
            stored, staged = measure(files), measure(stage)
        return Measure(used_bytes=stored.used_bytes + staged.used_bytes, files=stored.files)

    def places(self) -> Sequence[FolderLocation]:
        with self._opened() as root:
            return [
                FolderLocation(scope, FolderId(folder))
                for scope in _directories(root)
                for folder in self._folders(root, scope)
            ]

    @contextmanager
    def opened_folder(self, place: FolderLocation) -> Iterator[int]:
        """A handle of the folder's directory. Raises: StorageUnavailable if it is missing."""
        scope, folder = directory(place.scope), directory(place.folder)
        try:
            with self._opened() as root, opened(root, scope) as above, opened(above, folder) as here:
                yield here
        except FileNotFoundError:
            raise self._missing(place) from None

    def _recognise(self, root: int) -> None:
        try:
            # Reads may be served from the cache of a disk that is gone.
            os.utime(MARK, dir_fd=root, follow_symlinks=False)
        except FileNotFoundError:
            raise StorageUnavailable(
                f"{self._root} is not the directory that was added: there is no {MARK} in it. "
                "Is the storage mounted?"
            ) from None
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise

    def _missing(self, place: FolderLocation) -> StorageUnavailable:
        return StorageUnavailable(
            f"The folder {place.folder} is not in {self._root}. Is the storage mounted?"
        )

    def _make_folder(self, scope: int, place: FolderLocation) -> None:
        """Create the directory of a folder. scope: handle of its parent. Twice: no-op."""
        _mkdir(scope, place.folder)

    def _delete_folder(self, scope: int, place: FolderLocation, tick: Tick) -> None:
        """Delete a folder that was renamed for deletion. Absent: success."""
        remove_tree(scope, GOING + place.folder, tick)

    def _drop_scope(self, root: int, scope: str) -> None:
        """Delete the directory of a scope after its last folder."""
        try:
            os.rmdir(scope, dir_fd=root)
        except OSError:  # other folders remain, or it is already deleted
            pass

    def _folders(self, root: int, scope: str) -> Sequence[str]:
        try:
            with opened(root, scope) as above:
                return list(_directories(above))
        except FileNotFoundError:
            return []

    def _make_root(self) -> None:
        try:
            self._root.mkdir(mode=0o700)
        except FileExistsError:
            pass
        except FileNotFoundError:
            raise StorageUnusable(f"There is no directory {self._root.parent} for the root.") from None
        except (PermissionError, NotADirectoryError) as error:
            raise StorageUnusable(
                f"The directory {self._root} cannot be created: {error.strerror}."
            ) from None

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """A handle of the root. Raises: StorageUnusable."""
        try:
            root = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise StorageUnusable(f"There is no directory {self._root}.") from None
        except NotADirectoryError:
            raise StorageUnusable(f"{self._root} is not a directory.") from None
        except PermissionError:
            raise StorageUnusable(f"The server may not enter {self._root}.") from None
        try:
            yield root
        finally:
            os.close(root)


def directory(name: str) -> str:
    """The directory name of a scope or folder. Raises: ValueError for an invalid name."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"not the name of a scope or a folder: {name!r}")
    return name


@contextmanager
def opened(parent: int, name: str) -> Iterator[int]:
    """A handle of a directory. Raises: FileNotFoundError."""
    handle = os.open(name, DIRECTORY, dir_fd=parent)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def made(parent: int, name: str) -> Iterator[int]:
    """A handle of a directory, created if missing."""
    _mkdir(parent, name)
    with opened(parent, name) as handle:
        yield handle


def _is_marked(root: int) -> bool:
    return os.access(MARK, os.F_OK, dir_fd=root, follow_symlinks=False)


def _mkdir(parent: int, name: str) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=parent)
    except FileExistsError:
        pass


def _owner_suffices() -> bool:
    """True if this process runs as root or as the sessions' user."""
    return os.geteuid() in (0, WORK_UID)


def share(directory: int) -> None:
    """Give sessions access to a directory. The completion mark is set last, so that a repeated call is a no-op."""
    if not _owner_suffices():
        if not acls.are_set(directory):
            acls.set_both(directory)
    elif os.geteuid() == 0 and os.fstat(directory).st_uid != WORK_UID:
        os.fchmod(directory, 0o770)
        os.fchown(directory, WORK_UID, WORK_UID)


def _directories(parent: int) -> Iterator[str]:
    with os.scandir(parent) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                yield entry.name


PLUGIN = Plugin(
    StorageSettings, lambda settings: PosixBackend(settings.root), "Any POSIX file system", PosixBackend
)
