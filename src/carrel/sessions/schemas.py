"""API types of sessions."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, Field

from carrel.core.ids import ContainerId, FolderId, SessionId
from carrel.http.paging import PageQuery
from carrel.images.schemas import AppRef
from carrel.nodes.groups.schemas import GroupRef
from carrel.sessions.spec import Priority, SessionName, SessionSpec, StopSignal, TimeLimit
from carrel.tables.session_states import ContainerRole, ContainerState, Result, SessionKind, SessionState
from carrel.tenancy.schemas import DomainRef, ProjectRef


@dataclass(frozen=True, kw_only=True)
class SessionCreate(SessionSpec):
    """image: a name in the catalogue or any image reference. name: generated when absent. description: free text.

    group: id or name of a resource group; default: "default", or the first one you may use. priority: 0 to 100,
    highest first; default 50. time_limit_s: the session ends after this many seconds. node: id or name of the node to
    run on, for administrators. mounts: folders to mount, besides your folders whose names start with a dot. start_at:
    earliest start.

    kind: a batch session runs `command`, a list of program and arguments, once, and ends with it. retries: how often
    the command is repeated if it fails; by default it never runs twice.

    bootstrap: a script that runs once before the session is used: before the command of a batch session, and at the
    first start of an interactive one. Its output is in the log; if it fails, the session ends. shm_bytes: size of
    /dev/shm, part of the memory. workdir: working directory, absolute or relative to /home/work. timezone, locale:
    values of TZ and LANG; default: those of your preferences. OMP_NUM_THREADS and similar variables are set to the
    number of CPUs unless env has them. stop_signal: sent to the main process when the session is terminated, default
    SIGTERM; grace_s: seconds until it is killed, default 10.
    """


class MountView(BaseModel):
    """A folder mounted in a session. folder_id: null when it was deleted. automatic: its name begins with a dot."""

    folder_id: FolderId | None
    folder_name: str
    path: str
    subpath: str
    read_only: bool
    automatic: bool


class SessionPriority(BaseModel):
    model_config = {"extra": "forbid"}

    priority: Priority


class SessionTimeLimit(BaseModel):
    model_config = {"extra": "forbid"}

    time_limit_s: TimeLimit


class SessionRename(BaseModel):
    model_config = {"extra": "forbid"}

    name: SessionName


class OwnerRef(BaseModel):
    id: str
    email: str


class ProgressView(BaseModel):
    """fraction: 0..1 when known."""

    phase: str
    fraction: float | None
    text: str


class SessionView(BaseModel):
    """reason: why it is pending, failed or ended. result: of a batch session that has ended. queue_position: 1 is
    next. idle_ends_at: when it will end for being idle, set with the warning; null before.
    """

    id: SessionId
    name: str
    kind: SessionKind
    state: SessionState
    result: Result | None
    reason: str | None
    progress: ProgressView | None
    image: str
    image_name: str | None
    domain: DomainRef
    project: ProjectRef
    owner: OwnerRef
    group: GroupRef
    priority: int
    time_limit_s: int | None
    slots: dict[str, int]
    node: str | None
    warnings: list[str]
    queue_position: int | None
    idle_ends_at: datetime | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class ContainerView(BaseModel):
    """name: the value for `?container=` and `--container`: main, sub1, sub2 ... id: part of the container's name on
    the engine. state: EXITED means stopped and not restarted, GONE means removed, ABANDONED means that its session was
    ended by force and that the engine has not confirmed its removal. exit_code: of its main process, if known.
    """

    id: ContainerId
    name: str
    role: ContainerRole
    index: int
    state: ContainerState
    node: str | None
    exit_code: int | None
    started_at: datetime | None
    ended_at: datetime | None


class SessionDetail(SessionView):
    """env: values are shown to the owner; others see ******** for each. containers: the main one first.

    command, retries: of a batch session, as requested. bootstrap: shown to the owner; others see ********.
    """

    description: str
    command: list[str]
    retries: int
    start_at: datetime | None
    bootstrap: str
    shm_bytes: int | None
    workdir: str | None
    timezone: str | None
    locale: str | None
    stop_signal: StopSignal
    grace_s: int
    env: dict[str, str]
    apps: list[AppRef]
    mounts: list[MountView]
    containers: list[ContainerView]


class SessionQuery(PageQuery):
    """Which sessions to list. sort: name, state, created_at or image; default: newest first."""

    state: str = Field(default="all", max_length=20, description="live, ended, all, or a state")
    q: str | None = Field(default=None, max_length=100, description="part of name or image")
    owner: str = Field(default="me", max_length=254, description="me, all, or the id or e-mail of a user")
    domain: str | None = Field(default=None, max_length=64, description="id or name of a domain")
    project: str | None = Field(default=None, max_length=64, description="id or name of a project")
    group: str | None = Field(default=None, max_length=64, description="id or name of a resource group")
    node: str | None = Field(
        default=None, max_length=64, description="id or name of a node of its containers"
    )
    kind: SessionKind | None = None


class SessionList(BaseModel):
    items: list[SessionView]
    next_cursor: str | None


class HistoryView(BaseModel):
    """cause: a code such as "created", "retry", "out_of_memory". from_state = to_state for notes.

    actor: e-mail of the person, null when Carrel did it.
    """

    at: datetime
    from_state: SessionState | None
    to_state: SessionState
    cause: str
    reason: str | None
    actor: str | None


class HistoryList(BaseModel):
    items: list[HistoryView]
    next_cursor: str | None = None
