"""WsgiDAV resources of folders: directories and files, changed only through the functions of the API.

WsgiDAV runs in a thread and calls back into the event loop, where Carrel's code runs.
"""

import mimetypes
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn
from urllib.parse import quote

from wsgidav.dav_error import DAVError
from wsgidav.dav_provider import DAVCollection, DAVNonCollection, DAVProvider

from carrel.folders import access
from carrel.folders.files import authorization, service
from carrel.folders.files.authorization import Admitted
from carrel.folders.files.folder_access import OpenedFolder
from carrel.folders.files.schemas import FilesDone, FilesMove
from carrel.folders.webdav import work
from carrel.folders.webdav.work import Call
from carrel.storage.listing import Entry, FileKind
from carrel.storage.paths import joined
from carrel.storage.staged import Staged
from carrel.storage.tree import Clash
from carrel.tables.folders import Permission

CALL = "carrel.call"
"""Key in the WSGI environ: the request's `Call`."""


class FolderProvider(DAVProvider):  # type: ignore[misc]
    """All folders by name, with their files below."""

    def is_readonly(self) -> bool:
        return False

    def get_resource_inst(
        self, path: str, environ: dict[str, Any]
    ) -> "RootResource | DirectoryResource | FileResource | None":
        call: Call = environ[CALL]
        name, _, inner = path.strip("/").partition("/")
        if not name:
            return RootResource(environ)
        opened = call.folder(name)
        if opened is None:
            return None
        try:
            entry = call.wait(work.entry(opened, inner))
        except DAVError as error:
            if error.value in (404, 409, 422):  # missing, below a file, or not a valid file name
                return None
            raise
        return _resource(name, opened, entry, environ)


class RootResource(DAVCollection):  # type: ignore[misc]
    """The folders that the actor may use. Folders cannot be created, removed or renamed here."""

    def __init__(self, environ: dict[str, Any]) -> None:
        super().__init__("/", environ)

    def get_member_names(self) -> list[str]:
        call: Call = self.environ[CALL]
        return call.wait(work.names(call))

    def get_member(self, name: str) -> "RootResource | DirectoryResource | FileResource | None":
        member: RootResource | DirectoryResource | FileResource | None = self.provider.get_resource_inst(
            f"/{name}", self.environ
        )
        return member

    def get_member_list(self) -> "list[RootResource | DirectoryResource | FileResource]":
        return [member for name in self.get_member_names() if (member := self.get_member(name))]

    def prevent_locking(self) -> bool:
        return True

    def set_property_value(self, name: str, value: object, *, dry_run: bool = False) -> NoReturn:
        raise DAVError(403, "The list of folders has no properties of its own.")

    def create_collection(self, name: str) -> NoReturn:
        raise DAVError(403, "Folders are made on the page, or by `carrel vfolder create`.")

    def create_empty_resource(self, name: str) -> NoReturn:
        raise DAVError(403, "Files are in folders.")


