"""Folders as Btrfs subvolumes, with quotas enforced by the kernel and instant clones.

Each folder is a subvolume with its files and its stage. A level 1 qgroup per scope counts its folders and the
subvolumes that sessions nest in them. The qgroup's number is stored as an attribute of the scope's directory.
"""

import errno
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from carrel.plugins import Plugin
from carrel.storage import btrfs_ioctls as ioctls
from carrel.storage.copies import copy_tree
from carrel.storage.port import (
    Advance,
    Capacity,
    FolderLocation,
    Measure,
    StorageError,
    StorageSettings,
    StorageUnavailable,
    StorageUnusable,
    Tick,
)
from carrel.storage.posix import FILES, GOING, STAGE, PosixBackend, directory, made, opened, share
from carrel.storage.walk import open_directory, remove_tree

_GROUPS = Path("/sys/fs/btrfs")
_NUMBER = "user.carrel.qgroup"
_MAKING = ".making-"
_SNAPSHOTS = ".snapshots-"
_SNAPSHOT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SUBVOLUME_INODE = 256
_MESSAGES = (
    errno.EDQUOT,
    errno.ENOSPC,
    errno.EEXIST,
    errno.ENOENT,
    errno.EROFS,
    errno.EIO,
    errno.EBUSY,
    errno.EINPROGRESS,
)


