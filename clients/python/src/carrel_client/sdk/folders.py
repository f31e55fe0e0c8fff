"""Folders as objects."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from carrel_client import models
from carrel_client.client import ApiClient
from carrel_client.outcome import Transfer
from carrel_client.sdk.paging import items

Clash = Literal["refuse", "replace", "rename", "skip"]


class Folder:
    """A folder of files that sessions can mount. Paths in it are relative, with / between names."""

    def __init__(self, api: ApiClient, raw: models.VFolderView) -> None:
        self._api = api
        self._raw = raw

    def __repr__(self) -> str:
        return f"<Folder {self.id} {self.name!r}>"

    @property
    def raw(self) -> models.VFolderView:
        """The answer of the API that this object holds."""
        return self._raw

    @property
    def id(self) -> str:
        """The id, unique for ever."""
        return self._raw["id"]

    @property
    def name(self) -> str:
        """The name, under which sessions mount it in /home/work."""
        return self._raw["name"]

    @property
    def state(self) -> models.FolderState:
        """The state, such as "active" or "trash"."""
        return self._raw["state"]

    @property
    def used_bytes(self) -> int:
        """Size of its files when last measured."""
        return self._raw["used_bytes"]

    def refresh(self) -> Folder:
        """This object with the current attributes."""
        self._raw = self._api.vfolders.show(self.id)
        return self

    def ls(self, path: str = "") -> Iterator[models.FileView]:
        """What a directory holds, directories first, fetched page by page."""
        return items(self._api.files.list, self.id, path=path)

    def upload(
        self, sources: str | os.PathLike[str] | Sequence[str], to: str = "", *, clash: Clash = "refuse"
    ) -> Transfer:
        """Upload files and directories from this machine into a directory of the folder; resumable.

        A directory goes under its own name; with a slash at the end only its content. clash: what happens to a
        file that exists: "refuse", "replace", "rename" or "skip". Raises: CarrelError for the first file that failed.
        """
        done = self._api.transfers.upload(self.id, _paths(sources), to, clash=clash)
        return _checked(done)

    def download(
        self, paths: str | Sequence[str], to: str | os.PathLike[str] = ".", *, clash: Clash = "refuse"
    ) -> Transfer:
        """Download files and directories into a directory of this machine. "" is the whole folder. As `upload` else."""
        chosen = [paths] if isinstance(paths, str) else list(paths)
        return _checked(self._api.transfers.download(self.id, chosen, os.fspath(to), clash=clash))

    def read(self, path: str) -> bytes:
        """The content of a file."""
        with self._api.files.download(self.id, path=path) as answer:
            return answer.read()

    def write(self, path: str, content: bytes | str, *, new: bool = False) -> models.FileView:
        """Create or replace a file as a whole. new: only if there is none. Raises: ConflictError."""
        sent = content.encode() if isinstance(content, str) else content
        return self._api.files.write(self.id, path=path, content=sent, new=new)

    def mkdir(self, path: str) -> models.FileView:
        """Create a directory, and its parents."""
        return self._api.files.make_directory(self.id, path=path)

    def rm(self, *paths: str) -> models.FilesDone:
        """Delete files and directories."""
        return self._api.files.remove(self.id, paths=paths)

    def trash(self) -> Folder:
        """This object, moved to the trash. It must not be mounted in a live session."""
        self._api.vfolders.trash(self.id)
        return self.refresh()


class Folders:
    """Creates and finds folders."""

    def __init__(self, api: ApiClient) -> None:
        self._api = api

    def create(
        self,
        name: str,
        *,
        project: str | None = None,
        host: str | None = None,
        idempotency_key: str | None = None,
    ) -> Folder:
        """A new folder, of your own or of a project. host: the storage host, by id or name."""
        given: dict[str, Any] = {"project": project, "host": host}
        made = self._api.vfolders.create(
            name=name,
            idempotency_key=idempotency_key,
            **{field: value for field, value in given.items() if value is not None},
        )
        return Folder(self._api, made)

    def get(self, ref: str) -> Folder:
        """A folder by id or name. Raises: NotFoundError."""
        return Folder(self._api, self._api.vfolders.show(ref))

    def list(self, *, search: str | None = None, project: str | None = None) -> Iterator[Folder]:
        """Folders that you can use, by name, fetched page by page. search: part of the name."""
        views = items(self._api.vfolders.list, q=search, project=project, limit=200)
        return (Folder(self._api, each) for each in views)


def _paths(sources: str | os.PathLike[str] | Sequence[str]) -> list[str]:
    if isinstance(sources, (str, os.PathLike)):
        return [os.fspath(sources)]
    return [os.fspath(each) for each in sources]


def _checked(done: Transfer) -> Transfer:
    if done.failed:
        raise done.failed[0][1]
    return done