class _Inside:
    """Common base of directories and files."""

    environ: dict[str, Any]
    provider: FolderProvider
    path: str

    def __init__(self, name: str, opened: OpenedFolder, entry: Entry, environ: dict[str, Any]) -> None:
        super().__init__(joined(f"/{name}", entry.path), environ)  # type: ignore[call-arg]
        self.call: Call = environ[CALL]
        self.name = name
        self.opened = opened
        self.entry = entry

    def get_ref_url(self) -> str:
        """Key of locks: folders with the same name but different owners have different keys."""
        return self._ref_url(self.opened, self.entry.path)

    def _ref_url(self, opened: OpenedFolder, path: str) -> str:
        """The key of a resource of this kind at the path."""
        ending = "/" if isinstance(self, DirectoryResource) else ""
        return quote(joined(f"/{opened.folder.id}", path)) + ending

    def set_property_value(self, name: str, value: Any, *, dry_run: bool = False) -> object:
        if self.prevent_locking():
            raise DAVError(403, "This folder may only be read.")
        return super().set_property_value(name, value, dry_run=dry_run)  # type: ignore[misc]

    def get_last_modified(self) -> float:
        return self.entry.modified_ns / 10**9

    def get_creation_date(self) -> None:
        return None

    def prevent_locking(self) -> bool:
        return access.ORDER.index(self.opened.permission) < access.ORDER.index(Permission.WRITE)

    def delete(self) -> None:
        if not self.entry.path:
            raise DAVError(403, "A folder is put into the trash on the page, or by `carrel vfolder rm`.")
        _require_done(
            self.call.wait(
                service.remove(self.call.services, self.call.actor, self._folder, [self.entry.path])
            )
        )
        if self.provider.lock_manager:
            self.provider.lock_manager.remove_all_locks_from_url(self.get_ref_url())
        self.provider.prop_manager.forget(self.get_ref_url())

    def handle_delete(self) -> bool:
        locks = self.provider.lock_manager
        if locks:
            locks.check_write_permission(
                url=self.get_ref_url(),
                depth="infinity",
                token_list=self.environ["wsgidav.ifLockTokenList"],
                principal=self.environ["wsgidav.user_name"],
            )
        self.delete()
        return True

    def support_recursive_move(self, dest_path: str) -> bool:
        return True

    def move_recursive(self, dest_path: str) -> list[object]:
        self._move(dest_path, Clash.REFUSE)
        return []

    def _move(self, dest_path: str, clash: Clash) -> None:
        name, to = _split(dest_path)
        if not self.entry.path or not to:
            raise DAVError(403, "Folders keep their names here.")
        if self.call.folder(name) != self.opened:
            self._copy(dest_path, clash)
            self.delete()
            return
        request = FilesMove(paths=[self.entry.path], rename_to=to, clash=clash)
        _require_done(
            self.call.wait(service.move(self.call.services, self.call.actor, self._folder, request))
        )
        if self.provider.lock_manager:
            self.provider.lock_manager.remove_all_locks_from_url(self.get_ref_url())
        self.provider.prop_manager.forget(self._ref_url(self.opened, to))
        self.provider.prop_manager.move_properties(
            self.get_ref_url(), self._ref_url(self.opened, to), with_children=True
        )

    def _copy(self, dest_path: str, clash: Clash) -> None:
        """Copy a file, or a directory with everything in it."""
        name, to = _split(dest_path)
        if not self.entry.path or not to:
            raise DAVError(403, "Folders are copied on the page, or by `carrel vfolder clone`.")
        self.call.wait(work.copy(self.call, self.opened, self.entry.path, name, to, clash))
        if target := self.call.folder(name):
            self.provider.prop_manager.copy_properties(self.get_ref_url(), self._ref_url(target, to))

    @property
    def _folder(self) -> str:
        return self.opened.folder.id


class DirectoryResource(_Inside, DAVCollection):  # type: ignore[misc]
    """A folder, or a directory in it."""

    def get_display_name(self) -> str:
        return self.entry.name or self.name

    def get_member_list(self) -> "list[DirectoryResource | FileResource]":
        entries = self.call.wait(work.listed(self.opened, self.entry.path))
        return [_resource(self.name, self.opened, entry, self.environ) for entry in entries]

    def get_member_names(self) -> list[str]:
        return [member.entry.name for member in self.get_member_list()]

    def get_member(self, name: str) -> "RootResource | DirectoryResource | FileResource | None":
        return self.provider.get_resource_inst(joined(self.path, name), self.environ)

    def get_used_bytes(self) -> int | None:
        return None if self.entry.path else self.opened.folder.used_bytes

    def get_available_bytes(self) -> int | None:
        if self.entry.path or self.prevent_locking():
            return None
        return self.call.wait(authorization.inward(self.call.services, self.call.actor, self._folder)).room

    def create_collection(self, name: str) -> None:
        path = joined(self.entry.path, name)
        self.call.wait(service.make_directory(self.call.services, self.call.actor, self._folder, path))

    def create_empty_resource(self, name: str) -> "FileResource":
        """A file that is created when its content arrives; or immediately, empty, for a client that locks it first."""
        entry = Entry(joined(self.entry.path, name), FileKind.FILE, 0, 0, 0, 0)
        file = FileResource(self.name, self.opened, entry, self.environ)
        if self.environ["REQUEST_METHOD"] == "LOCK":
            file.begin_write()
            file.end_write(with_errors=False)
        return file

    def handle_copy(self, dest_path: str, *, depth_infinity: bool) -> bool:
        return False

    def copy_move_single(self, dest_path: str, *, is_move: bool) -> None:
        """Create the target directory only: WsgiDAV handles the entries separately. Existing entries are kept."""
        name, to = _split(dest_path)
        if not to or (target := self.call.folder(name)) is None:
            raise DAVError(403, "Folders are copied on the page, or by `carrel vfolder clone`.")
        self.call.wait(service.make_directory(self.call.services, self.call.actor, target.folder.id, to))