class BtrfsBackend(PosixBackend):
    """Implements HardQuota, FastUsage, Clone and Snapshots. Needs root and the `btrfs` command."""

    usage_late_s = 35.0

    def probe(self) -> Capacity:
        if os.geteuid() != 0:
            raise StorageUnusable("Only a server that runs as root can keep folders as Btrfs subvolumes.")
        if shutil.which("btrfs") is None:
            raise StorageUnusable("There is no command `btrfs`: install btrfs-progs.")
        capacity = super().probe()
        with self._opened() as root:
            if not self._groups(root).exists():
                _run("quota", "enable", _path(root), keep=(root,))
            if not (self._groups(root) / "inconsistent").exists():
                raise StorageUnusable("The kernel's Btrfs is too old: Linux 6.1 or later is needed.")
        return capacity

    def measure(self, place: FolderLocation) -> Measure:
        """Excludes data that is not yet written to disk: up to half a minute of writes.

        Subvolumes created by sessions, which would escape the quota, are added to its qgroup.
        """
        with self._opened_scope(place) as scope, self.opened_folder(place) as folder:
            groups = self._groups(scope)
            self._require_counted(scope)
            number = self._group_of(scope, place.scope)
            counted = ioctls.members(scope, number)
            mine = ioctls.subvolume(folder)
            subvolumes = [mine, *ioctls.nested(folder, mine)]
            pictures = self._pictures(scope, place)
            for one in {*subvolumes, *pictures} - counted:
                self._assign(scope, one, number)
            used = sum(_count(groups, one, "referenced") for one in subvolumes)
            used += sum(_count(groups, one, "exclusive") for one in pictures)
        return Measure(used_bytes=used, files=None)

    def set_quota(self, scope: str, limit_bytes: int | None) -> None:
        directory(scope)
        with self._opened() as root, made(root, scope) as above:
            number = self._group_of(above, scope)
            limit = "none" if limit_bytes is None else str(limit_bytes)
            _run("qgroup", "limit", limit, f"1/{number}", _path(above), keep=(above,))

    def clone(self, source: FolderLocation, target: FolderLocation) -> None:
        # 1. Create the copy under another name, so that an incomplete copy is never visible.
        # 2. Rename it.
        scope, name = directory(target.scope), directory(target.folder)
        with self._opened() as root, made(root, scope) as above:
            if _is_there(above, name):
                return
            self._delete_subvolume(above, _MAKING + name)
            with self.opened_folder(source) as folder:
                try:
                    self._copy(folder, above, _MAKING + name, self._group_of(above, scope))
                except BaseException:  # a partial copy would count against the quota
                    self._delete_subvolume(above, _MAKING + name)
                    raise
            os.rename(_MAKING + name, name, src_dir_fd=above, dst_dir_fd=above)
            os.fsync(above)
            self._count_anew_if_needed(above)

    def rescope(self, old: FolderLocation, new: FolderLocation) -> None:
        # Restartable at any point: completed steps are detected, and the qgroups are corrected.
        super().rescope(old, new)
        snapshots = _SNAPSHOTS + old.folder
        with self._opened() as root, made(root, old.scope) as former, opened(root, new.scope) as scope:
            if _is_there(former, snapshots):
                os.rename(snapshots, snapshots, src_dir_fd=former, dst_dir_fd=scope)
            wrong, right = self._group_of(former, old.scope), self._group_of(scope, new.scope)
            counted = ioctls.members(scope, wrong)
            for one in self._subvolumes(scope, new):
                if one in counted:
                    _run(
                        "qgroup",
                        "remove",
                        "--no-rescan",
                        f"0/{one}",
                        f"1/{wrong}",
                        _path(scope),
                        keep=(scope,),
                        may_say=(errno.ENOENT,),
                    )
                self._assign(scope, one, right)
            self._count_anew_if_needed(scope)

    def snapshot(self, place: FolderLocation, name: str) -> None:
        """Create a snapshot. Twice: the first one is kept."""
        if not _SNAPSHOT_NAME.fullmatch(name):
            raise ValueError(f"not a name of a snapshot: {name}")
        with self._opened_scope(place) as scope, self.opened_folder(place) as folder:
            with made(scope, _SNAPSHOTS + place.folder) as above:
                if not _is_there(above, name):
                    group = f"1/{self._group_of(scope, place.scope)}"
                    _run(
                        "subvolume",
                        "snapshot",
                        "-r",
                        "-i",
                        group,
                        _path(folder),
                        _path(above, name),
                        keep=(folder, above),
                    )
            self._count_anew_if_needed(scope)

    def snapshots(self, place: FolderLocation) -> Sequence[str]:
        with self._opened_scope(place) as scope:
            return self._snapshots(scope, place)

    def remove_snapshot(self, place: FolderLocation, name: str) -> None:
        """Delete a snapshot. Absent: success."""
        if not _SNAPSHOT_NAME.fullmatch(name):
            return
        try:
            with self._opened_scope(place) as scope, opened(scope, _SNAPSHOTS + place.folder) as above:
                self._delete_subvolume(above, name)
                self._forget_deleted(scope)
        except FileNotFoundError:
            return

    def _make_folder(self, scope: int, place: FolderLocation) -> None:
        group = f"1/{self._group_of(scope, place.scope)}"
        if not _is_there(scope, place.folder):
            try:
                _run("subvolume", "create", "-i", group, _path(scope, place.folder), keep=(scope,))
            except (StorageError, FileExistsError):
                if not _is_there(scope, place.folder):  # else a concurrent call was faster
                    raise
        _close_to_others(scope, place.folder)

    def _delete_folder(self, scope: int, place: FolderLocation, tick: Tick) -> None:
        tick(Advance(0, 0))
        self._delete_subvolume(scope, GOING + place.folder)
        snapshots = _SNAPSHOTS + place.folder
        for name in self._snapshots(scope, place):
            tick(Advance(0, 0))
            with opened(scope, snapshots) as above:
                self._delete_subvolume(above, name)
        remove_tree(scope, snapshots, tick)
        self._forget_deleted(scope)

    def _drop_scope(self, root: int, scope: str) -> None:
        """Keep the directory, which stores the quota."""

    def _copy(self, source: int, target_parent: int, name: str, group: int) -> None:
        """Snapshot the files of a folder into a new subvolume with an empty stage."""
        inherit = ("-i", f"1/{group}")
        if not ioctls.nested(source, ioctls.subvolume(source)):
            _run(
                "subvolume",
                "snapshot",
                *inherit,
                _path(source),
                _path(target_parent, name),
                keep=(source, target_parent),
            )
            with opened(target_parent, name) as copy:
                remove_tree(copy, STAGE, _silent)
        else:
            # A snapshot does not include the subvolumes that a session nested in the folder.
            _run("subvolume", "create", *inherit, _path(target_parent, name), keep=(target_parent,))
            with opened(target_parent, name) as copy, opened(source, FILES) as files:
                copy_tree(files, copy, FILES, _silent)
            _close_to_others(target_parent, name)
        with opened(target_parent, name) as copy, made(copy, STAGE) as stage:
            share(stage)

    def _delete_subvolume(self, parent: int, name: str) -> None:
        """Delete a subvolume with all nested ones. Absent: success."""
        try:
            handle = open_directory(parent, name)
        except FileNotFoundError:
            return
        try:
            if os.fstat(handle).st_ino == _SUBVOLUME_INODE:
                inner = ioctls.nested(handle, ioctls.subvolume(handle))
                for one in reversed(inner):
                    _run("subvolume", "delete", "-i", str(one), _path(handle), keep=(handle,))
        finally:
            os.close(handle)
        _run("subvolume", "delete", "-c", _path(parent, name), keep=(parent,))

    def _forget_deleted(self, scope: int) -> None:
        """Drop the empty qgroups of deleted subvolumes; newer kernels do this themselves."""
        try:
            number = int(os.getxattr(scope, _NUMBER))
        except OSError:
            return
        for one in ioctls.members(scope, number):
            if not ioctls.exists(scope, one):
                _run(
                    "qgroup",
                    "destroy",
                    f"0/{one}",
                    _path(scope),
                    keep=(scope,),
                    may_say=(errno.ENOENT, errno.EBUSY),
                )

    def _assign(self, scope: int, subvolume: int, number: int) -> None:
        """Add a subvolume to a qgroup. Twice, or if it was deleted meanwhile: no-op."""
        _run(
            "qgroup",
            "assign",
            "--no-rescan",
            f"0/{subvolume}",
            f"1/{number}",
            _path(scope),
            keep=(scope,),
            may_say=(errno.EEXIST, errno.ENOENT),
        )

    def _subvolumes(self, scope: int, place: FolderLocation) -> list[int]:
        """The subvolumes of a folder: its own, nested ones, its snapshots."""
        with opened(scope, place.folder) as folder:
            mine = ioctls.subvolume(folder)
            return [mine, *ioctls.nested(folder, mine), *self._pictures(scope, place)]

    def _pictures(self, scope: int, place: FolderLocation) -> list[int]:
        snapshots = []
        for name in self._snapshots(scope, place):
            with opened(scope, _SNAPSHOTS + place.folder) as above, opened(above, name) as picture:
                snapshots.append(ioctls.subvolume(picture))
        return snapshots

    def _snapshots(self, scope: int, place: FolderLocation) -> Sequence[str]:
        try:
            with opened(scope, _SNAPSHOTS + place.folder) as above:
                return sorted(os.listdir(above))
        except FileNotFoundError:
            return []

    @contextmanager
    def _opened_scope(self, place: FolderLocation) -> Iterator[int]:
        try:
            with self._opened() as root, opened(root, directory(place.scope)) as scope:
                yield scope
        except FileNotFoundError:
            raise self._missing(place) from None

    def _groups(self, handle: int) -> Path:
        """The sysfs directory of the qgroups. Raises: StorageUnusable."""
        try:
            return _GROUPS / str(ioctls.file_system(handle)) / "qgroups"
        except OSError as error:
            if error.errno == errno.ENOTTY:
                raise StorageUnusable(f"{self.root} is not on Btrfs.") from None
            raise

    def _group_of(self, scope: int, name: str) -> int:
        """The number of a scope's qgroup, created if missing.

        The number is stored before the qgroup is created, so that a retry after a kill uses the same one.
        """
        groups = self._groups(scope)
        try:
            number = int(os.getxattr(scope, _NUMBER))
        except OSError as error:
            if error.errno != errno.ENODATA:
                raise
            number = next(one for one in _numbers(name) if not (groups / f"1_{one}").exists())
            os.setxattr(scope, _NUMBER, str(number).encode())
            os.fsync(scope)
        if not (groups / f"1_{number}").exists():
            _run("qgroup", "create", f"1/{number}", _path(scope), keep=(scope,), may_say=(errno.EEXIST,))
        return number

    def _require_counted(self, scope: int) -> None:
        if self._count_anew_if_needed(scope):
            raise StorageUnavailable(f"Btrfs is rescanning the quotas of {self.root}. Try again later.")

    def _count_anew_if_needed(self, scope: int) -> bool:
        """Start a quota rescan if the kernel reports inconsistent counts, which copies into another scope cause."""
        if (self._groups(scope) / "inconsistent").read_text().strip() == "0":
            return False
        _run("quota", "rescan", _path(scope), keep=(scope,), may_say=(errno.EINPROGRESS,))
        return True


