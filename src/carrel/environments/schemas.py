"""API types of environments."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from carrel.core.ids import EnvironmentId, EnvironmentVersionId, SessionId, ShareId
from carrel.engines.left_out import LeftOut
from carrel.http.paging import PageQuery
from carrel.http.validation import says
from carrel.nodes.slot_schemas import SlotAmounts
from carrel.tables.environments import VersionState
from carrel.tenancy.schemas import ProjectRef, UserRef

EnvironmentName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,38}[A-Za-z0-9]$"),
    says("A name has 2 to 40 letters or digits; between the first and the last also _ . and -."),
]
VersionName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,17}$"),
    says("A version has at most 18 letters, digits, _ . or - and begins with a letter or a digit."),
]
Note = Annotated[str, Field(max_length=500)]


class SessionSave(BaseModel):
    """name: of the environment, which is created if there is none. version: default: the next number. project: it
    belongs to this project instead of you, by id or name.
    """

    model_config = {"extra": "forbid"}

    name: EnvironmentName
    version: VersionName | None = None
    note: Note = ""
    project: Annotated[str, Field(max_length=64)] | None = None


class LeftOutPaths(BaseModel):
    kind: LeftOut
    paths: list[str]


class SavePreview(BaseModel):
    """What an image of the session has and lacks. base: the image below. changed_bytes: what its main container has
    written, as last measured, with what is left out; null while unknown. folders: mount points, whose content is left
    out. variables, files: names of variables and paths of files that the session was given, which are left out. paths:
    left out everywhere, with everything below them. possible: whether the engine can make images; refusal: why not.
    """

    session: SessionId
    base: str
    engine: str | None
    changed_bytes: int | None
    folders: list[str]
    variables: list[str]
    files: list[str]
    left_out: list[LeftOutPaths]
    refusal: str | None


class VersionProgress(BaseModel):
    """phase: copy, read or commit; of a build, a step. fraction: 0..1, if known."""

    phase: str
    fraction: float | None = None


class VersionView(BaseModel):
    """reference: of its image. base: name or reference of the image below it. size_bytes: with the image below;
    added_bytes: without. engine, node: where the image is, so that its sessions start only there. session: where it was
    saved from; recipe: kind of what it was built from instead. used_by: live sessions with it.
    """

    id: EnvironmentVersionId
    environment_id: EnvironmentId
    environment: str
    name: str
    note: str
    state: VersionState
    default: bool
    reference: str
    base: str
    engine: str
    node: str | None
    session_id: SessionId | None
    session: str
    recipe: str | None
    architecture: str | None
    min_slots: SlotAmounts
    apps: list[str]
    size_bytes: int | None
    added_bytes: int | None
    progress: VersionProgress | None
    problem: str | None
    used_by: int
    created_by: str | None
    created_at: datetime
    ended_at: datetime | None


class EnvironmentView(BaseModel):
    """owner: the user, or null if it belongs to the project. default_version: what its sessions start from unless they
    name a version; null: none is ready. added_bytes: of all its versions. shared_with: how many users and projects.
    may_start, may_change: whether you may. image: for a session request.
    """

    id: EnvironmentId
    name: str
    description: str
    owner: UserRef | None
    project: ProjectRef | None
    default_version: str | None
    versions: list[VersionView]
    added_bytes: int
    shared_with: int
    image: str
    may_start: bool
    may_change: bool
    created_at: datetime
    updated_at: datetime


class EnvironmentOwner(StrEnum):
    """ME: yours. USABLE: those that you may start from. ALL: every one that you may see."""

    ME = "me"
    USABLE = "usable"
    ALL = "all"


class EnvironmentQuery(PageQuery):
    """Which environments to list. sort: name, created_at or updated_at; default: name."""

    owner: EnvironmentOwner = EnvironmentOwner.USABLE
    q: str | None = Field(default=None, max_length=100, description="part of name or description")
    project: str | None = Field(
        default=None, max_length=64, description="id or name of a project that owns it"
    )


class EnvironmentList(BaseModel):
    items: list[EnvironmentView]
    next_cursor: str | None


class EnvironmentUpdate(BaseModel):
    """Omitted fields keep their values. default_version: the name of a version that is ready."""

    model_config = {"extra": "forbid"}

    name: EnvironmentName | None = None
    description: Annotated[str, Field(max_length=500)] | None = None
    default_version: VersionName | None = None


class VersionUpdate(BaseModel):
    model_config = {"extra": "forbid"}

    note: Note


class EnvironmentShareCreate(BaseModel):
    """Exactly one of them. user: e-mail or id of a user of the same domain. project: id or name."""

    model_config = {"extra": "forbid"}

    user: Annotated[str, Field(max_length=254)] | None = None
    project: Annotated[str, Field(max_length=64)] | None = None


class EnvironmentShareView(BaseModel):
    id: ShareId
    user: UserRef | None
    project: ProjectRef | None
    created_at: datetime


class EnvironmentShareList(BaseModel):
    items: list[EnvironmentShareView]


class EnvironmentQuota(BaseModel):
    """project: whose it is; null: yours. used_bytes: what versions add to the images below. limit_bytes: null:
    unlimited.
    """

    project: ProjectRef | None
    used_bytes: int
    limit_bytes: int | None


class EnvironmentQuotaList(BaseModel):
    items: list[EnvironmentQuota]