class FileResource(_Inside, DAVNonCollection):  # type: ignore[misc]
    """A file. Its content goes straight from the connection to the disk, not through WSGI."""

    _file: Staged | None = None
    _admitted: Admitted | None = None

    def get_content_length(self) -> int:
        return self.entry.size_bytes

    def get_content_type(self) -> str:
        return mimetypes.guess_type(self.entry.name)[0] or "application/octet-stream"

    def get_etag(self) -> str | None:
        return self.entry.etag.strip('"') if self.entry.etag and self.entry.inode else None

    def support_etag(self) -> bool:
        return True

    def support_ranges(self) -> bool:
        return True

    def get_content(self) -> NoReturn:
        raise DAVError(405)  # sent before WsgiDAV is called

    def begin_write(self, *, content_type: str | None = None) -> "FileResource":
        self._admitted, self._file = self.call.wait(work.begun(self.call, self._folder))
        return self

    def writelines(self, _: object) -> None:
        """Receive the request's body."""
        assert self._file
        assert self._admitted
        self.call.wait(work.received(self.call, self._admitted, self._file))

    def close(self) -> None:
        """Twice, or before `end_write`: no-op."""

    def end_write(self, *, with_errors: bool) -> None:
        if self._file is None or self._admitted is None:
            return
        file, self._file = self._file, None
        if with_errors:
            self.call.wait(work.dropped(self._admitted.opened, file))
        else:
            modified = self.environ.get("HTTP_X_OC_MTIME", "")
            modified_ns = int(modified) * 10**9 if modified.isdecimal() and len(modified) < 11 else None
            placing = work.placed(self.call, self._admitted.opened, file, self.entry.path, modified_ns)
            self.entry = self.call.wait(placing)

    def set_last_modified(self, dest_path: str, time_stamp: str, *, dry_run: bool) -> bool:
        """Set the modification time, as Explorer and davfs2 request after an upload."""
        try:
            when: datetime = parsedate_to_datetime(time_stamp)
        except ValueError:
            raise DAVError(400, "This is no date.") from None
        if not dry_run:
            ns = int(when.timestamp()) * 10**9
            self.call.wait(work.touched(self.call, self._folder, self.entry.path, ns))
        return True

    def handle_move(self, dest_path: str) -> bool:
        """Replace another file atomically."""
        if not self._over_a_file(dest_path):
            return False
        self._move(dest_path, Clash.REPLACE)
        return True

    def handle_copy(self, dest_path: str, *, depth_infinity: bool) -> bool:
        if not self._over_a_file(dest_path):
            return False
        self._copy(dest_path, Clash.REPLACE)
        return True

    def copy_move_single(self, dest_path: str, *, is_move: bool) -> None:
        self._copy(dest_path, Clash.REPLACE)

    def _over_a_file(self, dest_path: str) -> bool:
        return isinstance(self.provider.get_resource_inst(dest_path, self.environ), FileResource)


def _resource(
    name: str, opened: OpenedFolder, entry: Entry, environ: dict[str, Any]
) -> DirectoryResource | FileResource:
    kind = DirectoryResource if entry.kind is FileKind.DIRECTORY else FileResource
    return kind(name, opened, entry, environ)


def _split(dest_path: str) -> tuple[str, str]:
    """The folder's name and the path in it."""
    name, _, inner = dest_path.strip("/").partition("/")
    return name, inner


def _require_done(done: FilesDone) -> None:
    for refused in done.refused:
        raise DAVError(409, refused.message)
