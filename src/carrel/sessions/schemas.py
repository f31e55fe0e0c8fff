"""API types of sessions."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, Field

from carrel.core.ids import ContainerId, FolderId, SessionId, TemplateId
from carrel.http.paging import PageQuery
from carrel.images.schemas import AppRef
from carrel.nodes.groups.schemas import GroupRef
from carrel.sessions.spec import Cpu, Mem, Priority, SessionName, SessionSpec, StopSignal, TimeLimit
from carrel.tables.dependencies import DependencyCondition, DependencyFailure
from carrel.tables.session_shares import AccessLevel
from carrel.tables.session_states import (
    ClusterPlacement,
    ContainerRole,
    ContainerState,
    OnFailure,
    Result,
    Rights,
    SessionKind,
    SessionState,
)
from carrel.tenancy.schemas import DomainRef, ProjectRef


@dataclass(frozen=True, kw_only=True)
class SessionCreate(SessionSpec):
    """image: a name in the catalogue or any image reference. name: generated when absent. description: free text.

    group: id or name of a resource group; default: "default", or the first one you may use. priority: 0 to 100,
    highest first; default 50. time_limit_s: the session ends after this many seconds. node: id or name of the node to
    run on, for administrators. mounts: folders to mount, besides your folders whose names start with a dot. start_at:
    earliest start.

    array: create one session for each index, named NAME-INDEX, with CARREL_ARRAY_INDEX in its environment.
    disk_bytes: what each container may write outside its folders; default and maximum: those of your policy. Where the
    node has the capability disk-limit, more does not fit; elsewhere, the session ends if it is far above.
    rights: root makes `sudo` and package managers work inside, if your policy and the group's nodes allow it.

    kind: a batch session runs `command`, a list of program and arguments, once, and ends with it. retries: how often
    the command is repeated if it fails; by default it never runs twice.

    after: the sessions that must end before it starts: your own, or those of its project. on_dependency_failure: cancel
    it once one of them has not ended as needed, or let it wait until you cancel or replace it.
    containers: a cluster session of the main container and others like it, sub1, sub2 ... in a network of their own.
    roles: containers that differ, instead of that; main, if it is not among them, is as the session. placement:
    together on one node, or spread over any nodes that reach each other. In a group with a topology, together is also
    in the narrowest domain that has room for all, and spread over different domains first. topology: a level of it, a
    label or "node": all containers are within one domain, or wait. on_failure: whether the session ends when a
    container other than main fails, or continues.

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


class SessionResize(BaseModel):
    """cpu: millicores, mem: bytes; omitted: unchanged. container: its name, such as sub1; default: the main one."""

    model_config = {"extra": "forbid"}

    cpu: Cpu | None = None
    mem: Mem | None = None
    container: Annotated[str, Field(max_length=64)] | None = None


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


class ArrayCount(BaseModel):
    """How many sessions of an array are in a state and have a result."""

    state: SessionState
    result: Result | None
    count: int


class ArrayView(BaseModel):
    """An array of sessions with the indexes first..last. id: of its first session."""

    id: SessionId
    name: str
    first: int
    last: int
    max_parallel: int | None
    counts: list[ArrayCount]