def _numbers(scope: str) -> Iterator[int]:
    """Candidate numbers for the qgroup of a scope; the first is almost always free."""
    attempt = 0
    while True:
        digest = hashlib.sha256(f"{scope} {attempt}".encode()).digest()
        yield int.from_bytes(digest[:6], "big") or 1
        attempt += 1


def _count(groups: Path, subvolume: int, which: str) -> int:
    try:
        return int((groups / f"0_{subvolume}" / which).read_text())
    except FileNotFoundError:  # deleted meanwhile
        return 0


def _is_there(parent: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _close_to_others(parent: int, name: str) -> None:
    with opened(parent, name) as made:
        os.fchmod(made, 0o700)


def _silent(advance: Advance) -> None:
    pass


def _path(handle: int, name: str | None = None) -> str:
    """A path by file descriptor, for a command that inherits the handle."""
    return f"/proc/self/fd/{handle}" if name is None else f"/proc/self/fd/{handle}/{name}"


def _run(*arguments: str, keep: tuple[int, ...], may_say: tuple[int, ...] = ()) -> None:
    """Run `btrfs`. keep: handles to inherit. may_say: expected errors. Raises: OSError, StorageError."""
    try:
        done = subprocess.run(
            ["btrfs", *arguments],
            pass_fds=keep,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except FileNotFoundError:
        raise StorageUnusable("There is no command `btrfs`: install btrfs-progs.") from None
    if done.returncode == 0:
        return
    message = done.stderr.decode(errors="replace").strip()
    for code in _MESSAGES:
        if os.strerror(code) in message:
            if code in may_say:
                return
            raise OSError(code, message)
    raise StorageError(f"btrfs {arguments[0]} {arguments[1]}: {message}")


PLUGIN = Plugin(StorageSettings, lambda settings: BtrfsBackend(settings.root), "Btrfs", BtrfsBackend)
