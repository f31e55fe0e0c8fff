"""API types of folders, sharing, tasks and quotas."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from carrel.core.ids import FolderId, FolderTaskId, SessionId, ShareId
from carrel.folders.hosts.schemas import StorageHostRef
from carrel.http.paging import PageQuery
from carrel.http.query import QueryBool
from carrel.http.validation import says
from carrel.tables.folder_states import FolderState
from carrel.tables.folders import Permission, ShareState, TaskKind, TaskState, UsageMode
from carrel.tenancy.schemas import Email, ProjectRef, Ref, UserRef

FolderName = Annotated[
    str,
    StringConstraints(pattern=r"^\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*$", max_length=64),
    says("A folder's name has 1 to 64 letters, digits, - _ and . in it."),
]


class VFolderCreate(BaseModel):
    """name: with a leading dot, the folder is mounted into every session of its owner automatically.

    host: id or name of a storage host; omitted: the one with the most free space that you may use. project: id or name;
    omitted: the folder is yours. permission: maximum permission of members and of mounts.
    """

    model_config = {"extra": "forbid"}

    name: FolderName
    host: Ref | None = None
    project: Ref | None = None
    usage_mode: UsageMode = UsageMode.GENERAL
    permission: Permission = Permission.WRITE


class VFolderUpdate(BaseModel):
    """Omitted fields keep their values."""

    model_config = {"extra": "forbid"}

    name: FolderName = ""
    usage_mode: UsageMode = UsageMode.GENERAL
    permission: Permission = Permission.WRITE


class VFolderClone(BaseModel):
    """A copy under a new name, on the same host unless specified.

    It belongs to you, or to owner (a user's id or e-mail) or project (id or name); specify at most one.
    """

    model_config = {"extra": "forbid"}

    name: FolderName
    host: Ref | None = None
    owner: Ref | None = None
    project: Ref | None = None


class VFolderMove(BaseModel):
    model_config = {"extra": "forbid"}

    host: Ref


class VFolderHandOver(BaseModel):
    """The new owner: a user's id or e-mail, or a project's id or name; exactly one."""

    model_config = {"extra": "forbid"}

    user: Ref | None = None
    project: Ref | None = None


class TaskView(BaseModel):
    """done, total: bytes and files; totals are null while unknown. problem: why it failed."""

    id: FolderTaskId
    kind: TaskKind
    folder_id: FolderId | None
    folder_name: str
    state: TaskState
    done_bytes: int
    total_bytes: int | None
    done_files: int
    total_files: int | None
    problem: str | None
    created_at: datetime
    ended_at: datetime | None


class TaskQuery(PageQuery):
    """Filter of the list. sort: created_at. open: only unfinished tasks."""

    open: QueryBool = False
    folder: Ref | None = None


class TaskList(BaseModel):
    items: list[TaskView]
    next_cursor: str | None


class VFolderView(BaseModel):
    """owner, project: exactly one of them is set. my_permission: yours on its files; null: none, administration only.

    mine: whether you own it, or administer its project. used_bytes, files: as last measured; directories are not files.
    shared: number of shares. mounted: number of live sessions that mount it. task: the current task. expires_at: when
    it is permanently deleted from the trash.
    """

    id: FolderId
    name: str
    host: StorageHostRef
    owner: UserRef | None
    project: ProjectRef | None
    usage_mode: UsageMode
    permission: Permission
    my_permission: Permission | None
    mine: bool
    automatic: bool
    state: FolderState
    reason: str | None
    used_bytes: int
    files: int
    measured_at: datetime | None
    shared: int
    mounted: int
    task: TaskView | None
    created_at: datetime
    trashed_at: datetime | None
    expires_at: datetime | None


class VFolderQuery(PageQuery):
    """Filter of the list. sort: name, created_at, used_bytes or trashed_at.

    of: your own, those of your projects, those shared with you, all of these ("me"), or all that you may see ("all").
    state: in use, or in the trash. mountable: only those that your sessions can mount.
    """

    of: Literal["me", "mine", "project", "shared", "all"] = "me"
    state: Literal["active", "trash"] = "active"
    domain: Ref | None = None
    project: Ref | None = None
    owner: Ref | None = None
    host: Ref | None = None
    usage_mode: UsageMode | None = None
    automatic: QueryBool | None = None
    mountable: QueryBool = False
    q: str | None = Field(default=None, max_length=100, description="part of the name")


class VFolderList(BaseModel):
    items: list[VFolderView]
    next_cursor: str | None


class ShareCreate(BaseModel):
    """users: e-mails to invite. projects: ids or names; their members get access immediately."""

    model_config = {"extra": "forbid"}

    users: list[Email] = Field(default=[], max_length=100)
    projects: list[Ref] = Field(default=[], max_length=100)
    permission: Permission = Permission.READ


class ShareUpdate(BaseModel):
    model_config = {"extra": "forbid"}

    permission: Permission


class ShareView(BaseModel):
    """user, project: the recipient; exactly one is set."""

    id: ShareId
    user: UserRef | None
    project: ProjectRef | None
    permission: Permission
    state: ShareState
    invited_by: UserRef | None
    created_at: datetime
    accepted_at: datetime | None


class ShareList(BaseModel):
    items: list[ShareView]


class NotShared(BaseModel):
    """A recipient without a share, and the reason."""

    who: str
    code: str
    message: str


class SharesAdded(BaseModel):
    items: list[ShareView]
    refused: list[NotShared]


class MountedIn(BaseModel):
    """A live session that mounts the folder. session_name, owner: null if you may not see them."""

    session_id: SessionId
    session_name: str | None
    owner: UserRef | None
    path: str
    subpath: str
    read_only: bool


class MountList(BaseModel):
    items: list[MountedIn]


class ShareChanged(BaseModel):
    """still_mounted: live sessions of the recipient that keep the previous access until they end."""

    share: ShareView | None
    still_mounted: list[MountedIn]


class AccessEntry(BaseModel):
    """A user with access to the files, since when, and why: as owner, by a share, or by a project."""

    user: UserRef
    permission: Permission
    via: Literal["owner", "share", "project", "shared_project"]
    project: ProjectRef | None
    since: datetime


class AccessList(BaseModel):
    items: list[AccessEntry]


class InvitationView(BaseModel):
    """A folder that another user offers you."""

    id: ShareId
    folder_id: FolderId
    folder_name: str
    owner: UserRef | None
    project: ProjectRef | None
    invited_by: UserRef | None
    permission: Permission
    used_bytes: int
    created_at: datetime


class InvitationList(BaseModel):
    items: list[InvitationView]


class QuotaView(BaseModel):
    """Folder usage of a user or project. most_*: limits; null: none.

    level: caution from 80 %, insufficient at the limit.
    """

    kind: Literal["user", "project"]
    id: str
    label: str
    folders: int
    most_folders: int | None
    used_bytes: int
    most_bytes: int | None
    level: Literal["adequate", "caution", "insufficient"]
    measured_at: datetime | None


class QuotaQuery(PageQuery):
    """Filter of the list. sort: label or used_bytes. of: yours and your projects', or all that you may see."""

    of: Literal["me", "all"] = "me"
    kind: Literal["user", "project"] | None = None
    q: str | None = Field(default=None, max_length=100, description="part of the name or e-mail")


class QuotaList(BaseModel):
    items: list[QuotaView]
    next_cursor: str | None
