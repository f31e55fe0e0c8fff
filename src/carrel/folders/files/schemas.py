"""API types of files.

A path is relative to its folder, with / between names; "" is the folder itself. A name is any UTF-8 but / and NUL; "."
and ".." are none.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from carrel.core.ids import UploadId
from carrel.http.query import QueryInt
from carrel.http.rules import says
from carrel.storage.listing import FileKind
from carrel.storage.tree import Clash
from carrel.tables.folders import Permission

PATH_PATTERN = r"^[^\x00]*$"
FilePath = Annotated[
    str,
    StringConstraints(pattern=PATH_PATTERN, max_length=4096),
    says("A path is at most 4096 characters, relative to the folder, with / between names."),
]
_Paths = Annotated[list[FilePath], Field(min_length=1, max_length=1000)]


class FileView(BaseModel):
    """name: what cannot be read as UTF-8 is shown with � in it, and readable is false: a session can rename it.
    size_bytes: of a file. mode: permission bits, as octal digits. type: its media type, by its name. etag: changes
    with its content; of files only.
    """

    name: str
    path: str
    kind: FileKind
    readable: bool
    size_bytes: int | None
    mode: str
    type: str | None
    etag: str | None
    modified_at: datetime


class FileQuery(BaseModel):
    """Which to list. sort: name, size or modified; with - before it, the greatest first; directories come first."""

    path: FilePath = ""
    sort: Literal["name", "-name", "size", "-size", "modified", "-modified"] = "name"
    limit: QueryInt = Field(default=200, ge=1, le=1000)
    cursor: str | None = Field(default=None, max_length=4096)
    kind: Literal["directory"] | None = None


class FileList(BaseModel):
    """total: how many are in the directory. permission: what you may do here; null never."""

    items: list[FileView]
    path: str
    total: int
    permission: Permission
    next_cursor: str | None


class FoundFiles(BaseModel):
    """complete: false when there were more than asked for, or looking took too long."""

    items: list[FileView]
    complete: bool


class DirectoryCreate(BaseModel):
    """Its parents are made too."""

    model_config = {"extra": "forbid"}

    path: FilePath


class FilesMove(BaseModel):
    """paths: what to move into the directory `to`; or one path, with its new path in `rename_to`."""

    model_config = {"extra": "forbid"}

    paths: _Paths
    to: FilePath | None = None
    rename_to: FilePath | None = None
    clash: Clash = Clash.REFUSE


class FilesCopy(BaseModel):
    """paths: what to copy into the directory `to`; or one path, with the path of its copy in `rename_to`. folder: id or
    name of another folder to copy into; left out: the same."""

    model_config = {"extra": "forbid"}

    paths: _Paths
    to: FilePath = ""
    rename_to: FilePath | None = None
    folder: str | None = Field(default=None, max_length=64)
    clash: Clash = Clash.REFUSE


class FilesRemove(BaseModel):
    model_config = {"extra": "forbid"}

    paths: _Paths


class FilesPack(BaseModel):
    model_config = {"extra": "forbid"}

    paths: _Paths


class NotDone(BaseModel):
    """What could not be done, and why."""

    path: str
    code: str
    message: str


class FilesDone(BaseModel):
    """paths: where they are now; for removal, what is gone."""

    paths: list[str]
    refused: list[NotDone]


class LinkCreate(BaseModel):
    """paths: one file, or a selection that comes as a zip file; "" is the whole folder."""

    model_config = {"extra": "forbid"}

    paths: _Paths


class LinkView(BaseModel):
    """url: for one minute, and for this alone."""

    url: str
    expires_at: datetime


class UploadView(BaseModel):
    """An upload that is not finished. partial: a piece of one that is sent side by side; path: where that is to be, if
    it was said. offset_bytes: how much has arrived."""

    id: UploadId
    path: str
    partial: bool
    offset_bytes: int
    length_bytes: int | None
    created_at: datetime
    expires_at: datetime


class UploadList(BaseModel):
    items: list[UploadView]
