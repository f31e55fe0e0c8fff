"""API types of files.

A path is relative to its folder, with / between names; "" is the folder itself. A name is any UTF-8 string without /
and NUL, except "." and "..".
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from carrel.core.ids import UploadId
from carrel.http.query import QueryInt
from carrel.http.validation import says
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
    """name: invalid UTF-8 is shown as �, and readable is false; a session can rename the file.

    size_bytes: of a file. mode: permission bits, as octal digits. type: media type by the file name. etag: changes with
    the content; files only.
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
    """Filter of the list. sort: name, size or modified; prefix - for descending order; directories come first."""

    path: FilePath = ""
    sort: Literal["name", "-name", "size", "-size", "modified", "-modified"] = "name"
    limit: QueryInt = Field(default=200, ge=1, le=1000)
    cursor: str | None = Field(default=None, max_length=4096)
    kind: Literal["directory"] | None = None


class FileList(BaseModel):
    """total: number of entries of the directory. permission: yours in this folder; never null."""

    items: list[FileView]
    path: str
    total: int
    permission: Permission
    next_cursor: str | None


class FoundFiles(BaseModel):
    """complete: false if there are more results than requested, or the search timed out."""

    items: list[FileView]
    complete: bool


class DirectoryCreate(BaseModel):
    """Missing parents are created too."""

    model_config = {"extra": "forbid"}

    path: FilePath


class FilesMove(BaseModel):
    """paths: sources to move into the directory `to`; or a single path, with its new path in `rename_to`."""

    model_config = {"extra": "forbid"}

    paths: _Paths
    to: FilePath | None = None
    rename_to: FilePath | None = None
    clash: Clash = Clash.REFUSE


class FilesCopy(BaseModel):
    """paths: sources to copy into the directory `to`; or a single path, with the path of its copy in `rename_to`.

    folder: id or name of the target folder; omitted: the same folder.
    """

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
    """A failed operation and its reason."""

    path: str
    code: str
    message: str


class FilesDone(BaseModel):
    """paths: the new paths; for removals, the removed paths."""

    paths: list[str]
    refused: list[NotDone]


class LinkCreate(BaseModel):
    """paths: one file, or a selection to be sent as a zip file; "" is the whole folder."""

    model_config = {"extra": "forbid"}

    paths: _Paths


class LinkView(BaseModel):
    """url: valid for one minute, for this download only."""

    url: str
    expires_at: datetime


class UploadView(BaseModel):
    """An unfinished upload.

    partial: one of several parts sent in parallel; path: the target, if known. offset_bytes: bytes received.
    """

    id: UploadId
    path: str
    partial: bool
    offset_bytes: int
    length_bytes: int | None
    created_at: datetime
    expires_at: datetime


class UploadList(BaseModel):
    items: list[UploadView]