class SessionView(BaseModel):
    """reason: why it is pending, failed or ended. result: of a batch session that has ended. queue_position: 1 is
    next; in an array only of the first pending one. idle_ends_at: when it will end for being idle,
    limit_ends_at: when it will end at its time limit; both set with the warning, null before.

    array_id, array_index: of a session of an array. array: in a list only if the row stands for the whole array.
    shared_as: what a share permits you to do with another user's session; null: it is not shared with you.
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
    cluster_size: int
    node: str | None
    warnings: list[str]
    queue_position: int | None
    idle_ends_at: datetime | None
    limit_ends_at: datetime | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    array_id: SessionId | None
    array_index: int | None
    array: ArrayView | None
    shared_as: AccessLevel | None


class ContainerView(BaseModel):
    """name: the value for `?container=` and `--container`: main, sub1, sub2 ... host: its name in the network of the
    session. id: part of the container's name on the engine. state: EXITED means stopped and not restarted, GONE means
    removed, ABANDONED means that its session was ended by force and that the engine has not confirmed its removal.
    exit_code: of its main process, if known. resize: the slots that it will have, while they change. image_digest: in
    its registry, of what it ran at its last start: image@digest starts the same again; null: not started, or built
    here. image_id: the engine's own id of it.
    """

    id: ContainerId
    name: str
    role: ContainerRole
    host: str
    image: str
    image_digest: str | None
    image_id: str | None
    slots: dict[str, int]
    index: int
    state: ContainerState
    node: str | None
    exit_code: int | None
    resize: dict[str, int] | None
    started_at: datetime | None
    ended_at: datetime | None


class DependencyView(BaseModel):
    """A dependency, with the other session. id, name: null if you may not see it. met: null while it is not known.

    array: the other is a whole array, of which the other fields describe the first session.
    """

    id: SessionId | None
    name: str | None
    array: ArrayView | None
    condition: DependencyCondition
    state: SessionState
    result: Result | None
    met: bool | None


class ClusterRoleView(BaseModel):
    """A role as requested. image, slots, shm_bytes: null for those of the session."""

    name: str
    count: int
    image: str | None
    slots: dict[str, int] | None
    shm_bytes: int | None
    command: list[str]
    env: dict[str, str]


class TemplateOrigin(BaseModel):
    """A template as it was when a session was started from it."""

    id: TemplateId
    name: str
    revision: int


class DeprecatedImage(BaseModel):
    """successor: the name of the image to use instead; null: none is named."""

    successor: str | None


class SessionDetail(SessionView):
    """env: values are shown to the owner; others see ******** for each. containers: the main one first. template:
    which one it was started from.

    command, retries: of a batch session, as requested. after: the sessions that it starts after. dependants: the
    sessions that start after it and that you may see, the newest 100. bootstrap: shown to the owner; others see
    ********. disk_bytes: as requested; disk_limit_bytes: what applies to each container, with the default of the
    policy; null: no limit. accepted_groups: the preferred first; `group` is the one in which it was placed, or the
    preferred one while it is pending. may_leave: it is shared with you personally or by a link. image_deprecated: null
    if it is not.
    """

    image_deprecated: DeprecatedImage | None

    may_leave: bool
    accepted_groups: list[GroupRef]
    description: str
    command: list[str]
    retries: int
    start_at: datetime | None
    after: list[DependencyView]
    dependants: list[DependencyView]
    on_dependency_failure: DependencyFailure
    roles: list[ClusterRoleView]
    placement: ClusterPlacement
    topology: str | None
    on_failure: OnFailure
    bootstrap: str
    shm_bytes: int | None
    workdir: str | None
    timezone: str | None
    locale: str | None
    stop_signal: StopSignal
    grace_s: int
    rights: Rights
    disk_bytes: int | None
    disk_limit_bytes: int | None
    template: TemplateOrigin | None
    env: dict[str, str]
    apps: list[AppRef]
    mounts: list[MountView]
    containers: list[ContainerView]


class ArrayRows(StrEnum):
    """How a list shows arrays: one row each, or all of their sessions."""

    COLLAPSED = "collapsed"
    EXPANDED = "expanded"


class SessionFilter(BaseModel):
    """Which sessions to list or count."""

    q: str | None = Field(default=None, max_length=100, description="part of name or image")
    owner: str = Field(
        default="me", max_length=254, description="me, shared (with you), all, or the id or e-mail of a user"
    )
    domain: str | None = Field(default=None, max_length=64, description="id or name of a domain")
    project: str | None = Field(default=None, max_length=64, description="id or name of a project")
    group: str | None = Field(default=None, max_length=64, description="id or name of a resource group")
    node: str | None = Field(
        default=None, max_length=64, description="id or name of a node of its containers"
    )
    kind: SessionKind | None = None


_State = Annotated[str, Field(max_length=20, description="live, ended, all, or a state")]


class CountQuery(SessionFilter):
    """Which sessions to count."""

    state: _State = "live"


class SessionQuery(SessionFilter, PageQuery):
    """Which sessions to list. sort: name, state, created_at or image; default: newest first."""

    state: _State = "all"
    array: str = Field(
        default=ArrayRows.COLLAPSED,
        max_length=64,
        description="collapsed: an array is one row; expanded: every session; or the id of an array: its sessions",
    )


class KindCount(BaseModel):
    kind: SessionKind
    count: int


class StateCount(BaseModel):
    state: SessionState
    count: int


class SessionCounts(BaseModel):
    """How many rows the list has, whatever kind is given; kinds and states without rows are left out.

    states: of the given kind, only of live sessions. An array is one row, and counts for each state that a session of
    it is in. complete: false if there may be more, because only the newest rows of a long list are counted.
    """

    kinds: list[KindCount]
    states: list[StateCount]
    complete: bool = True


class SessionList(BaseModel):
    items: list[SessionView]
    next_cursor: str | None


class GraphNode(BaseModel):
    """array: it stands for all sessions of the array; the other fields are those of the first one."""

    id: SessionId
    name: str
    array: ArrayView | None
    kind: SessionKind
    state: SessionState
    result: Result | None


class GraphEdge(BaseModel):
    """session starts after `after`. met: null while it is not known. index: of the only session of the array `after`
    that has to end; null: all of them, or it is no array.
    """

    session: SessionId
    after: SessionId
    index: int | None
    condition: DependencyCondition
    met: bool | None


class SessionGraph(BaseModel):
    """A session, first, with those that it starts after and those that start after it, directly or not; oldest first.

    Sessions that you may not see are left out. truncated: there are more than 200.
    """

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    truncated: bool


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


class StartStep(StrEnum):
    """A step of a start. barrier: the containers of a cluster that are up wait for the others."""

    QUEUE = "queue"
    MOUNTS = "mounts"
    IMAGE = "image"
    CONTAINER = "container"
    BARRIER = "barrier"
    APP = "app"


class StepView(BaseModel):
    """queue: until it is placed on nodes. mounts: until its folders can be mounted. image: of a container, until the
    image is present, with the wait for other starts on the engine. container: until the engine has started it. app:
    from its first opening until it responds. ends_at: null while it goes on, or if it never ended.
    """

    step: StartStep
    container: str | None
    app: str | None
    begins_at: datetime
    ends_at: datetime | None


class SessionTimeline(BaseModel):
    """The last start of a session. number: 1 for its first start. ready_at: when it ran. stopped_at: when the start was
    given up.
    """

    number: int
    begins_at: datetime
    ready_at: datetime | None
    stopped_at: datetime | None
    steps: list[StepView]
