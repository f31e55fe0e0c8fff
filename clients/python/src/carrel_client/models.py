"""API types of the HTTP API, written by tools/python_client.py from openapi.json.

Answers are plain dictionaries; these types say what is in them. Times are RFC 3339 text in UTC.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class AcceleratorCheckCreate(TypedDict):
    """node: an id or a name. device: only this one; omitted: all that no session holds. image: of the containers,
    with a shell, and with Python 3 to measure shares; omitted: one of the catalogue."""

    device: NotRequired[str | None]
    image: NotRequired[str | None]
    node: str


class AcceleratorCheckList(TypedDict):
    items: list[AcceleratorCheckView]
    next_cursor: str | None


class AcceleratorCheckView(TypedDict):
    """outcome: of all devices together; null: it has no results. requested_by: null: Carrel itself, before it puts a
    device back. taken: devices that no session gets until it has ended. progress: 0..1. step: what it does now.
    problem: why it failed or waits. driver: of the vendor, if the node tells. cancel: it was requested."""

    cancel: bool
    created_at: str
    device: str | None
    driver: str
    ended_at: str | None
    id: str
    image: str | None
    node: CheckedNodeRef
    outcome: CheckedOutcome | None
    problem: str
    progress: float
    requested_by: UserRef | None
    results: list[DeviceResult]
    started_at: str | None
    state: CheckState
    step: str
    taken: list[str]


class AccessChange(TypedDict):
    """Id or name -> true to add, false to remove. Other entries are unchanged."""

    domains: NotRequired[dict[str, bool]]
    projects: NotRequired[dict[str, bool]]
    users: NotRequired[dict[str, bool]]


class AccessEntry(TypedDict):
    """A user with access to the files, since when, and why: as owner, by a share, or by a project."""

    permission: Permission
    project: ProjectRef | None
    since: str
    user: UserRef
    via: Literal["owner", "share", "project", "shared_project"]


AccessLevel = Literal["look", "use"]


class AccessList(TypedDict):
    items: list[AccessEntry]


class AccessUpdate(TypedDict):
    """The access list of a group that is not public: ids or names, for users e-mails. Replaces the current list."""

    domains: NotRequired[list[str]]
    projects: NotRequired[list[str]]
    users: NotRequired[list[str]]


class AccessView(TypedDict):
    domains: list[DomainRef]
    projects: list[ProjectOfDomain]
    users: list[UserRef]


AllReduceMethod = Literal["nccl", "gloo", "tcp"]


class AllSlotAmounts(TypedDict):
    """cpu: millicores. mem: bytes. Accelerators by slot name."""

    cpu: int
    mem: int


class AppCreate(TypedDict):
    """A further app of a kind, or an opened port. template: name of an app of the session; port: instead, where a
    program of the session listens. name: default: made from these. title, protocol, path: of an opened port."""

    name: NotRequired[str | None]
    options: NotRequired[dict[str, str]]
    path: NotRequired[str]
    port: NotRequired[int | None]
    protocol: NotRequired[AppProtocol]
    template: NotRequired[str | None]
    title: NotRequired[str | None]


AppIcon = Literal[
    "app",
    "chart",
    "code",
    "database",
    "desktop",
    "flask",
    "folder",
    "globe",
    "notebook",
    "terminal",
]


class AppLayerView(TypedDict):
    """reference: of its image. step: of the build. error: why it FAILED; it is tried again later, and by a check."""

    error: str | None
    reference: str
    state: LayerState
    state_since: str
    step: str


class AppList(TypedDict):
    """layer_missing: why the session does not have the apps of the app layer, as a sentence; empty if it has them."""

    items: list[AppView]
    layer_missing: str
    next_cursor: str | None


class AppLog(TypedDict):
    text: str


class AppOptionView(TypedDict):
    """A value that is chosen before the app starts. choices: if any, the only permitted values."""

    choices: NotRequired[list[str]]
    default: NotRequired[str]
    help: NotRequired[str]
    name: str
    title: str
    type: NotRequired[OptionType]


AppProtocol = Literal["http", "tcp"]


class AppRef(TypedDict):
    name: str
    protocol: str
    title: str


AppSource = Literal["image", "catalogue", "port"]


class AppStartRequest(TypedDict):
    """options: values by name; omitted: those of its last start, or the defaults."""

    options: NotRequired[dict[str, str] | None]


AppState = Literal["ready", "starting", "stopped", "unreachable", "failed", "missing"]


class AppTemplateCreate(TypedDict):
    """project: the id or name of the project that gets it; installation: everybody does; otherwise it is yours."""

    auth_header: NotRequired[str]
    command: NotRequired[list[str]]
    enabled: NotRequired[bool]
    env: NotRequired[dict[str, str]]
    hint: NotRequired[str]
    icon: NotRequired[AppIcon]
    installation: NotRequired[bool]
    name: str
    options: NotRequired[list[AppOptionView]]
    path: NotRequired[str]
    port: int
    project: NotRequired[str | None]
    protocol: NotRequired[AppProtocol]
    ready: NotRequired[str]
    requires: NotRequired[str]
    title: str


class AppTemplateList(TypedDict):
    items: list[AppTemplateView]
    next_cursor: str | None


AppTemplateScope = Literal["person", "project", "installation", "builtin"]


class AppTemplateUpdate(TypedDict):
    """Omitted fields keep their values; command, env and options are replaced completely."""

    auth_header: NotRequired[str | None]
    command: NotRequired[list[str] | None]
    enabled: NotRequired[bool | None]
    env: NotRequired[dict[str, str] | None]
    hint: NotRequired[str | None]
    icon: NotRequired[AppIcon | None]
    options: NotRequired[list[AppOptionView] | None]
    path: NotRequired[str | None]
    port: NotRequired[int | None]
    protocol: NotRequired[AppProtocol | None]
    ready: NotRequired[str | None]
    requires: NotRequired[str | None]
    title: NotRequired[str | None]


class AppTemplateView(TypedDict):
    """id: for built-in ones "builtin." and the name. may_change: whether you may."""

    auth_header: str
    command: list[str]
    enabled: bool
    env: dict[str, str]
    hint: str
    icon: AppIcon
    id: str
    may_change: bool
    name: str
    options: list[AppOptionView]
    path: str
    port: int
    project: ProjectRef | None
    protocol: AppProtocol
    ready: str
    requires: str
    scope: AppTemplateScope
    title: str
    updated_at: str | None


class AppToken(TypedDict):
    """url: the app's origin. token: for programs, sent as `Authorization: Bearer <token>`, or in X-Carrel-Authorization
    if the app uses the Authorization header itself.

    It is valid for this app until expires_at, and no longer than the credentials that created it."""

    expires_at: str
    token: str
    url: str


class AppView(TypedDict):
    """state: only known while the session runs; until then, stopped. running: the app responds. source: who declares
    it. kind: the app of which this is one; null: an opened port. options: values that may be chosen before it starts;
    chosen: at its last start. removable: it was started from the catalogue, added or opened. hint: how to get the
    program that is missing."""

    chosen: dict[str, str]
    exit_code: int | None
    hint: str
    icon: str
    kind: str | None
    name: str
    options: list[AppOptionView]
    path: str
    port: int
    protocol: str
    removable: bool
    running: bool
    source: AppSource
    state: AppState
    title: str


class ArrayCount(TypedDict):
    """How many sessions of an array are in a state and have a result."""

    count: int
    result: Result | None
    state: SessionState


class ArrayRequest(TypedDict):
    """One session for each index from first to last. max_parallel: how many of them run at once; null: no limit."""

    first: int
    last: int
    max_parallel: NotRequired[int | None]


class ArrayView(TypedDict):
    """An array of sessions with the indexes first..last. id: of its first session."""

    counts: list[ArrayCount]
    first: int
    id: str
    last: int
    max_parallel: int | None
    name: str


class AuditActor(TypedDict):
    """id: null for an unknown user (a sign-in with an unknown e-mail), and for Carrel itself."""

    email: str
    id: str | None


class AuditCheck(TypedDict):
    """The result of checking a part of the chain: repeat with after=reached until done.

    checked: entries in this part. head: the last entry; store it elsewhere to compare later. start: the link before the
    first retained entry; cut_at: time of the retention cut, if any. faults: the first 100 of this part. waiting:
    entries not sealed yet."""

    checked: int
    cut_at: str | None
    done: bool
    faults: list[AuditFault]
    head: AuditLink
    reached: int
    start: AuditLink
    waiting: int


class AuditEntryView(TypedDict):
    """An action on an object. outcome: done or refused; reason: code and sentence of the refusal.

    owner_id, project_id, domain_id: of the object. credential: cookie, keypair:KEY or token:ID; for a sign-in its
    method. details: what changed, as before and after, or other facts. position and hash: in the chain, null until the
    entry is sealed."""

    action: str
    actor: AuditActor
    address: str
    at: str
    credential: str
    details: dict[str, Any]
    domain_id: str | None
    hash: str | None
    id: int
    object: AuditObject
    outcome: str
    owner_id: str | None
    position: int | None
    project_id: str | None
    reason: str
    request_id: str


class AuditFault(TypedDict):
    """position: the first faulty one. entry_id: of the row there; null when there is none."""

    entry_id: int | None
    kind: FaultKind
    position: int
    sentence: str


class AuditLink(TypedDict):
    """A position in the chain. hash: in hexadecimal."""

    hash: str
    position: int


class AuditList(TypedDict):
    items: list[AuditEntryView]
    next_cursor: str | None


class AuditObject(TypedDict):
    id: str
    kind: str
    name: str


class BlockOfDevices(TypedDict):
    """size: of all its devices. whole: given as a whole, or devices of one narrower block."""

    name: str
    size: int
    whole: bool


class BuildContextView(TypedDict):
    """size_bytes: of its files. source: where they are from, for the build; "": they were sent. It is deleted a day
    after its last use."""

    files: int
    id: str
    size_bytes: int
    source: str


class BuildLogView(TypedDict):
    """text: after the part `after`. next: for the next request. complete: the build has ended, and this is the rest of
    its log."""

    complete: bool
    next: int
    state: VersionState
    text: str


class BuildRecipe(TypedDict):
    """kind: dockerfile, requirements, pyproject, conda, devcontainer or repository. file: that is the recipe; null: by
    convention. files: texts by path that were written by a person. dockerfile: what is built. images: references of the
    images in it. context_files: number of files of the context."""

    base: str | None
    context_files: int
    dockerfile: str
    file: str | None
    files: dict[str, str]
    images: list[str]
    kind: str
    source: str


By = Literal["node", "group", "user", "keypair", "project", "domain"]


Cause = Literal["limit", "nodes", "held_back", "group", "not_yet", "machine"]


class CeilingsOfPolicy(TypedDict):
    """Ceilings by id; "*" applies to all others. "sessions" counts sessions. Unnamed slots are not limited."""

    domains: dict[str, dict[str, int]]
    projects: dict[str, dict[str, int]]
    users: dict[str, dict[str, int]]


class CeilingsTry(TypedDict):
    """ceilings: the proposed ceilings, complete."""

    ceilings: dict[str, int]


class ChangeView(TypedDict):
    """A change that would start it now. cost: 0: nothing is given up; below 1: the fraction given up; 1 or more: the
    number of sessions to end.

    slots: what to request instead. group, sessions: where to request it, or which to end. command: the equivalent CLI
    command, if there is one."""

    command: str
    cost: float
    group: GroupRef | None
    kind: Kind
    sessions: list[str]
    slots: dict[str, int]
    text: str


CheckOutcome = Literal["ok", "warning", "failed"]


class CheckRequest(TypedDict):
    """The part of a session request that the scheduler uses. image: for its minimum slots."""

    after: NotRequired[list[DependencyRequest]]
    alternative_groups: NotRequired[list[str]]
    array: NotRequired[ArrayRequest | None]
    containers: NotRequired[int]
    disk_bytes: NotRequired[int | None]
    group: NotRequired[str | None]
    image: NotRequired[str | None]
    kind: NotRequired[Literal["interactive", "batch"]]
    mounts: NotRequired[list[MountRequest]]
    node: NotRequired[str | None]
    on_dependency_failure: NotRequired[DependencyFailure]
    placement: NotRequired[ClusterPlacement]
    priority: NotRequired[int | None]
    project: NotRequired[str | None]
    rights: NotRequired[Rights]
    roles: NotRequired[list[ClusterRole]]
    slots: SlotRequest
    start_at: NotRequired[str | None]
    time_limit_s: NotRequired[int | None]
    topology: NotRequired[str | None]


CheckState = Literal["waiting", "running", "done", "failed", "cancelled"]


class CheckView(TypedDict):
    """The result of creating such a session, and remaining capacity.

    code: of the error that creating it would raise, if any. starts_in: the group in which it would start now.
    alternatives: why it would not start in the groups besides the preferred one. most_rights: that a session could have
    in the group. device_mem_bytes: of each device of a family in the group; families whose devices differ, or whose
    memory is unknown, are omitted. root_refused: why it could not have root. warnings: such as of known vulnerabilities
    in its image."""

    alternatives: list[GroupWhyView]
    changes: list[ChangeView]
    code: str
    device_mem_bytes: dict[str, int]
    disk: DiskRangeView
    expected_start: str | None
    field: str | None
    group: GroupRef
    groups: list[GroupRoom]
    image_pull: ImagePullCostView | None
    limits: list[LimitView]
    most_rights: Rights
    no_estimate: str
    nodes: list[NodeCauseView]
    position: int | None
    presets: list[PresetRoom]
    project: ProjectRef
    reason: str
    root_refused: str
    scopes: list[ScopeRoom]
    slots: dict[str, SlotRoomView]
    starts_in: GroupRef | None
    verdict: Verdict
    warnings: list[CheckWarning]


class CheckWarning(TypedDict):
    """A reason why the session may not be a good idea."""

    code: str
    hint: str
    message: str


CheckedAspect = Literal["granted", "isolated", "numbered", "counted"]


class CheckedAspectView(TypedDict):
    """text: what was seen, or why it was not measured, as a sentence."""

    name: CheckedAspect
    outcome: CheckedOutcome
    text: str


class CheckedNode(TypedDict):
    """closed: why the engine places nothing on it; empty if it does."""

    architecture: str
    closed: str
    name: str
    slots: dict[str, int]


class CheckedNodeRef(TypedDict):
    id: str
    name: str


CheckedOutcome = Literal["passed", "failed", "not_measured"]


Clash = Literal["refuse", "replace", "rename"]


ClusterPlacement = Literal["together", "spread"]


class ClusterRole(TypedDict):
    """A group of containers of a cluster session, named NAME1, NAME2 ...; main is the main container.

    image, slots, shm_bytes: default: those of the session. command: what each runs, once, when all containers are up;
    default: it idles. env: besides that of the session."""

    command: NotRequired[list[str]]
    count: NotRequired[int]
    env: NotRequired[dict[str, str]]
    image: NotRequired[str | None]
    name: str
    shm_bytes: NotRequired[int | None]
    slots: NotRequired[SlotRequest | None]


class ClusterRoleView(TypedDict):
    """A role as requested. image, slots, shm_bytes: null for those of the session."""

    command: list[str]
    count: int
    env: dict[str, str]
    image: str | None
    name: str
    shm_bytes: int | None
    slots: dict[str, int] | None


class ConsistencyView(TypedDict):
    """containers: of live sessions, with a node. allocations: slots that they hold, as rows."""

    allocations: int
    containers: int
    differences: list[DifferenceView]
    engines: list[EngineComparedView]


ContainerRole = Literal["main", "sub"]


ContainerState = Literal[
    "PENDING",
    "SCHEDULED",
    "PREPARING",
    "STARTING",
    "RUNNING",
    "EXITED",
    "ABANDONED",
    "GONE",
]


class ContainerUsageView(TypedDict):
    """measures: those that were measured at all, of cpu_millis; mem_bytes; accelerator_percent and
    accelerator_mem_percent, means of the devices that it holds alone; read_rate and write_rate, bytes per second of
    disks; rx_rate and tx_rate, bytes per second received and sent; disk_bytes, written outside its folders."""

    id: str
    measures: dict[str, MeasureSeries]
    name: str


class ContainerView(TypedDict):
    """name: the value for `?container=` and `--container`: main, sub1, sub2 ... host: its name in the network of the
    session. id: part of the container's name on the engine. state: EXITED means stopped and not restarted, GONE means
    removed, ABANDONED means that its session was ended by force and that the engine has not confirmed its removal.
    exit_code: of its main process, if known. resize: the slots that it will have, while they change. image_digest: in
    its registry, of what it ran at its last start: image@digest starts the same again; null: not started, or built
    here. image_id: the engine's own id of it."""

    ended_at: str | None
    exit_code: int | None
    host: str
    id: str
    image: str
    image_digest: str | None
    image_id: str | None
    index: int
    name: str
    node: str | None
    resize: dict[str, int] | None
    role: ContainerRole
    slots: dict[str, int]
    started_at: str | None
    state: ContainerState


class CreatedSessionShare(TypedDict):
    """url: of a link; shown only once."""

    created_at: str
    expires_at: str | None
    granted_by: UserRef | None
    id: str
    level: AccessLevel
    project: ProjectRef | None
    url: str | None
    user: UserRef | None
    via_link: str | None


class CudaNodes(TypedDict):
    """total: nodes with devices of NVIDIA that you may see. able: those whose driver and architecture run the image,
    and those whose driver is not known."""

    able: int
    total: int


class DayStatistics(TypedDict):
    """held, used: slot-hours of the day by slot, in base units."""

    day: str
    held: dict[str, float]
    used: dict[str, float]


class DefinedSession(TypedDict):
    """session: the fields of a request for it; they are checked when it is requested."""

    session: dict[str, Any]


class DefinitionText(TypedDict):
    """text: YAML or JSON, as `carrel session export` writes it. template: its texts may refer to parameters, such as
    ${cores}, and are left as they are."""

    template: NotRequired[bool]
    text: str


class DefinitionView(TypedDict):
    """definition: the request without defaults, with amounts as people write them. text: the same in YAML."""

    definition: dict[str, Any]
    text: str


class DeliveryDetail(TypedDict):
    """body: as sent."""

    attempts: int
    body: str
    created_at: str
    error: str | None
    id: str
    last_at: str | None
    next_at: str | None
    session: str | None
    state: DeliveryState
    status_code: int | None
    type: str


class DeliveryList(TypedDict):
    items: list[DeliveryView]
    next_cursor: str | None


DeliveryState = Literal["pending", "delivered", "failed"]


class DeliveryView(TypedDict):
    """id: the header webhook-id. type: of the message. session: that it is about. attempts: so far. status_code,
    error: of the last attempt; null: no response, or no error. next_at: of the next attempt."""

    attempts: int
    created_at: str
    error: str | None
    id: str
    last_at: str | None
    next_at: str | None
    session: str | None
    state: DeliveryState
    status_code: int | None
    type: str


DependencyCondition = Literal["succeeded", "failed", "ended"]


DependencyFailure = Literal["cancel", "wait"]


class DependencyRequest(TypedDict):
    """session: id, unique prefix of it, or name; if no session has this name, that of an array. condition: how it, or
    the array, must end. array: the whole array that it names or belongs to."""

    array: NotRequired[bool]
    condition: NotRequired[DependencyCondition]
    session: str


class DependencyView(TypedDict):
    """A dependency, with the other session. id, name: null if you may not see it. met: null while it is not known.

    array: the other is a whole array, of which the other fields describe the first session."""

    array: ArrayView | None
    condition: DependencyCondition
    id: str | None
    met: bool | None
    name: str | None
    result: Result | None
    state: SessionState


class DeprecatedImage(TypedDict):
    """successor: the name of the image to use instead; null: none is named."""

    successor: str | None


class DeviceEnergyView(TypedDict):
    """What a device drew for a session while its power was measured, for so many device-hours."""

    device: str
    energy_kwh: float
    model: str
    power_hours: float


class DeviceHolder(TypedDict):
    """A part of a device that is allocated. amount: in thousandths. session: null if you may not see it."""

    amount: int
    session: DeviceSession | None


class DeviceMetricsView(TypedDict):
    """Measurements; null: not known, or for those who may not read the usage of nodes. All are null when measured_at
    is more than a minute ago. uncorrected_errors: of its memory, since its last reset."""

    measured_at: str | None
    mem_total_bytes: int | None
    mem_used_bytes: int | None
    power_w: float | None
    temperature_c: float | None
    uncorrected_errors: int | None
    utilization_percent: float | None


class DeviceMove(TypedDict):
    """A session that would move to another device. amount: thousandths of a device."""

    amount: int
    name: str
    owner: UserRef
    session: str
    to: DeviceRef


class DeviceRef(TypedDict):
    """A device on a node."""

    device: str
    node: str
    node_name: str


class DeviceResult(TypedDict):
    """outcome: failed if one of its measures is; not_measured if it is not known what a container gets. files,
    variables: what a container with the whole device has beyond one without devices. shares: of GPUs of which sessions
    may have shares."""

    device: str
    family: str
    files: list[str]
    measures: list[CheckedAspectView]
    model: str
    outcome: CheckedOutcome
    shares: list[ShareResult]
    variables: dict[str, str]


class DeviceSession(TypedDict):
    """The session that holds a part of a device, and its container."""

    container: str
    id: str
    name: str
    owner: UserRef


class DeviceUse(TypedDict):
    """used: in thousandths."""

    family: str
    id: str
    used: int


class DeviceView(TypedDict):
    """An accelerator. family: of the slots it serves. set: devices with the same number are near each other. clique:
    devices with the same name are connected directly; empty: none is. pci: its address; empty: unknown. numa: of its
    node. switch: devices with the same name are below one PCI switch; empty: no other one is. mem_bytes: of its own.
    used: in thousandths, the sum of holders. slots: the slots it serves, with the thousandths per unit. healthy: it is
    offered to sessions. problem: of the last reading, as a sentence; empty if there is none. Several readings in
    succession change its health."""

    clique: str
    family: str
    healthy: bool
    holders: list[DeviceHolder]
    id: str
    mem_bytes: int | None
    metrics: DeviceMetricsView
    model: str
    numa: int | None
    pci: str
    problem: str
    set: int
    slots: dict[str, int]
    switch: str
    used: int


class DevicesOfNode(TypedDict):
    """A number of accelerators in one set (near each other).

    slots: slot names with the thousandths of a device that one takes; default: FAMILY.device and FAMILY.shares.
    blocks: sets in which a container may get them with others."""

    blocks: list[BlockOfDevices]
    count: int
    family: str
    set: int
    slots: dict[str, int] | None


DifferenceKind = Literal["orphan", "missing", "held", "unheld", "overfull", "device", "mount"]


class DifferenceView(TypedDict):
    """where: name of the engine or node, if any. subject: the container, slot, device or folder. detail: a sentence."""

    detail: str
    kind: DifferenceKind
    subject: str
    where: str


class DirectoryCreate(TypedDict):
    """Missing parents are created too."""

    path: str


class DiskRangeView(TypedDict):
    """What each container may write outside its folders. default_bytes: if nothing is requested. null: no limit."""

    default_bytes: int | None
    most_bytes: int | None


class DomainCreate(TypedDict):
    """ceilings: slot -> most that its sessions may hold in total; omitted slots are not limited. resource_groups,
    registries, storage_hosts: names that it may use; null: all. A registry is a host or host:port; images built on
    the engine (localhost/...) have no registry and are always allowed."""

    active: NotRequired[bool]
    ceilings: NotRequired[dict[str, int]]
    description: NotRequired[str]
    name: str
    registries: NotRequired[list[str] | None]
    resource_groups: NotRequired[list[str] | None]
    storage_hosts: NotRequired[list[str] | None]


class DomainList(TypedDict):
    items: list[DomainView]
    next_cursor: str | None


class DomainRef(TypedDict):
    id: str
    name: str


class DomainUpdate(TypedDict):
    """Omitted fields keep their values; given lists and ceilings are replaced completely. active false: its users are
    signed out and it accepts no new sessions; running ones continue."""

    active: NotRequired[bool]
    ceilings: NotRequired[dict[str, int]]
    description: NotRequired[str]
    name: NotRequired[str]
    registries: NotRequired[list[str] | None]
    resource_groups: NotRequired[list[str] | None]
    storage_hosts: NotRequired[list[str] | None]


class DomainView(TypedDict):
    """users, projects, live_sessions: counts, without archived projects.

    used: slot -> allocation of its sessions. admins: its active administrators, by e-mail."""

    active: bool
    admins: list[UserRef]
    ceilings: dict[str, int]
    created_at: str
    description: str
    id: str
    live_sessions: int
    name: str
    projects: int
    registries: list[str] | None
    resource_groups: list[str] | None
    storage_hosts: list[str] | None
    used: dict[str, int]
    users: int


class DomainWeight(TypedDict):
    id: str
    name: str
    weight: float


class DotfileContent(TypedDict):
    """content: text, at most 64 KiB."""

    content: str


class DotfileDetail(TypedDict):
    content: str
    path: str
    size_bytes: int
    updated_at: str


class DotfileList(TypedDict):
    items: list[DotfileView]
    next_cursor: str | None


class DotfileView(TypedDict):
    """path: relative to the home of a session."""

    path: str
    size_bytes: int
    updated_at: str


DrainOutcome = Literal["stays", "ends", "moves", "requeues", "is_ending"]


class DrainRequest(TypedDict):
    """how: "wait" until running sessions end, "end" them, or "move" them: end them here and restart them on other
    nodes. Sessions that do not run yet are requeued in each case. dry_run: only report what would happen."""

    dry_run: NotRequired[bool]
    how: Draining


class DrainView(TypedDict):
    """sessions: all sessions on the node. node: its new state."""

    dry_run: bool
    how: Draining
    node: NodeView
    sessions: list[DrainedSession]


class DrainedSession(TypedDict):
    """sentence: what happens to it."""

    becomes: DrainOutcome
    id: str
    name: str
    owner: UserRef
    sentence: str
    state: SessionState


Draining = Literal["wait", "end", "move"]


class DryRunEnding(TypedDict):
    """A session that the rules would have ended. ended_at: when it did end; null: it still runs. ends_at: when the
    rules would have ended it. freed_s: the time between. slots: of all its containers. why: the reason it would have
    ended with. measured: mean usage in the window of the rule `use`, in percent, by measure."""

    ended_at: str | None
    ends_at: str
    freed_s: int
    kind: SessionKind
    measured: dict[str, float]
    name: str
    owner: UserRef
    project: ProjectRef
    rule: IdleRule
    session: str
    slots: dict[str, int]
    started_at: str
    why: str


class DryRunPage(TypedDict):
    """items: by session id. checked, total: numbers of sessions, so far and altogether. next_cursor: null when all are
    checked."""

    checked: int
    items: list[DryRunEnding]
    next_cursor: str | None
    total: int


class DryRunRequest(TypedDict):
    """Idle rules to try on past sessions, in the terms of a keypair policy. policy: only the sessions that follow it
    now, with its rules for those that are omitted; without it: all sessions. days: how far to look back. cursor:
    `next_cursor` of the page before."""

    cursor: NotRequired[str | None]
    days: NotRequired[int]
    idle_timeout_s: NotRequired[int | Literal["unlimited"]]
    idle_use: NotRequired[IdleUse | Literal["unlimited"]]
    policy: NotRequired[str | None]


class ElasticGroup(TypedDict):
    """engine: id or name of the Kubernetes engine that chooses the nodes of its sessions, and may add some. limit: what
    its sessions may hold together, of `cpu` and `mem`. wait_s: how long a start waits for a machine; then the session
    returns to the queue, and after some attempts fails."""

    engine: str
    limit: dict[str, int]
    wait_s: NotRequired[int]


class EngineCheck(TypedDict):
    """sentence: the result of the check. versions: of the engines of its nodes. notes: sentences about how its apps are
    reached, and the result of its self-test. capacity: of its nodes that take sessions. runtimes: container
    runtimes of its nodes, which resource groups may name. gaps: what it cannot do."""

    capacity: dict[str, int]
    gaps: list[EngineGap]
    nodes: list[CheckedNode]
    notes: list[str]
    ok: bool
    runtimes: list[str]
    sentence: str
    versions: list[str]


class EngineComparedView(TypedDict):
    """containers: how many it has; null if it could not be compared. error: why not, a sentence."""

    containers: int | None
    error: str
    name: str


class EngineCreate(TypedDict):
    """kind: as `GET /engine-kinds` names it. settings: as in its schema; omitted ones use defaults."""

    kind: str
    name: str
    settings: NotRequired[dict[str, Any]]


class EngineGap(TypedDict):
    """What an engine cannot do."""

    code: Gap
    sentence: str


class EngineKind(TypedDict):
    """settings: JSON schema of the kind's settings; secrets are writeOnly."""

    description: str
    kind: str
    settings: dict[str, Any]
    title: str


class EngineKindList(TypedDict):
    items: list[EngineKind]
    next_cursor: str | None


class EngineList(TypedDict):
    items: list[EngineView]
    next_cursor: str | None


class EngineRef(TypedDict):
    id: str
    name: str


class EngineSettings(TypedDict):
    """As for a new engine."""

    kind: str
    settings: NotRequired[dict[str, Any]]


EngineState = Literal["UNKNOWN", "READY", "DOWN"]


class EngineUpdate(TypedDict):
    """Omitted fields keep their values. settings: given ones change; null resets to the default. Secrets must be sent
    again when other settings change, because those may point to another host."""

    name: NotRequired[str]
    settings: NotRequired[dict[str, Any]]


class EngineView(TypedDict):
    """kind_title: what people call its kind. settings: as configured, without secrets. secrets: names of the secrets
    that are set; values are never shown. state: UNKNOWN before the first check, DOWN while it does not respond in time.
    last_error: why it is DOWN. nodes: number of nodes it reports. containers: number of session containers on them.
    local: detected at startup. app_layer: null if it has none yet, cannot mount any, or CARREL_APP_LAYER is off."""

    app_layer: AppLayerView | None
    containers: int
    created_at: str
    id: str
    kind: str
    kind_title: str
    last_error: str | None
    local: bool
    name: str
    nodes: int
    secrets: list[str]
    settings: dict[str, Any]
    state: EngineState
    state_since: str


class EnvironmentBuild(TypedDict):
    """name, version, project: as for a saved session. file: which is the recipe: a Dockerfile, requirements.txt,
    pyproject.toml, environment.yml or devcontainer.json; default: by the conventions of repo2docker. files: texts by
    path, instead of those of the context. context: id of one that you sent. base: image below, for recipes that name
    none; default: the starter image. source: where the files are from, for people."""

    base: NotRequired[str | None]
    context: NotRequired[str | None]
    file: NotRequired[str | None]
    files: NotRequired[dict[str, str]]
    name: str
    note: NotRequired[str]
    project: NotRequired[str | None]
    source: NotRequired[str]
    version: NotRequired[str | None]


class EnvironmentList(TypedDict):
    items: list[EnvironmentView]
    next_cursor: str | None


EnvironmentOwner = Literal["me", "usable", "all"]


class EnvironmentQuota(TypedDict):
    """project: whose it is; null: yours. used_bytes: what versions add to the images below. limit_bytes: null:
    unlimited."""

    limit_bytes: int | None
    project: ProjectRef | None
    used_bytes: int


class EnvironmentQuotaList(TypedDict):
    items: list[EnvironmentQuota]


class EnvironmentRebuild(TypedDict):
    """new_version: default: the next number."""

    new_version: NotRequired[str | None]
    note: NotRequired[str]


class EnvironmentShareCreate(TypedDict):
    """Exactly one of them. user: e-mail or id of a user of the same domain. project: id or name."""

    project: NotRequired[str | None]
    user: NotRequired[str | None]


class EnvironmentShareList(TypedDict):
    items: list[EnvironmentShareView]


class EnvironmentShareView(TypedDict):
    created_at: str
    id: str
    project: ProjectRef | None
    user: UserRef | None


class EnvironmentUpdate(TypedDict):
    """Omitted fields keep their values. default_version: the name of a version that is ready."""

    default_version: NotRequired[str | None]
    description: NotRequired[str | None]
    name: NotRequired[str | None]


class EnvironmentView(TypedDict):
    """owner: the user, or null if it belongs to the project. default_version: what its sessions start from unless they
    name a version; null: none is ready. added_bytes: of all its versions. shared_with: how many users and projects.
    may_start, may_change: whether you may. image: for a session request."""

    added_bytes: int
    created_at: str
    default_version: str | None
    description: str
    id: str
    image: str
    may_change: bool
    may_start: bool
    name: str
    owner: UserRef | None
    project: ProjectRef | None
    shared_with: int
    updated_at: str
    versions: list[VersionView]


class EventList(TypedDict):
    items: list[EventView]
    next_cursor: str | None


class EventObject(TypedDict):
    id: str
    kind: str


class EventView(TypedDict):
    """id: opaque; send it as Last-Event-ID to resume after it."""

    at: str | None
    data: dict[str, Any]
    id: str | None
    kind: str
    object: EventObject


class Exchange(TypedDict):
    """code: as received by the waiting command line. verifier: of its challenge."""

    code: str
    verifier: str


class ExemptionUpdate(TypedDict):
    exempt: bool


class FactorAdded(TypedDict):
    """recovery_codes: shown only once; empty if you had some already.

    csrf_token: as in Me, because a sign-in that waited for this factor now has a new token."""

    csrf_token: str | None
    recovery_codes: list[str]


class FactorsView(TypedDict):
    """totp_since: when your device was activated; null: no device. required: the site requires a second factor.

    passkeys_possible: whether browsers support passkeys for this page's address."""

    passkeys: list[PasskeyView]
    passkeys_possible: bool
    recovery_codes_left: int
    required: bool
    totp_since: str | None


FaultKind = Literal["altered", "missing", "cut", "rewritten", "unguarded"]


FileKind = Literal["file", "directory", "link", "other"]


class FileList(TypedDict):
    """total: number of entries of the directory. permission: yours in this folder; never null."""

    items: list[FileView]
    next_cursor: str | None
    path: str
    permission: Permission
    total: int


class FileView(TypedDict):
    """name: invalid UTF-8 is shown as �, and readable is false; a session can rename the file.

    size_bytes: of a file. mode: permission bits, as octal digits. type: media type by the file name. etag: changes with
    the content; files only."""

    etag: str | None
    kind: FileKind
    mode: str
    modified_at: str
    name: str
    path: str
    readable: bool
    size_bytes: int | None
    type: str | None


class FilesCopy(TypedDict):
    """paths: sources to copy into the directory `to`; or a single path, with the path of its copy in `rename_to`.

    folder: id or name of the target folder; omitted: the same folder."""

    clash: NotRequired[Clash]
    folder: NotRequired[str | None]
    paths: list[str]
    rename_to: NotRequired[str | None]
    to: NotRequired[str]


class FilesDone(TypedDict):
    """paths: the new paths; for removals, the removed paths."""

    paths: list[str]
    refused: list[NotDone]


class FilesMove(TypedDict):
    """paths: sources to move into the directory `to`; or a single path, with its new path in `rename_to`."""

    clash: NotRequired[Clash]
    paths: list[str]
    rename_to: NotRequired[str | None]
    to: NotRequired[str | None]


class FilesPack(TypedDict):
    paths: list[str]


class FilesRemove(TypedDict):
    paths: list[str]


class FolderContext(TypedDict):
    """folder: id or name. path: a directory within; "": all of it."""

    folder: str
    path: NotRequired[str]


FolderState = Literal["CREATING", "COPYING", "READY", "MOVING", "TRASHED", "DELETING", "FAILED"]


class ForgetRequest(TypedDict):
    """confirm: the node's name."""

    confirm: str


class ForgotRequest(TypedDict):
    email: str


class Forgotten(TypedDict):
    """sessions: those that were on it; they end or restart elsewhere by the group's rule."""

    id: str
    name: str
    sessions: list[str]


class FoundFiles(TypedDict):
    """complete: false if there are more results than requested, or the search timed out."""

    complete: bool
    items: list[FileView]


class FragmentationList(TypedDict):
    items: list[FragmentationView]


class FragmentationView(TypedDict):
    """Devices of a family in a group, on the nodes that accept sessions. free, broken, full: how many are free,
    allocated in part, and completely. smallest: what a container gets at least, in thousandths. stranded: the sum of
    what is left of broken devices, where that is less. freed: steps that free one device each, by as few sessions as
    possible; each assumes those before it."""

    broken: int
    devices: int
    family: str
    free: int
    freed: list[FreedDeviceView]
    full: int
    group: GroupRef
    smallest: int
    stranded: int


class FreedDeviceView(TypedDict):
    """A device that is free as a whole once these sessions have moved."""

    device: DeviceRef
    moves: list[DeviceMove]


Gap = Literal[
    "unprotected",
    "network_policy",
    "accelerators",
    "root",
    "disk_limits",
    "resizing",
    "files",
    "log_streams",
    "oom_events",
    "host_usage",
    "disk_watch",
    "app_layer",
]


class GitContext(TypedDict):
    """url: of a repository, as the browser or Git has it. ref: branch, tag or full commit; "": the default branch.
    path: a directory within; "": all. token, key: of a private repository: an access token, or USER:PASSWORD; or a
    private SSH key without a passphrase, such as a deploy key. They are used once, and not kept."""

    key: NotRequired[str]
    path: NotRequired[str]
    ref: NotRequired[str]
    token: NotRequired[str]
    url: str


class GraphEdge(TypedDict):
    """session starts after `after`. met: null while it is not known. index: of the only session of the array `after`
    that has to end; null: all of them, or it is no array."""

    after: str
    condition: DependencyCondition
    index: int | None
    met: bool | None
    session: str


class GraphNode(TypedDict):
    """array: it stands for all sessions of the array; the other fields are those of the first one."""

    array: ArrayView | None
    id: str
    kind: SessionKind
    name: str
    result: Result | None
    state: SessionState


class Greeting(TypedDict):
    """forgot_password: whether password reset links can be mailed. announcement: Markdown, or ""."""

    announcement: str
    forgot_password: bool
    languages: list[str]
    passkeys: bool
    password: PasswordRulesView
    providers: list[OfferedProvider]
    sign_up: SignUpView


class GroupCreate(TypedDict):
    """public: open to everybody whose domain allows the group; otherwise only to its access list. session_kinds: the
    kinds it accepts. scheduler: queue order within a priority. placement: choice among nodes with room;
    slot_priority: slots by which nodes are compared, most significant first; empty: the scarcest slot.
    pending_timeout_s: sessions pending longer are cancelled; null: never. patience_s: how long a pending session may
    be overtaken. half_life_s: of past usage in the fair share. on_node_loss: what happens to sessions whose node is
    gone for node_loss_s. max_rights: the most that its sessions may have inside, if their policies allow it.
    app_address: address of its apps; null: the installation's. node_selector: nodes whose labels meet it join by
    themselves, unless an administrator chose their group; of several such groups, the first by name gets a node.
    required_capabilities: nodes of the group without them take no new sessions.
    min_share_tier: nodes of the group that enforce shares of devices less strictly take no new sessions with shares;
    "none": also those that do not enforce them.
    topology: labels of nodes, from narrow to wide, such as rack and zone; nodes with the same value are a domain, by
    which cluster sessions are placed. Not for an elastic group.
    runtime: container runtime of its sessions: a RuntimeClass of a Kubernetes cluster, or a runtime of another engine.
    Nodes without it take no new sessions. null: the engine's usual one.
    elastic: its nodes are left to a Kubernetes cluster, which may add some; its sessions run on those that meet the
    node selector, which is required. null: sessions are placed on the nodes that there are."""

    active: NotRequired[bool]
    app_address: NotRequired[str | None]
    description: NotRequired[str]
    elastic: NotRequired[ElasticGroup | None]
    half_life_s: NotRequired[int]
    max_rights: NotRequired[Rights]
    min_share_tier: NotRequired[LeastTier]
    name: str
    node_loss_s: NotRequired[int]
    node_selector: NotRequired[str | None]
    on_node_loss: NotRequired[NodeLoss]
    patience_s: NotRequired[int]
    pending_timeout_s: NotRequired[int | None]
    placement: NotRequired[Strategy]
    public: NotRequired[bool]
    required_capabilities: NotRequired[list[str]]
    runtime: NotRequired[str | None]
    scheduler: NotRequired[QueueOrder]
    session_kinds: NotRequired[list[SessionKind]]
    slot_priority: NotRequired[list[str]]
    topology: NotRequired[list[str]]


class GroupList(TypedDict):
    items: list[GroupView]
    next_cursor: str | None


class GroupOfPolicy(TypedDict):
    """pending_timeout_s: sessions pending longer are cancelled; null: never."""

    half_life_s: float
    id: str
    name: str
    patience_s: float
    pending_timeout_s: float | None
    placement: Strategy
    scheduler: QueueOrder
    slot_priority: list[str]
    weights: WeightsOfGroup


class GroupRef(TypedDict):
    id: str
    name: str


class GroupRoom(TypedDict):
    """A resource group that you may use, and the result there. topology: its levels, from narrow to wide."""

    id: str
    name: str
    reason: str
    topology: list[str]
    verdict: Verdict


class GroupRule(TypedDict):
    """Grants of a group at the provider: a project, a role, or both.

    group: its name at the provider; for a directory the full DN, or its first value (`staff` for
    `cn=staff,ou=groups,...`). project: id or name in the provider's domain."""

    admin: NotRequired[bool]
    group: str
    project: NotRequired[str | None]
    role: NotRequired[Literal["domain_admin", "superadmin"] | None]


class GroupRuleView(TypedDict):
    """project: null also if it no longer exists."""

    admin: bool
    group: str
    project: ProjectRef | None
    role: Literal["domain_admin", "superadmin"] | None


class GroupUpdate(TypedDict):
    """Omitted fields keep their values; given ones are replaced completely. active false: it accepts no new sessions,
    and pending ones stay pending."""

    active: NotRequired[bool]
    app_address: NotRequired[str | None]
    description: NotRequired[str]
    elastic: NotRequired[ElasticGroup | None]
    half_life_s: NotRequired[int]
    max_rights: NotRequired[Rights]
    min_share_tier: NotRequired[LeastTier]
    name: NotRequired[str]
    node_loss_s: NotRequired[int]
    node_selector: NotRequired[str | None]
    on_node_loss: NotRequired[NodeLoss]
    patience_s: NotRequired[int]
    pending_timeout_s: NotRequired[int | None]
    placement: NotRequired[Strategy]
    public: NotRequired[bool]
    required_capabilities: NotRequired[list[str]]
    runtime: NotRequired[str | None]
    scheduler: NotRequired[QueueOrder]
    session_kinds: NotRequired[list[SessionKind]]
    slot_priority: NotRequired[list[str]]
    topology: NotRequired[list[str]]


class GroupView(TypedDict):
    """nodes: number of nodes; ready_nodes: those that accept sessions. waiting_sessions: pending ones among the live
    sessions. capacity: total of its READY nodes, or the limit of an elastic group. used: allocated of it. access,
    weights: null unless you administer it."""

    access: AccessView | None
    active: bool
    app_address: str | None
    capacity: dict[str, int]
    created_at: str
    description: str
    elastic: ElasticGroup | None
    half_life_s: int
    id: str
    live_sessions: int
    max_rights: Rights
    min_share_tier: LeastTier
    name: str
    node_loss_s: int
    node_selector: str | None
    nodes: int
    on_node_loss: NodeLoss
    patience_s: int
    pending_timeout_s: int | None
    placement: Strategy
    public: bool
    ready_nodes: int
    required_capabilities: list[str]
    runtime: str | None
    scheduler: QueueOrder
    session_kinds: list[str]
    slot_priority: list[str]
    topology: list[str]
    used: dict[str, int]
    waiting_sessions: int
    weights: WeightsView | None


class GroupWhyView(TypedDict):
    """Why a session does not start in one of the groups that it accepts; fields as of `WhyView`."""

    also: list[str]
    cause: Cause
    group: GroupRef
    limits: list[LimitView]
    nodes: list[NodeCauseView]
    position: int
    queue_length: int
    reason: str


HasFix = Literal["yes", "no"]


class Health(TypedDict):
    status: str


class HeldList(TypedDict):
    """Only holders with allocations."""

    items: list[HeldView]
    next_cursor: str | None


class HeldView(TypedDict):
    """id: of the node, group, user, project or domain; by keypair: the access key, or "sign-in:" and a user's id.

    label: a name, an e-mail, or for a project "domain/project". slots: allocated amounts, in base units. sessions:
    the number of sessions."""

    id: str
    label: str
    sessions: int
    slots: dict[str, int]


class HistoryList(TypedDict):
    items: list[HistoryView]
    next_cursor: str | None


class HistoryView(TypedDict):
    """cause: a code such as "created", "retry", "out_of_memory". from_state = to_state for notes.

    actor: e-mail of the person, null when Carrel did it."""

    actor: str | None
    at: str
    cause: str
    from_state: SessionState | None
    reason: str | None
    to_state: SessionState


class HostLoadView(TypedDict):
    """The load of the whole machine in the minute that ended at `at`, sessions and everything else. cpu: millicores.
    mem: bytes. received, sent, read, written: of the network and the disks, in bytes per second. disk_used, disk_size:
    of the file system that has the containers, in bytes."""

    at: str
    cpu: float
    disk_size: float
    disk_used: float
    mem: float
    read: float
    received: float
    sent: float
    written: float


HostState = Literal["unknown", "ok", "unavailable", "unusable"]


IdleRule = Literal["traffic", "use", "lifetime"]


class IdleRuleView(TypedDict):
    """rule: traffic, use, or lifetime, which is independent of idleness and cannot be extended. limit_s: the rule's
    limit. since: start of the idle time; null: in use by this rule. ends_at: when the rule ends it. why: the reason
    it would end with."""

    ends_at: str | None
    limit_s: int
    rule: IdleRule
    since: str | None
    why: str


class IdleSession(TypedDict):
    """cpu_percent: mean CPU usage of the last five minutes, of its allocation."""

    cpu_percent: float
    id: str
    name: str
    owner: OwnerRef
    slots: dict[str, int]


class IdleSessionList(TypedDict):
    """The largest CPU allocation first. total: their number without the limit."""

    items: list[IdleSession]
    total: int


class IdleUse(TypedDict):
    """A session is idle if it used less than each of these percentages of its slots in every minute of the window.
    below: for cpu, mem, accelerator, accelerator_mem (means of a container's devices, the highest of its containers);
    slots that a session does not hold are ignored. A minute without data counts as busy; one in which only the use of
    accelerators is unknown is left out. grace_s: time after the start that is not checked."""

    below: dict[str, int]
    grace_s: int
    window_s: int


class IdleView(TypedDict):
    """rules: those that apply while it runs. active_at: last app, terminal or command traffic, to half a minute.
    kept_at: when it was last marked as in use. idle_ends_at: when it ends, set with the warning."""

    active_at: str | None
    exempt: bool
    idle_ends_at: str | None
    kept_at: str | None
    rules: list[IdleRuleView]
    session: str


class ImageDetail(TypedDict):
    """labels: those that are understood. label_slots: the minimum by its labels. settings: for those who may change
    them, otherwise null. requires_cuda: of drivers of NVIDIA, as in NVIDIA_REQUIRE_CUDA; each line must hold. null: not
    read yet."""

    accelerators: list[str]
    aliases: list[str]
    apps: list[AppRef]
    architecture: str | None
    architectures: list[str]
    built_at: str | None
    contents: dict[str, str]
    contents_from: dict[str, str]
    cuda_nodes: CudaNodes | None
    deprecated: bool
    description: str
    digest: str | None
    enabled: bool
    family: str
    hidden: bool
    id: str
    label_slots: dict[str, int]
    labels: dict[str, str]
    layers: int | None
    licenses: str
    min_slots: AllSlotAmounts
    name: str
    packages_problem: str | None
    preferred: bool
    present: bool
    recommended_slots: dict[str, int]
    reference: str
    registry_id: str | None
    requires_cuda: str | None
    scanned_at: str | None
    settings: ImageSettingsView | None
    size_bytes: int | None
    successor: str | None
    title: str
    update: ImageWatchView | None
    version: str


class ImageFamily(TypedDict):
    """versions: number of images, whether a search matches them or not. default: what the name of the family means."""

    default: ImageView
    family: str
    versions: int


class ImageFamilyList(TypedDict):
    items: list[ImageFamily]
    next_cursor: str | None


class ImageList(TypedDict):
    items: list[ImageView]
    next_cursor: str | None


class ImagePackageList(TypedDict):
    """By name."""

    items: list[ImagePackageView]
    next_cursor: str | None


class ImagePackageView(TypedDict):
    """type: of the package system, such as deb, apk or pypi. purl: package URL."""

    license: str
    name: str
    purl: str
    type: str
    version: str


class ImagePruneRequest(TypedDict):
    """Remove images that Carrel pulled and that no session has used for so many days. nodes: ids or names; empty: all.
    registered: also those that are registered under a name. dry_run: only report what would be removed."""

    dry_run: NotRequired[bool]
    nodes: NotRequired[list[str]]
    older_than_days: NotRequired[int]
    registered: NotRequired[bool]


class ImagePruneView(TypedDict):
    """count, size_bytes: of all that are removed; layers that other images share stay. items: at most 1000 of them,
    the least recently used first. They are removed in the background."""

    count: int
    dry_run: bool
    items: list[PrunedImage]
    kept: list[KeptImages]
    size_bytes: int


class ImagePullCostView(TypedDict):
    """nodes: names of those that would have to pull the image of the session, out of so many: where it would start
    now, or else all that are open to it. size_bytes: about; null: not known."""

    nodes: list[str]
    out_of: int
    sentence: str
    size_bytes: int | None


class ImagePullCreate(TypedDict):
    """nodes: ids or names; or group: all nodes of this resource group, by id or name. project: with the credentials of
    its registries and of its domain's; omitted: of the installation's."""

    group: NotRequired[str | None]
    nodes: NotRequired[list[str]]
    project: NotRequired[str | None]
    reference: str


class ImagePullList(TypedDict):
    items: list[ImagePullView]
    next_cursor: str | None


class ImagePullView(TypedDict):
    """state: of all nodes together; failed: on one of them at least. total, done, failed: numbers of nodes. progress:
    mean of all, 0..1. cancel: it was requested. nodes: those that are not done first; at most 100 in a list."""

    cancel: bool
    created_at: str
    done: int
    ended_at: str | None
    failed: int
    id: str
    nodes: list[NodePullView]
    progress: float
    project: ProjectRef | None
    reference: str
    requested_by: UserRef | None
    state: PullState
    total: int


class ImageScanCreate(TypedDict):
    """image: name in the catalogue, env:NAME, or reference."""

    image: str


class ImageScanList(TypedDict):
    items: list[ImageScanView]
    next_cursor: str | None


class ImageScanView(TypedDict):
    """reference: with registry and tag. state: of the latest scan; problem: why that failed. scanned_at, scanner,
    digest, packages, counts: of the latest that succeeded; null, empty or 0 before. target: what that read: the
    reference with its digest, or the engine's image id; outdated: the catalogue has another digest by now. effect: of
    the installation's rule on new sessions. exemption: from the rule, while it holds."""

    cancel: bool
    counts: SeverityCounts
    digest: str | None
    effect: ScanEffect
    ended_at: str | None
    exemption: ScanExemptionView | None
    id: str
    outdated: bool
    packages: int
    problem: str | None
    reference: str
    requested_at: str
    scanned_at: str | None
    scanner: str
    state: ScanState
    target: str


class ImageScopeRef(TypedDict):
    id: str
    name: str


class ImageSettingsView(TypedDict):
    """What is set for an image. enabled: null: as its registry has it. min_slots: instead of those of its labels.
    domains, projects, groups: those that may use it; domains and projects both empty: all, groups empty: all.
    watch: for updates. pull_groups, pull_nodes: to which an update is pulled; both empty: nodes that have the present
    image."""

    domains: list[ImageScopeRef]
    enabled: bool | None
    groups: list[ImageScopeRef]
    min_slots: dict[str, int]
    projects: list[ImageScopeRef]
    pull_groups: list[ImageScopeRef]
    pull_nodes: list[ImageScopeRef]
    watch: WatchRule


ImageState = Literal["enabled", "disabled", "hidden", "deprecated", "limited", "watched", "update"]


class ImageUpdate(TypedDict):
    """Omitted fields keep their values. enabled: null: as its registry has it. successor: name or id of an image to use
    instead, for a deprecated one; null: none. preferred: the name of its family means this version, and no other.
    aliases, domains, projects, groups, min_slots, recommended_slots, pull_groups, pull_nodes: replace the present ones.
    domains, projects, groups, pull_groups, pull_nodes: ids or names. min_slots: instead of those of its labels. watch:
    for updates of its tag. pull_groups, pull_nodes: to which an update is pulled; both empty: nodes that have the
    present image."""

    aliases: NotRequired[list[str]]
    deprecated: NotRequired[bool]
    domains: NotRequired[list[str]]
    enabled: NotRequired[bool | None]
    groups: NotRequired[list[str]]
    hidden: NotRequired[bool]
    min_slots: NotRequired[dict[str, int]]
    preferred: NotRequired[bool]
    projects: NotRequired[list[str]]
    pull_groups: NotRequired[list[str]]
    pull_nodes: NotRequired[list[str]]
    recommended_slots: NotRequired[dict[str, int]]
    successor: NotRequired[str | None]
    watch: NotRequired[WatchRule]


class ImageUpdateCheck(TypedDict):
    """image: omitted: all that are watched."""

    image: NotRequired[str | None]


class ImageUpdateCheckView(TypedDict):
    """images: how many are checked soon."""

    images: int


class ImageUpdateChoice(TypedDict):
    """digest: what was seen, so that nothing newer is meant; omitted: the one that is available."""

    digest: NotRequired[str | None]
    image: str


class ImageView(TypedDict):
    """name: of an image that a scan has added: its reference. architecture: null if it has several. registry_id,
    digest, layers, scanned_at: of a scanned image; size_bytes is then that of its compressed layers. family, version:
    group images. contents: versions of what it contains, such as python and cuda; cuda-driver: the least one.
    contents_from: where each was read: image for its labels and environment, or the package database: dpkg, apk, conda,
    python. packages_problem: why not all package databases could be read.
    min_slots: of its sessions; recommended_slots: to begin with. hidden: users are not offered it, and can start it by
    name. deprecated: it still starts; successor: the name of the image to use instead. aliases: further names.
    preferred: the name of its family means this version; without one, the newest. update: of a watched image, for those
    who may change it; otherwise null. digest: of a watched image, what its sessions start from. cuda_nodes: null if it
    requires nothing of drivers, and in families."""

    accelerators: list[str]
    aliases: list[str]
    apps: list[AppRef]
    architecture: str | None
    architectures: list[str]
    built_at: str | None
    contents: dict[str, str]
    contents_from: dict[str, str]
    cuda_nodes: CudaNodes | None
    deprecated: bool
    description: str
    digest: str | None
    enabled: bool
    family: str
    hidden: bool
    id: str
    layers: int | None
    licenses: str
    min_slots: AllSlotAmounts
    name: str
    packages_problem: str | None
    preferred: bool
    present: bool
    recommended_slots: dict[str, int]
    reference: str
    registry_id: str | None
    scanned_at: str | None
    size_bytes: int | None
    successor: str | None
    title: str
    update: ImageWatchView | None
    version: str


class ImageWatchView(TypedDict):
    """A watched image. available, available_since: the new digest of its tag. skipped: a digest that is not offered.
    problem: why the last check did not work, or the update is not taken yet. taken_at: of the last update."""

    available: str | None
    available_since: str | None
    checked_at: str | None
    problem: str | None
    rule: WatchRule
    skipped: str | None
    state: WatchState
    taken_at: str | None


ImportCredentials = Literal["none", "token", "key"]


class ImportPreview(TypedDict):
    """What an import would do. Nothing has been fetched.

    host: where it is fetched from. target: the directory or file that it becomes, unless that exists. image: suggested.
    app: the app to open; null: the terminal. opens: what JupyterLab opens first; null: it does not. variable: the
    environment variable for the credentials; null: none. session: a body of `POST /sessions`."""

    app: str | None
    host: str
    image: str
    kind: SourceKind
    name: str
    opens: str | None
    path: str
    ref: str
    repository: str | None
    script: str
    session: dict[str, Any]
    target: str
    url: str
    variable: str | None
    warnings: list[ImportWarning]


class ImportRequest(TypedDict):
    """url: of a notebook, a Git repository or a file in one, an archive, or a repository of a Hugging Face hub. kind:
    instead of the one that the address tells. ref: branch, tag or commit. path: a file or directory within.

    folder: id or name of a folder to fetch into; null: into the home of a new session. install: also the Python
    requirements that the source lists. credentials: what the session will have in the environment variable `variable`
    of the answer; it is never part of this request."""

    credentials: NotRequired[ImportCredentials]
    folder: NotRequired[str | None]
    image: NotRequired[str | None]
    install: NotRequired[bool]
    kind: NotRequired[SourceKind | None]
    path: NotRequired[str]
    ref: NotRequired[str]
    url: str


ImportWarning = Literal[
    "guessed",
    "plain_http",
    "query_kept",
    "ref_unused",
    "path_unused",
    "install_unused",
    "key_needed",
]


class InformationView(TypedDict):
    """schema: revision of the database. database_bytes: its size."""

    data_dir: str
    database: str
    database_bytes: int
    licence: str
    limits: list[InstallationLimit]
    packages: list[PackageView]
    python: str
    schema_revision: str
    system: str
    version: str


class InstallationCheck(TypedDict):
    """subject: of what the check is, if there are several of the kind. detail: a sentence, or a version."""

    detail: str
    name: str
    remedy: str
    state: CheckOutcome
    subject: str


class InstallationCheckList(TypedDict):
    items: list[InstallationCheck]


class InstallationLimit(TypedDict):
    """setting: the environment variable that changes it; empty if it is fixed."""

    name: str
    setting: str
    value: str


class InvitationList(TypedDict):
    items: list[InvitationView]


class InvitationView(TypedDict):
    """A folder that another user offers you."""

    created_at: str
    folder_id: str
    folder_name: str
    id: str
    invited_by: UserRef | None
    owner: UserRef | None
    permission: Permission
    project: ProjectRef | None
    used_bytes: int


class JoinedSession(TypedDict):
    """The session that a link is for. level: what you may do with it; null: it is your own."""

    expires_at: str
    id: str
    level: AccessLevel | None
    name: str


KeptFor = Literal["foreign", "in_use", "needed", "registered", "recent"]


class KeptImages(TypedDict):
    """How many images stay for one reason."""

    cause: KeptFor
    count: int
    size_bytes: int


class KeypairCreate(TypedDict):
    name: NotRequired[str]


class KeypairCreated(TypedDict):
    """The secret is shown only once."""

    access_key: str
    created_at: str
    name: str
    secret_key: str


class KeypairLimits(TypedDict):
    """Limits of one keypair, or of one user without a keypair.

    slots, pending_slots: slot -> most that its running, or pending, sessions may total; "*": any other slot. A slot
    that is neither named nor covered by "*" cannot be used. sessions, pending_sessions: most at once.
    containers_per_session, lifetime_s: of each session. idle_timeout_s: a session ends after this long without app,
    terminal or command traffic. idle_use: a session with usage below these thresholds ends. max_priority: the highest
    priority it may request. storage_hosts: names of the hosts on which it may create folders, among those open to its
    owner. log_bytes: kept of the log of each container, compressed: its beginning and its end. max_rights: the most
    that its sessions may have inside, plain or root. max_disk_bytes: the most that each container may be allowed to
    write outside its folders; default_disk_bytes: for sessions that request nothing."""

    containers_per_session: int | Literal["unlimited"]
    default_disk_bytes: NotRequired[int | Literal["unlimited"]]
    idle_timeout_s: int | Literal["unlimited"]
    idle_use: IdleUse | Literal["unlimited"]
    lifetime_s: int | Literal["unlimited"]
    log_bytes: int | Literal["unlimited"]
    max_disk_bytes: NotRequired[int | Literal["unlimited"]]
    max_priority: int
    max_rights: NotRequired[Rights]
    pending_sessions: int | Literal["unlimited"]
    pending_slots: dict[str, int | Literal["unlimited"]]
    sessions: int | Literal["unlimited"]
    slots: dict[str, int | Literal["unlimited"]]
    storage_hosts: list[str] | Literal["unlimited"]


class KeypairList(TypedDict):
    items: list[KeypairView]
    next_cursor: str | None


class KeypairUpdate(TypedDict):
    """Omitted fields keep their values. rate_limit: requests per 15 minutes; null: the installation's default."""

    active: NotRequired[bool]
    name: NotRequired[str]
    rate_limit: NotRequired[int | None]


class KeypairView(TypedDict):
    """rate_limit: requests per 15 minutes; null: the installation's default. policy: its resource policy."""

    access_key: str
    active: bool
    created_at: str
    last_used_at: str | None
    name: str
    owner: UserRef
    policy: PolicyRef
    rate_limit: int | None
    rotated_at: str | None


Kind = Literal["group", "any_node", "smaller", "end_own"]


class KindCount(TypedDict):
    count: int
    kind: SessionKind


Lack = Literal["no_torch", "little_memory", "broken_torch"]


LayerState = Literal["BUILDING", "READY", "FAILED"]


LeastTier = Literal["none", "slice", "mps3"]


LeftOut = Literal["temporary", "caches", "credentials", "histories"]


class LeftOutPaths(TypedDict):
    kind: LeftOut
    paths: list[str]


class LeftSession(TypedDict):
    """shared_as: what shares with your projects still permit you to do; null: nothing."""

    id: str
    name: str
    shared_as: AccessLevel | None


class LimitView(TypedDict):
    """A ceiling that blocks the session. scope: such as "project:k3f..."; label: the scope for display."""

    asked: int
    ceiling: int
    label: str
    scope: str
    slot: str
    used: int


class LimitsChange(TypedDict):
    """Limits to change. Omitted limits keep their values; slots, lists and idle_use are replaced completely."""

    containers_per_session: NotRequired[int | Literal["unlimited"]]
    default_disk_bytes: NotRequired[int | Literal["unlimited"]]
    environment_bytes: NotRequired[int | Literal["unlimited"]]
    folder_bytes: NotRequired[int | Literal["unlimited"]]
    folders: NotRequired[int | Literal["unlimited"]]
    idle_timeout_s: NotRequired[int | Literal["unlimited"]]
    idle_use: NotRequired[IdleUse | Literal["unlimited"]]
    lifetime_s: NotRequired[int | Literal["unlimited"]]
    log_bytes: NotRequired[int | Literal["unlimited"]]
    max_disk_bytes: NotRequired[int | Literal["unlimited"]]
    max_priority: NotRequired[int]
    max_rights: NotRequired[Rights]
    pending_sessions: NotRequired[int | Literal["unlimited"]]
    pending_slots: NotRequired[dict[str, int | Literal["unlimited"]]]
    sessions: NotRequired[int | Literal["unlimited"]]
    slots: NotRequired[dict[str, int | Literal["unlimited"]]]
    storage_hosts: NotRequired[list[str] | Literal["unlimited"]]


class LimitsTry(TypedDict):
    """limits: the proposed changes; omitted limits keep their values."""

    limits: NotRequired[LimitsChange]


class LinkCreate(TypedDict):
    """paths: one file, or a selection to be sent as a zip file; "" is the whole folder."""

    paths: list[str]


class LinkView(TypedDict):
    """url: valid for one minute, for this download only."""

    expires_at: str
    url: str


class LoginList(TypedDict):
    items: list[LoginView]
    next_cursor: str | None


class LoginRequest(TypedDict):
    email: str
    password: str


class LoginView(TypedDict):
    """browser, system: from the User-Agent header, else "". current: the sign-in of this request."""

    address: str
    browser: str
    created_at: str
    current: bool
    expires_at: str
    id: str
    method: str
    pending: str | None
    seen_at: str
    system: str
    user: UserRef


class LoginsEnded(TypedDict):
    ended: int


class MachineView(TypedDict):
    """By well-known labels; empty if unknown. pool: of its autoscaler. capacity_type: such as "spot" or "on-demand".
    nvidia_driver: its version. cuda: the newest that its driver supports."""

    capacity_type: str
    cuda: str
    instance_type: str
    nvidia_driver: str
    pool: str
    zone: str


MailTls = Literal["none", "starttls", "tls"]


MayPush = Literal["nobody", "members"]


class Me(TypedDict):
    """csrf_token: pages send it in X-Carrel-CSRF; null for a keypair or token.

    pending: the missing sign-in step: "factor" (POST /auth/factor), "password" (POST /auth/password) or "enrol"
    (register a second factor); null when it is complete.
    actions: your permitted actions, each with its scope: "own", "project", "domain" or "all"; without node.read where
    only superadmins see nodes."""

    actions: dict[str, str]
    csrf_token: str | None
    pending: str | None
    projects: list[ProjectMembership]
    user: UserProfile


class MeasureSeries(TypedDict):
    """One value per moment; null: nothing was measured. peak: the highest value in the interval."""

    mean: list[float | None]
    peak: list[float | None]


class MemberAdded(TypedDict):
    """user: as requested. member: null if it failed, with the reason in problem."""

    member: MemberView | None
    problem: Trouble | None
    status: Literal["added", "already", "failed"]
    user: str


class MemberList(TypedDict):
    items: list[MemberView]
    next_cursor: str | None


class MemberRemoved(TypedDict):
    """still_mounted: their live sessions that keep mounts of the project's folders until they end."""

    still_mounted: list[MountedIn]


class MemberUpdate(TypedDict):
    admin: bool


class MemberView(TypedDict):
    admin: bool
    email: str
    id: str
    name: str
    state: UserState


class MembersAdd(TypedDict):
    """users: ids or e-mails. admin: make them administrators of the project too."""

    admin: NotRequired[bool]
    users: list[str]


class MembersAdded(TypedDict):
    """One per requested user, in the same order."""

    added: int
    failed: int
    items: list[MemberAdded]


Missed = Literal["skip", "run_once"]


class MountList(TypedDict):
    items: list[MountedIn]


class MountRequest(TypedDict):
    """folder: id or name. path: mount point, absolute or relative to /home/work; default: /home/work/NAME. subpath:
    mount only this directory of the folder. read_only: mount without write access."""

    folder: str
    path: NotRequired[str | None]
    read_only: NotRequired[bool]
    subpath: NotRequired[str]


class MountView(TypedDict):
    """A folder mounted in a session. folder_id: null when it was deleted. automatic: its name begins with a dot."""

    automatic: bool
    folder_id: str | None
    folder_name: str
    path: str
    read_only: bool
    subpath: str


class MountedIn(TypedDict):
    """A live session that mounts the folder. session_name, owner: null if you may not see them."""

    owner: UserRef | None
    path: str
    read_only: bool
    session_id: str
    session_name: str | None
    subpath: str


class NetworkCheck(TypedDict):
    """code: network.measured, or why it failed, as in the error. latency_s: of an all-reduce of 8 bytes. method: null
    if it failed. lack: why not a better method: of PyTorch in the containers."""

    at: str
    code: str
    hint: str
    lack: Lack | None
    latency_s: float | None
    message: str
    messages: list[NetworkMessage]
    method: AllReduceMethod | None
    participants: int
    paths: list[NetworkPath]
    took_s: float


class NetworkCheckState(TypedDict):
    """The last check of a session; null: there was none. running: another one goes on."""

    last: NetworkCheck | None
    running: bool


class NetworkMessage(TypedDict):
    """All-reduces of one size. seconds: of one, on average. bytes_per_s: size / seconds. bus_bytes_per_s: what each
    participant sends at the same time, 2 (n - 1) / n times as much; it compares with the speed of the hardware for any
    number of participants."""

    bus_bytes_per_s: float
    bytes_per_s: float
    count: int
    seconds: float
    size_bytes: int


class NetworkPath(TypedDict):
    """A connection between two participants. sender, receiver: host names; with a number, as main1:0, where a container
    has several. interface: of the sender; null: unknown, or the transport has none. detail: as NCCL prints it."""

    detail: str
    interface: str | None
    receiver: str
    sender: str
    transport: NetworkTransport


NetworkTransport = Literal["tcp", "shared_memory", "p2p", "infiniband", "roce", "other"]


class NodeCauseView(TypedDict):
    """A number of nodes rejected for one reason. slot: the missing slot; empty for other reasons."""

    asked: int
    count: int
    most_free: int
    slot: str
    text: str


class NodeDetail(TypedDict):
    """image_names: references of the images present. sessions: those that you may see."""

    architecture: str
    capabilities: list[str]
    closed: str
    cordoned: bool
    cpu_overcommit: float
    devices: list[DeviceView]
    down_since: str | None
    draining: Draining | None
    engine: EngineRef
    engine_version: str
    group: GroupRef
    group_fixed: bool
    host: HostLoadView | None
    id: str
    image_names: list[str]
    images: int
    labels: dict[str, str]
    live_sessions: int
    machine: MachineView
    name: str
    offered: dict[str, int]
    own_labels: dict[str, str]
    reserved: dict[str, int]
    seen_at: str
    selected_by: list[GroupRef]
    sessions: list[NodeSession]
    sharing: SharingView | None
    slots: dict[str, int]
    state: NodeState
    used: dict[str, int]


class NodeDeviceList(TypedDict):
    """Nodes with devices, by group and name. families: of all nodes that you may see, whatever the filter."""

    families: list[str]
    items: list[NodeDevices]


class NodeDevices(TypedDict):
    """The devices of a node, near ones together. open: it accepts new sessions."""

    devices: list[DeviceUse]
    group: GroupRef
    id: str
    name: str
    open: bool
    state: NodeState


class NodeImageList(TypedDict):
    """count, size_bytes: of all images of the node, not only of this page; layers that images share count for each."""

    count: int
    items: list[NodeImageView]
    next_cursor: str | None
    size_bytes: int


class NodeImageView(TypedDict):
    """image_id: of the engine. references: by tag; empty if the tags have moved to newer images. size_bytes: with
    layers that other images share. since: when it was first seen there. used_at: when a session last used it; null: not
    since then. in_use: a container uses it. pulled: Carrel pulled it, so that a clean-up may remove it. removing: it is
    being removed. problem: why that failed."""

    digest: str | None
    image_id: str
    in_use: bool
    problem: str | None
    pulled: bool
    references: list[str]
    removing: bool
    since: str
    size_bytes: int
    used_at: str | None


class NodeList(TypedDict):
    items: list[NodeView]
    next_cursor: str | None


NodeLoss = Literal["end", "reschedule"]


class NodePullView(TypedDict):
    """progress: 0..1; null: not known. problem: why it failed, or why it is not done yet."""

    ended_at: str | None
    node: NodeRef
    problem: str | None
    progress: float | None
    size_bytes: int | None
    started_at: str | None
    state: PullState


class NodeRef(TypedDict):
    id: str
    name: str


class NodeSession(TypedDict):
    """devices: of the node, in thousandths."""

    devices: dict[str, int]
    id: str
    name: str
    owner: UserRef
    slots: dict[str, int]
    started_at: str | None
    state: SessionState


NodeState = Literal["READY", "DOWN"]


class NodeUpdate(TypedDict):
    """Omitted fields keep their values. group: an id or a name; null: as the selectors of groups say. own_labels: given
    ones change; null removes one. cordoned false: uncordon it and stop a drain.
    reserved: slots reserved for the system, replaced completely. Running sessions are unaffected."""

    cordoned: NotRequired[bool]
    cpu_overcommit: NotRequired[float]
    group: NotRequired[str | None]
    own_labels: NotRequired[dict[str, str | None]]
    reserved: NotRequired[dict[str, int]]


class NodeView(TypedDict):
    """group_fixed: an administrator chose its group. selected_by: the groups whose node selectors it meets, for
    superadmins; unless its group is fixed, it is in the first one. labels: of its engine, with own_labels, which
    administrators set, in front of them. slots: physical capacity. offered: capacity for sessions, with reserve and
    cpu_overcommit applied. used: allocated to sessions. seen_at: when the engine last reported it. down_since: when
    the engine stopped reporting it; null while it is reported or the engine is down. cordoned: it accepts no new
    sessions. closed: why its engine places nothing new there, such as "has the taint dedicated=lab:NoSchedule,
    which sessions do not tolerate"; empty if it does. draining: the kind of drain, until it is uncordoned. images:
    number of images present. sharing: null if it has no accelerators that could be shared. host: null if it was not
    measured in the last minutes, and for those who may not read the usage of nodes."""

    architecture: str
    capabilities: list[str]
    closed: str
    cordoned: bool
    cpu_overcommit: float
    devices: list[DeviceView]
    down_since: str | None
    draining: Draining | None
    engine: EngineRef
    engine_version: str
    group: GroupRef
    group_fixed: bool
    host: HostLoadView | None
    id: str
    images: int
    labels: dict[str, str]
    live_sessions: int
    machine: MachineView
    name: str
    offered: dict[str, int]
    own_labels: dict[str, str]
    reserved: dict[str, int]
    seen_at: str
    selected_by: list[GroupRef]
    sharing: SharingView | None
    slots: dict[str, int]
    state: NodeState
    used: dict[str, int]


class NodesOfPolicy(TypedDict):
    """One node, or `count` identical ones named name-1, name-2 ...

    slots: capacity for sessions, without accelerators, which follow from devices. closed: why nothing is placed
    there; empty: open."""

    architecture: str
    closed: str
    count: int
    devices: list[DevicesOfNode]
    group: str
    name: str
    slots: dict[str, int]


class NotDone(TypedDict):
    """A failed operation and its reason."""

    code: str
    message: str
    path: str


class NotShared(TypedDict):
    """A recipient without a share, and the reason."""

    code: str
    message: str
    who: str


NotificationChannel = Literal["page", "browser", "mail", "webhook"]


class NotificationChoices(TypedDict):
    """The channels on which each kind reaches the user. shared: another user's session. device_out_of_order and
    device_back: an accelerator, for superadmins only. The others: own sessions. page: while the page is open. browser:
    by the system, from the open page. mail: by e-mail, if the installation sends mail. webhook: to the user's own
    webhooks."""

    about_to_end: list[NotificationChannel]
    device_back: list[NotificationChannel]
    device_out_of_order: list[NotificationChannel]
    ended: list[NotificationChannel]
    failed: list[NotificationChannel]
    shared: list[NotificationChannel]
    started: list[NotificationChannel]


NotificationKind = Literal[
    "started",
    "ended",
    "failed",
    "about_to_end",
    "shared",
    "device_out_of_order",
    "device_back",
]


class NotificationUpdate(TypedDict):
    """Omitted kinds keep their channels."""

    about_to_end: NotRequired[list[NotificationChannel]]
    device_back: NotRequired[list[NotificationChannel]]
    device_out_of_order: NotRequired[list[NotificationChannel]]
    ended: NotRequired[list[NotificationChannel]]
    failed: NotRequired[list[NotificationChannel]]
    shared: NotRequired[list[NotificationChannel]]
    started: NotRequired[list[NotificationChannel]]


class OfferedProvider(TypedDict):
    """A provider on the sign-in page. start: target of its button; null: users enter their credentials in the form."""

    kind: str
    label: str
    name: str
    start: str | None


OnFailure = Literal["end", "continue"]


class OpenedApp(TypedDict):
    """url: works once, until expires_at; it then sets a cookie for the app's origin."""

    expires_at: str
    url: str


OptionType = Literal["text", "path", "integer", "boolean"]


class OverList(TypedDict):
    """Empty: nobody is over a limit."""

    items: list[OverView]


class OverView(TypedDict):
    """A holder over a limit.

    scope, id, label: the holder; a sign-in is a user without a keypair. slot: the limited slot; "sessions" for the
    number of sessions, "folders" and "folder_bytes" for storage. waiting: the limit is on pending sessions. ceiling:
    the limit. used: the current amount."""

    ceiling: int
    id: str
    label: str
    scope: Literal["keypair", "sign_in", "user", "project", "domain"]
    slot: str
    used: int
    waiting: bool


Overlap = Literal["allow", "forbid", "replace"]


class OwnPolicy(TypedDict):
    """scope, id, label: what it limits; a sign-in is use without a keypair."""

    id: str
    label: str
    limits: KeypairLimits | UserLimits | ProjectLimits
    policy: PolicyRef
    scope: Literal["sign_in", "keypair", "user", "project"]


class OwnPolicyList(TypedDict):
    items: list[OwnPolicy]


class OwnerRef(TypedDict):
    email: str
    id: str


class PackageView(TypedDict):
    """part: "server" or "page". licence: an SPDX expression or a name; empty if the package states none."""

    licence: str
    name: str
    part: str
    version: str


class Parameter(TypedDict):
    """A parameter of a template, used as `${name}` in the texts of its session.

    default: its value unless a start gives one; null: a start must. min, max: of numbers. choices: of a choice."""

    choices: NotRequired[list[str]]
    default: NotRequired[str | bool | int | float | None]
    description: NotRequired[str]
    max: NotRequired[int | float | None]
    min: NotRequired[int | float | None]
    name: str
    type: NotRequired[ParameterType]


ParameterType = Literal["text", "integer", "number", "choice", "boolean", "folder", "image"]


class PartView(TypedDict):
    address: str
    detail: str
    name: str
    state: str
    version: str


class PasskeyAdded(TypedDict):
    csrf_token: str | None
    passkey: PasskeyView
    recovery_codes: list[str]


class PasskeyCreate(TypedDict):
    credential: PasskeyCredential
    name: str


class PasskeyCredential(TypedDict):
    """A PublicKeyCredential as from `toJSON()` in browsers; unknown fields are ignored."""

    id: str
    rawId: str
    response: PasskeyResponse
    type: str


class PasskeyLogin(TypedDict):
    credential: PasskeyCredential


class PasskeyOptions(TypedDict):
    """For navigator.credentials, through PublicKeyCredential.parse...OptionsFromJSON(); valid for 5 minutes."""

    options: dict[str, Any]


class PasskeyResponse(TypedDict):
    """The browser's response: attestationObject after creating a passkey, the other fields after using one."""

    attestationObject: NotRequired[str | None]
    authenticatorData: NotRequired[str | None]
    clientDataJSON: str
    signature: NotRequired[str | None]
    transports: NotRequired[list[str]]
    userHandle: NotRequired[str | None]


class PasskeyUpdate(TypedDict):
    name: str


class PasskeyView(TypedDict):
    created_at: str
    id: str
    last_used_at: str | None
    name: str


class PasswordChange(TypedDict):
    current: str
    new: str


class PasswordRulesView(TypedDict):
    """classes: minimum number of character classes: lowercase, uppercase, digits, others.

    history: number of previous passwords that cannot be reused."""

    classes: int
    history: int
    min_length: int
    refuse_common: bool


Permission = Literal["ro", "rw", "rw-delete"]


class PolicyAssign(TypedDict):
    """The new holders of the policy, replacing their current one. Existing holders keep it.

    keypairs: access keys. users, sign_ins: ids or e-mails. projects: ids or names. A policy for keypairs is given to
    keypairs and sign_ins, the latter for use without a keypair, and as the default for new keypairs."""

    keypairs: NotRequired[list[str]]
    projects: NotRequired[list[str]]
    sign_ins: NotRequired[list[str]]
    users: NotRequired[list[str]]


class PolicyCopy(TypedDict):
    name: str


class PolicyCreate(TypedDict):
    """limits: all limits of the kind. name: unique within its kind, case-insensitive."""

    description: NotRequired[str]
    kind: PolicyKind
    limits: KeypairLimits | UserLimits | ProjectLimits
    name: str


class PolicyHolders(TypedDict):
    """Number of holders, among those that you administer."""

    keypairs: int
    projects: int
    sign_ins: int
    users: int


PolicyKind = Literal["keypair", "user", "project"]


class PolicyList(TypedDict):
    items: list[PolicyView]
    next_cursor: str | None


class PolicyRef(TypedDict):
    id: str
    name: str


class PolicyUpdate(TypedDict):
    """Omitted fields keep their values. Changed limits take effect at the next scheduling decision; no session ends."""

    description: NotRequired[str]
    limits: NotRequired[LimitsChange]
    name: NotRequired[str]


class PolicyView(TypedDict):
    """default: the policy assigned by default; it cannot be deleted."""

    created_at: str
    default: bool
    description: str
    id: str
    kind: PolicyKind
    limits: KeypairLimits | UserLimits | ProjectLimits
    name: str
    used_by: PolicyHolders


class Preferences(TypedDict):
    """Preferences of a user. null: the default of browser or installation. shell: for terminals, such as "zsh".
    notifications: of one's own sessions (the default), or of all that the user can see. timezone, locale: of new
    sessions."""

    language: NotRequired[Literal["en", "ko", "ja"] | None]
    locale: NotRequired[str | None]
    notifications: NotRequired[Literal["own", "all"] | None]
    shell: NotRequired[str | None]
    theme: NotRequired[Literal["light", "dark", "auto"] | None]
    timezone: NotRequired[str | None]


class PresetCreate(TypedDict):
    """group: id or name of its resource group; null: all groups. slots: in base units."""

    group: NotRequired[str | None]
    name: str
    slots: dict[str, int]


class PresetGroup(TypedDict):
    id: str
    name: str


class PresetList(TypedDict):
    items: list[PresetView]


class PresetRoom(TypedDict):
    id: str
    name: str
    reason: str
    slots: dict[str, int]
    verdict: Verdict


class PresetUpdate(TypedDict):
    """Omitted fields keep their values; slots are replaced completely."""

    group: NotRequired[str | None]
    name: NotRequired[str]
    slots: NotRequired[dict[str, int]]


class PresetView(TypedDict):
    """group: null for a preset of all groups."""

    created_at: str
    group: PresetGroup | None
    id: str
    name: str
    slots: dict[str, int]


class Problem(TypedDict):
    """RFC 9457 problem details. code is stable; hint is the next step; field is the input at fault."""

    code: str
    detail: str
    details: dict[str, Any]
    field: str | None
    hint: str
    request_id: str
    status: int
    title: str
    type: str


class ProfileUpdate(TypedDict):
    """Omitted fields keep their values; null resets a preference to the default of browser or installation."""

    name: NotRequired[str]
    preferences: NotRequired[Preferences]


class ProgressView(TypedDict):
    """fraction: 0..1 when known."""

    fraction: float | None
    phase: str
    text: str


class ProjectArchive(TypedDict):
    """sessions: what to do with live sessions; omitted: a conflict that lists them, if any."""

    sessions: NotRequired[SessionsChoice | None]


class ProjectCreate(TypedDict):
    """domain: id or name; default: your own. ceilings: as for a domain."""

    ceilings: NotRequired[dict[str, int]]
    description: NotRequired[str]
    domain: NotRequired[str | None]
    name: str


class ProjectLimits(TypedDict):
    """Limits of the folders and environments of one project, and max_rights: the most that its sessions may have
    inside, if the policies of their keypairs allow it. Its sessions are further limited by its ceilings."""

    environment_bytes: NotRequired[int | Literal["unlimited"]]
    folder_bytes: int | Literal["unlimited"]
    folders: int | Literal["unlimited"]
    max_rights: NotRequired[Rights]


class ProjectList(TypedDict):
    items: list[ProjectView]
    next_cursor: str | None


class ProjectMembership(TypedDict):
    """admin: whether the user administers it."""

    admin: bool
    id: str
    name: str


class ProjectOfDomain(TypedDict):
    """domain: the name of the project's domain, because project names are unique only within a domain."""

    domain: str
    id: str
    name: str


class ProjectRef(TypedDict):
    id: str
    name: str


class ProjectUpdate(TypedDict):
    """Omitted fields keep their values; given ones are replaced completely."""

    ceilings: NotRequired[dict[str, int]]
    description: NotRequired[str]
    name: NotRequired[str]


class ProjectView(TypedDict):
    """archived_at: when it was archived; null: active. admins: by e-mail. members, live_sessions: counts.
    used: slot -> allocation of its sessions. had_sessions: it ever had a session, so it cannot be deleted. policy:
    limits of its folders."""

    admins: list[UserRef]
    archived_at: str | None
    ceilings: dict[str, int]
    created_at: str
    description: str
    domain: DomainRef
    had_sessions: bool
    id: str
    live_sessions: int
    members: int
    name: str
    policy: PolicyRef
    used: dict[str, int]


class ProjectWeight(TypedDict):
    domain: str
    id: str
    name: str
    weight: float


class Proof(TypedDict):
    """Re-authentication: exactly one of your password, a code of your device, a recovery code, or a passkey."""

    code: NotRequired[str | None]
    passkey: NotRequired[PasskeyCredential | None]
    password: NotRequired[str | None]
    recovery_code: NotRequired[str | None]


class ProviderCreate(TypedDict):
    """kind: as in `GET /provider-kinds`. settings: as in its schema; omitted ones use defaults.

    domain: id or name; where new users are created."""

    active: NotRequired[bool]
    domain: str
    kind: str
    mapping: NotRequired[list[GroupRule]]
    name: str
    settings: NotRequired[dict[str, Any]]


class ProviderKind(TypedDict):
    """redirects: browsers are redirected to the provider; otherwise users enter name and password here.

    settings: JSON schema of the settings of this kind; secrets are writeOnly."""

    description: str
    kind: str
    redirects: bool
    settings: dict[str, Any]
    title: str


class ProviderKindList(TypedDict):
    items: list[ProviderKind]
    next_cursor: str | None


class ProviderList(TypedDict):
    items: list[ProviderView]
    next_cursor: str | None


class ProviderTest(TypedDict):
    """login: a user to look up in a directory; omitted: only the connection is tested."""

    login: NotRequired[str | None]


class ProviderTestResult(TypedDict):
    """steps: in execution order; the first failed one is the last."""

    ok: bool
    steps: list[ProviderTestStep]


class ProviderTestStep(TypedDict):
    """name: depends on the kind; for OpenID Connect "discovery" or "keys", for LDAP "connection", "bind", ..."""

    name: str
    ok: bool
    sentence: str


class ProviderUpdate(TypedDict):
    """Omitted fields keep their values; mapping is replaced completely.

    settings: given ones change; null resets one to its default. Secrets must be sent again when the provider moves to
    another server."""

    active: NotRequired[bool]
    domain: NotRequired[str]
    mapping: NotRequired[list[GroupRule]]
    settings: NotRequired[dict[str, Any]]


class ProviderView(TypedDict):
    """settings: the given ones, without secrets. secrets: names of the secrets that are set; values are never shown.

    server: its address. redirect_uri: to register at a provider that redirects. people: number of users who have signed
    in by it. sign_ins: number of active sign-ins by it, which end when it is disabled or removed."""

    active: bool
    created_at: str
    domain: DomainRef
    id: str
    kind: str
    mapping: list[GroupRuleView]
    name: str
    people: int
    redirect_uri: str | None
    secrets: list[str]
    server: str
    settings: dict[str, Any]
    sign_ins: int


class PrunedImage(TypedDict):
    """used_at: when it was last used, or else pulled."""

    image_id: str
    node: NodeRef
    references: list[str]
    size_bytes: int
    used_at: str


PullState = Literal["waiting", "running", "done", "failed", "cancelled"]


class PurgeOne(TypedDict):
    """user: id or e-mail. confirm: the e-mail."""

    confirm: str
    user: str


class PushCreate(TypedDict):
    """registry: id or name; omitted: the only one to which you may push. repository: without the registry's namespace;
    omitted: the name of the environment, or the first one that is permitted. tag: omitted: the name of the version."""

    registry: NotRequired[str | None]
    repository: NotRequired[str | None]
    tag: NotRequired[str | None]


class PushList(TypedDict):
    items: list[PushView]
    next_cursor: str | None


PushState = Literal["waiting", "running", "done", "failed", "cancelled"]


class PushTarget(TypedDict):
    """A registry to which you may push. prefix: of its references: host and namespace. repositories: globs of those to
    which you may push, without the namespace. repository: where it goes unless you name another."""

    id: str
    name: str
    prefix: str
    repositories: list[str]
    repository: str


class PushTargetList(TypedDict):
    """refusal: why versions of this environment cannot be pushed; null: they can."""

    items: list[PushTarget]
    refusal: str | None


class PushView(TypedDict):
    """registry: null: it was removed. reference: with host, repository and tag. digest: of the image in the registry;
    pinned: the reference with it, which always means this image. progress: 0..1. problem: why it failed, or why it is
    tried again; code: of it, such as `push_denied`."""

    cancel: bool
    code: str | None
    created_at: str
    digest: str | None
    ended_at: str | None
    environment: str
    environment_id: str
    id: str
    pinned: str | None
    problem: str | None
    progress: float | None
    reference: str
    registry: RegistryRef | None
    requested_by: UserRef | None
    started_at: str | None
    state: PushState
    version: str


class PutBack(TypedDict):
    """A device that sessions get again from now on."""

    device: str
    node: CheckedNodeRef


class PutBackRequest(TypedDict):
    """device: one that is out of order and has no problem any more."""

    device: str


QueueOrder = Literal["fifo", "lifo", "drf", "fair_share"]


class QueueView(TypedDict):
    """A page of one group's queue, in order. length: of the whole queue. scheduler: its ordering. forecast_complete:
    false if the queues are so long that an expected start may be null although time limits let it be known."""

    forecast_complete: bool
    group: GroupRef
    items: list[QueuedView]
    length: int
    next_cursor: str | None
    scheduler: QueueOrder


class QueuedView(TypedDict):
    """A queue entry. Fields that you may not see are null; the entry itself is not secret. expected_start: as of
    `sessions.why`, null if not known."""

    cause: Cause | None
    expected_start: str | None
    name: str | None
    owner: OwnerRef | None
    position: int
    priority: int
    project: ProjectRef | None
    reason: str
    session: str | None
    slots: dict[str, int]
    waits_since: str


class QuotaList(TypedDict):
    items: list[QuotaView]
    next_cursor: str | None


class QuotaView(TypedDict):
    """Folder usage of a user or project. most_*: limits; null: none.

    level: caution from 80 %, insufficient at the limit."""

    folders: int
    id: str
    kind: Literal["user", "project"]
    label: str
    level: Literal["adequate", "caution", "insufficient"]
    measured_at: str | None
    most_bytes: int | None
    most_folders: int | None
    used_bytes: int


Range = Literal["24h", "7d", "30d"]


class RecentUsage(TypedDict):
    """By session id; sessions without samples are absent."""

    items: dict[str, Series]


class RecoveryCodes(TypedDict):
    """Each is valid once, in place of a code of your device; shown only once."""

    recovery_codes: list[str]


class RecoveryLink(TypedDict):
    """url: for the user only; usable once, until expires_at. Setting a password ends all their sign-ins."""

    expires_at: str
    url: str


class RegistryCheck(TypedDict):
    """steps: in execution order; the first failed one is the last."""

    ok: bool
    steps: list[RegistryCheckStep]


class RegistryCheckStep(TypedDict):
    """name: password where it is renewed, connection, repositories, tags or manifest."""

    name: str
    ok: bool
    sentence: str


class RegistryCreate(TypedDict):
    """url: omitted: the public one of the kind. A URL with http:// is used without encryption.

    namespace: prefix of its repositories, such as `library` or a Harbor project; "": all. username: omitted with a
    secret: the usual one of the kind, such as `$oauthtoken` of NGC; for ECR also an access key of AWS with its secret
    key, or `instance-role` without a secret for the installation: passwords are then renewed. secret: password or
    token; never shown. ca_pem:
    certificates of an authority to trust besides the system's. mirror: URL of a registry from which images are scanned
    and pulled instead; it receives the credentials. repositories, tags: allow-lists of globs; empty: all. repositories
    are without the namespace; names without * ? [ are also used where the registry cannot be listed. domain, project:
    id or name of the one for which it is; omitted: what the creator administers: the installation, their domain or
    their only project. images_enabled: whether images that its scans add can be used unless a superadmin says
    otherwise. push: who may push environments to it; `members`: of its project, its domain or the installation.
    push_repositories: globs of the repositories to which they may, without the namespace, such as `team-a/*`.
    read_packages: whether scans download the layers of images, each once, to read package databases."""

    ca_pem: NotRequired[str]
    domain: NotRequired[str | None]
    images_enabled: NotRequired[bool]
    kind: NotRequired[RegistryKind]
    mirror: NotRequired[str | None]
    name: str
    namespace: NotRequired[str]
    project: NotRequired[str | None]
    push: NotRequired[MayPush]
    push_repositories: NotRequired[list[str]]
    read_packages: NotRequired[bool]
    repositories: NotRequired[list[str]]
    secret: NotRequired[str]
    tags: NotRequired[list[str]]
    url: NotRequired[str | None]
    username: NotRequired[str]


RegistryKind = Literal["generic", "dockerhub", "harbor", "ghcr", "gitlab", "ngc", "ecr", "quay"]


class RegistryList(TypedDict):
    items: list[RegistryView]
    next_cursor: str | None


class RegistryRef(TypedDict):
    id: str
    name: str


class RegistryScanList(TypedDict):
    items: list[RegistryScanView]
    next_cursor: str | None


class RegistryScanView(TypedDict):
    """repositories: to read; null while they are not listed. repositories_failed: those that could not be read.

    tags: read so far. added, updated, removed: images of the catalogue. requests: sent to the registry, once it has
    ended. layers, layer_bytes: downloaded to read package databases. problem: why it failed, or why the last failed
    repository or image could not be read."""

    added: int
    cancel: bool
    created_at: str
    ended_at: str | None
    id: str
    layer_bytes: int
    layers: int
    problem: str | None
    registry_id: str
    removed: int
    repositories: int | None
    repositories_done: int
    repositories_failed: int
    requests: int
    started_at: str | None
    state: ScanState
    tags: int
    updated: int


class RegistryUpdate(TypedDict):
    """Omitted fields keep their values. Kind and scope cannot be changed.

    secret: "" removes it. It must be sent again when the registry moves to another URL or mirror."""

    ca_pem: NotRequired[str]
    images_enabled: NotRequired[bool]
    mirror: NotRequired[str | None]
    name: NotRequired[str]
    namespace: NotRequired[str]
    push: NotRequired[MayPush]
    push_repositories: NotRequired[list[str]]
    read_packages: NotRequired[bool]
    repositories: NotRequired[list[str]]
    secret: NotRequired[str]
    tags: NotRequired[list[str]]
    url: NotRequired[str]
    username: NotRequired[str]


class RegistryView(TypedDict):
    """host: as in image references. has_secret: whether there is a password or token; it is never shown.

    password_until: the end of a password that is renewed by keys; null: none is, or there is none yet.
    password_problem: why the last renewal failed; it is tried again every five minutes, and by a check.

    domain, project: for which it is; both null: the installation."""

    ca_pem: str
    created_at: str
    domain: DomainRef | None
    has_secret: bool
    host: str
    id: str
    images_enabled: bool
    kind: RegistryKind
    mirror: str
    name: str
    namespace: str
    password_problem: str | None
    password_until: str | None
    project: ProjectRef | None
    push: MayPush
    push_repositories: list[str]
    read_packages: bool
    repositories: list[str]
    tags: list[str]
    url: str
    username: str


class RescanCreate(TypedDict):
    kind: RescanKind


RescanKind = Literal["registries", "images"]


class RescanList(TypedDict):
    """The latest of each kind that was requested."""

    items: list[RescanView]


class RescanView(TypedDict):
    """A scan of all registries, or of all images that a node has. total: number of scans, of which done, failed and
    cancelled have ended. problem: why the last that failed did. cancel: what is left is being cancelled."""

    cancel: bool
    cancelled: int
    done: int
    ended_at: str | None
    failed: int
    kind: RescanKind
    problem: str | None
    requested_at: str
    requested_by: str | None
    running: int
    total: int
    waiting: int


class ResetRequest(TypedDict):
    """token: from the link."""

    password: str
    token: str


class ResourcesView(TypedDict):
    """largest: the most of each slot free on one node."""

    capacity: AllSlotAmounts
    largest: AllSlotAmounts
    left: AllSlotAmounts
    nodes: int
    used: AllSlotAmounts


Result = Literal["success", "failure", "timed_out", "cancelled"]


Rights = Literal["plain", "root"]


Role = Literal["user", "project_admin", "domain_admin", "superadmin"]


RunOutcome = Literal["started", "skipped", "refused"]


class SavePreview(TypedDict):
    """What an image of the session has and lacks. base: the image below. changed_bytes: what its main container has
    written, as last measured, with what is left out; null while unknown. folders: mount points, whose content is left
    out. variables, files: names of variables and paths of files that the session was given, which are left out. paths:
    left out everywhere, with everything below them. possible: whether the engine can make images; refusal: why not."""

    base: str
    changed_bytes: int | None
    engine: str | None
    files: list[str]
    folders: list[str]
    left_out: list[LeftOutPaths]
    refusal: str | None
    session: str
    variables: list[str]


ScanEffect = Literal["none", "warn", "refuse"]


class ScanExemptionUpdate(TypedDict):
    """until: at most a year from now."""

    reason: str
    until: str


class ScanExemptionView(TypedDict):
    """by: e-mail of who made it."""

    by: str
    reason: str
    until: str


ScanRule = Literal["off", "warn", "refuse"]


ScanState = Literal["waiting", "running", "done", "failed", "cancelled"]


class ScheduleCreate(TypedDict):
    """cron: minute, hour, day of month, month and day of week, in the time zone. missed: for times while Carrel was
    down. overlap: if the session of an earlier run has not ended. session: what to create each time; its name is NAME
    with the planned time."""

    active: NotRequired[bool]
    cron: str
    missed: NotRequired[Missed]
    name: str
    overlap: NotRequired[Overlap]
    session: SessionCreate
    timezone: NotRequired[str]


class ScheduleList(TypedDict):
    items: list[ScheduleView]
    next_cursor: str | None


class ScheduleRunList(TypedDict):
    items: list[ScheduleRunView]
    next_cursor: str | None


class ScheduleRunView(TypedDict):
    """A run. on_request: by `run`, not by its time. session, state, result: of its session, if it was started."""

    at: str
    on_request: bool
    outcome: RunOutcome
    planned_at: str
    reason: str | None
    result: Result | None
    session: str | None
    session_name: str | None
    state: SessionState | None


class ScheduleUpdate(TypedDict):
    """Omitted fields keep their values; session is replaced completely."""

    cron: NotRequired[str | None]
    missed: NotRequired[Missed | None]
    name: NotRequired[str | None]
    overlap: NotRequired[Overlap | None]
    session: NotRequired[SessionCreate | None]
    timezone: NotRequired[str | None]


class ScheduleView(TypedDict):
    """next_times: the next five, if it is active. last: its latest run. session: the request, without defaults."""

    active: bool
    created_at: str
    cron: str
    id: str
    last: ScheduleRunView | None
    missed: Missed
    name: str
    next_times: list[str]
    overlap: Overlap
    owner: OwnerRef
    project: ProjectRef
    session: dict[str, Any]
    timezone: str


class SchedulerPolicy(TypedDict):
    """names: of domains, projects and groups by id, for output only."""

    ceilings: CeilingsOfPolicy
    groups: list[GroupOfPolicy]
    names: dict[str, str]
    nodes: list[NodesOfPolicy]


class ScopeRoom(TypedDict):
    """A scope that the session counts against. ceiling: limited slots only; "sessions" counts sessions."""

    ceiling: dict[str, int]
    label: str
    scope: str
    used: dict[str, int]


class SecondFactor(TypedDict):
    """The second step: exactly one of a code of your device, a recovery code, or a passkey."""

    code: NotRequired[str | None]
    passkey: NotRequired[PasskeyCredential | None]
    recovery_code: NotRequired[str | None]


class SecretRotate(TypedDict):
    """secret: the new one; generated if omitted. overlap_s: how long the present one remains valid: deliveries have
    a signature by each; 0: it ends at once."""

    overlap_s: NotRequired[int]
    secret: NotRequired[str | None]


class SelectedNodeView(TypedDict):
    """group: its present one. outcome: it "joins"; "stays" because it is there already; is "fixed" to its present group
    by an administrator; or is "taken" by the first of `others`, groups that select it too."""

    group: GroupRef
    id: str
    name: str
    others: list[str]
    outcome: SelectionOutcome


SelectionOutcome = Literal["joins", "stays", "fixed", "taken"]


class SelectorPreview(TypedDict):
    """count: of all nodes that meet the selector. joining: those that join. items: the first 100."""

    count: int
    items: list[SelectedNodeView]
    joining: int


class SelectorPreviewRequest(TypedDict):
    """name: of the group that the selector is for, existing or new."""

    name: NotRequired[str]
    selector: str


class Series(TypedDict):
    """Oldest first, 10 s apart. accelerator_percent: of the container with the highest mean of its
    devices; null: not measured."""

    accelerator_percent: list[int | None]
    cpu_millis: list[int]
    mem_bytes: list[int]


class ServerView(TypedDict):
    apps_url: str
    name: str
    parts: list[PartView]
    version: str


class SessionCounts(TypedDict):
    """How many rows the list has, whatever kind is given; kinds and states without rows are left out.

    states: of the given kind, only of live sessions. An array is one row, and counts for each state that a session of
    it is in. complete: false if there may be more, because only the newest rows of a long list are counted."""

    complete: bool
    kinds: list[KindCount]
    states: list[StateCount]


class SessionCreate(TypedDict):
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
    SIGTERM; grace_s: seconds until it is killed, default 10."""

    after: NotRequired[list[DependencyRequest]]
    alternative_groups: NotRequired[list[str]]
    array: NotRequired[ArrayRequest | None]
    bootstrap: NotRequired[str]
    command: NotRequired[list[str]]
    containers: NotRequired[int]
    description: NotRequired[str]
    disk_bytes: NotRequired[int | None]
    env: NotRequired[dict[str, str]]
    grace_s: NotRequired[int | None]
    group: NotRequired[str | None]
    image: str
    kind: NotRequired[Literal["interactive", "batch"]]
    locale: NotRequired[str | None]
    mounts: NotRequired[list[MountRequest]]
    name: NotRequired[str | None]
    node: NotRequired[str | None]
    on_dependency_failure: NotRequired[DependencyFailure]
    on_failure: NotRequired[OnFailure]
    placement: NotRequired[ClusterPlacement]
    priority: NotRequired[int | None]
    project: NotRequired[str | None]
    retries: NotRequired[int]
    rights: NotRequired[Rights]
    roles: NotRequired[list[ClusterRole]]
    shm_bytes: NotRequired[int | None]
    slots: SlotRequest
    start_at: NotRequired[str | None]
    stop_signal: NotRequired[Literal["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] | None]
    time_limit_s: NotRequired[int | None]
    timezone: NotRequired[str | None]
    topology: NotRequired[str | None]
    workdir: NotRequired[str | None]


class SessionDetail(TypedDict):
    """env: values are shown to the owner; others see ******** for each. containers: the main one first. template:
    which one it was started from.

    command, retries: of a batch session, as requested. after: the sessions that it starts after. dependants: the
    sessions that start after it and that you may see, the newest 100. bootstrap: shown to the owner; others see
    ********. disk_bytes: as requested; disk_limit_bytes: what applies to each container, with the default of the
    policy; null: no limit. accepted_groups: the preferred first; `group` is the one in which it was placed, or the
    preferred one while it is pending. may_leave: it is shared with you personally or by a link. image_deprecated: null
    if it is not."""

    accepted_groups: list[GroupRef]
    after: list[DependencyView]
    apps: list[AppRef]
    array: ArrayView | None
    array_id: str | None
    array_index: int | None
    bootstrap: str
    cluster_size: int
    command: list[str]
    containers: list[ContainerView]
    created_at: str
    dependants: list[DependencyView]
    description: str
    disk_bytes: int | None
    disk_limit_bytes: int | None
    domain: DomainRef
    ended_at: str | None
    env: dict[str, str]
    grace_s: int
    group: GroupRef
    id: str
    idle_ends_at: str | None
    image: str
    image_deprecated: DeprecatedImage | None
    image_name: str | None
    kind: SessionKind
    limit_ends_at: str | None
    locale: str | None
    may_leave: bool
    mounts: list[MountView]
    name: str
    node: str | None
    on_dependency_failure: DependencyFailure
    on_failure: OnFailure
    owner: OwnerRef
    placement: ClusterPlacement
    priority: int
    progress: ProgressView | None
    project: ProjectRef
    queue_position: int | None
    reason: str | None
    result: Result | None
    retries: int
    rights: Rights
    roles: list[ClusterRoleView]
    shared_as: AccessLevel | None
    shm_bytes: int | None
    slots: dict[str, int]
    start_at: str | None
    started_at: str | None
    state: SessionState
    stop_signal: Literal["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]
    template: TemplateOrigin | None
    time_limit_s: int | None
    timezone: str | None
    topology: str | None
    warnings: list[str]
    workdir: str | None


class SessionGraph(TypedDict):
    """A session, first, with those that it starts after and those that start after it, directly or not; oldest first.

    Sessions that you may not see are left out. truncated: there are more than 200."""

    edges: list[GraphEdge]
    nodes: list[GraphNode]
    truncated: bool


class SessionJoin(TypedDict):
    """token: of the link."""

    token: str


SessionKind = Literal["interactive", "batch", "inference"]


class SessionList(TypedDict):
    items: list[SessionView]
    next_cursor: str | None


class SessionPriority(TypedDict):
    priority: int


class SessionRename(TypedDict):
    name: str


class SessionResize(TypedDict):
    """cpu: millicores, mem: bytes; omitted: unchanged. container: its name, such as sub1; default: the main one."""

    container: NotRequired[str | None]
    cpu: NotRequired[int | None]
    mem: NotRequired[int | None]


class SessionSave(TypedDict):
    """name: of the environment, which is created if there is none. version: default: the next number. project: it
    belongs to this project instead of you, by id or name."""

    name: str
    note: NotRequired[str]
    project: NotRequired[str | None]
    version: NotRequired[str | None]


class SessionShareCreate(TypedDict):
    """user: e-mail or id; project: id or name; link: a link for any user of the session's domain. Exactly one of them.

    level: look permits to see the session, its log, usage and history; use also permits to open its apps and terminals
    and to run commands in it. expires_in_s: required for links, at most 30 days; null: until it is revoked."""

    expires_in_s: NotRequired[int | None]
    level: NotRequired[AccessLevel]
    link: NotRequired[bool]
    project: NotRequired[str | None]
    user: NotRequired[str | None]


class SessionShareList(TypedDict):
    items: list[SessionShareView]


class SessionShareView(TypedDict):
    """user, project: who has access; both null: a link. via_link: id of the link by which the user came; it ends with
    the link."""

    created_at: str
    expires_at: str | None
    granted_by: UserRef | None
    id: str
    level: AccessLevel
    project: ProjectRef | None
    user: UserRef | None
    via_link: str | None


SessionState = Literal[
    "PENDING",
    "SCHEDULED",
    "PREPARING",
    "STARTING",
    "RUNNING",
    "TERMINATING",
    "TERMINATED",
    "CANCELLED",
    "ERROR",
]


class SessionTimeLimit(TypedDict):
    time_limit_s: int


class SessionTimeline(TypedDict):
    """The last start of a session. number: 1 for its first start. ready_at: when it ran. stopped_at: when the start was
    given up."""

    begins_at: str
    number: int
    ready_at: str | None
    steps: list[StepView]
    stopped_at: str | None


class SessionUsageView(TypedDict):
    """Usage of the containers of a session, the main one first. step_s: length of an interval. times: ends of the
    intervals, oldest first. energy: of its accelerators since it started, whatever the period; empty: not measured."""

    containers: list[ContainerUsageView]
    energy: list[DeviceEnergyView]
    step_s: int
    times: list[str]


class SessionView(TypedDict):
    """reason: why it is pending, failed or ended. result: of a batch session that has ended. queue_position: 1 is
    next; in an array only of the first pending one. idle_ends_at: when it will end for being idle,
    limit_ends_at: when it will end at its time limit; both set with the warning, null before.

    array_id, array_index: of a session of an array. array: in a list only if the row stands for the whole array.
    shared_as: what a share permits you to do with another user's session; null: it is not shared with you."""

    array: ArrayView | None
    array_id: str | None
    array_index: int | None
    cluster_size: int
    created_at: str
    domain: DomainRef
    ended_at: str | None
    group: GroupRef
    id: str
    idle_ends_at: str | None
    image: str
    image_name: str | None
    kind: SessionKind
    limit_ends_at: str | None
    name: str
    node: str | None
    owner: OwnerRef
    priority: int
    progress: ProgressView | None
    project: ProjectRef
    queue_position: int | None
    reason: str | None
    result: Result | None
    shared_as: AccessLevel | None
    slots: dict[str, int]
    started_at: str | None
    state: SessionState
    time_limit_s: int | None
    warnings: list[str]


SessionsChoice = Literal["keep", "end"]


Severity = Literal["critical", "high", "medium", "low", "unknown"]


class SeverityCounts(TypedDict):
    """Number of vulnerabilities by severity."""

    critical: int
    high: int
    low: int
    medium: int
    unknown: int


class ShareChanged(TypedDict):
    """still_mounted: live sessions of the recipient that keep the previous access until they end."""

    share: ShareView | None
    still_mounted: list[MountedIn]


class ShareCreate(TypedDict):
    """users: e-mails to invite. projects: ids or names; their members get access immediately."""

    permission: NotRequired[Permission]
    projects: NotRequired[list[str]]
    users: NotRequired[list[str]]


class ShareList(TypedDict):
    items: list[ShareView]


class ShareNode(TypedDict):
    """One domain, project or user. share: of the group, current and past usage; entitled: by weight among those with
    usage or requests.

    level: share divided by weight, lowest first. waiting: number of pending sessions."""

    children: list[ShareNode]
    entitled: float
    held: dict[str, float]
    id: str
    kind: str
    level: float
    name: str
    share: float
    waiting: int
    weight: float


class ShareResult(TypedDict):
    """A container with a share of an NVIDIA GPU beside another one with the rest. thousandths: of the device. outcome:
    of the memory limit: passed if the driver refused memory beyond the share. limit_bytes: memory of the share.
    allocated_bytes: what it got before the driver refused. neighbour_loss_percent: by how much the other one computed
    slower while this one computed too. null: not measured. text: why not, or what exceeds the share, as a sentence."""

    allocated_bytes: int | None
    limit_bytes: int | None
    neighbour_loss_percent: float | None
    outcome: CheckedOutcome
    text: str
    thousandths: int


ShareState = Literal["invited", "accepted"]


ShareTier = Literal["mps3", "slice", "mps2", "mig", "none"]


class ShareUpdate(TypedDict):
    permission: Permission


class ShareView(TypedDict):
    """user, project: the recipient; exactly one is set."""

    accepted_at: str | None
    created_at: str
    id: str
    invited_by: UserRef | None
    permission: Permission
    project: ProjectRef | None
    state: ShareState
    user: UserRef | None


class SharesAdded(TypedDict):
    items: list[ShareView]
    refused: list[NotShared]


class SharesView(TypedDict):
    capacity: dict[str, int]
    group: GroupRef
    half_life_s: int
    items: list[ShareNode]
    scheduler: QueueOrder


class SharingView(TypedDict):
    """How shares of accelerators are enforced, the strongest tier that the node has: "mps3": memory and computing;
    "slice": memory, those who share a device take turns; "mps2": a version of MPS that Carrel does not use; "mig": they
    are divided in hardware, into devices; "none". enforced: no session gets more memory than its share. reason: why
    there is no stronger tier; empty for the strongest."""

    enforced: bool
    reason: str
    tier: ShareTier


class SignUpRequest(TypedDict):
    email: str
    name: str
    password: str


class SignUpView(TypedDict):
    """email_domains: permitted e-mail domains; empty: any. verification: whether the e-mail must be verified."""

    email_domains: list[str]
    open: bool
    verification: bool


class SiteUpdate(TypedDict):
    """Omitted fields keep their values. mail_password: null removes it; it is never shown."""

    announcement: NotRequired[str]
    api_rate_limit: NotRequired[int]
    audit_retention_days: NotRequired[int]
    currency: NotRequired[str]
    image_cleanup_days: NotRequired[int]
    image_cleanup_free_percent: NotRequired[int]
    image_scan_fixable_only: NotRequired[bool]
    image_scan_grace_days: NotRequired[int]
    image_scan_hours: NotRequired[int]
    image_scan_min_epss_percent: NotRequired[int]
    image_scan_rule: NotRequired[ScanRule]
    image_scan_severity: NotRequired[Severity]
    image_watch_end: NotRequired[str]
    image_watch_start: NotRequired[str]
    image_watch_timezone: NotRequired[str]
    import_sources: NotRequired[list[str]]
    lock_address_attempts: NotRequired[int]
    lock_attempts: NotRequired[int]
    lock_minutes: NotRequired[int]
    login_idle_minutes: NotRequired[int]
    login_lifetime_hours: NotRequired[int]
    mail_host: NotRequired[str]
    mail_password: NotRequired[str | None]
    mail_port: NotRequired[int]
    mail_sender: NotRequired[str | None]
    mail_tls: NotRequired[MailTls]
    mail_user: NotRequired[str]
    nodes_visible: NotRequired[bool]
    password_classes: NotRequired[int]
    password_history: NotRequired[int]
    password_min_length: NotRequired[int]
    password_refuse_common: NotRequired[bool]
    second_factor: NotRequired[Whom]
    session_metrics: NotRequired[bool]
    sign_up: NotRequired[bool]
    sign_up_domain: NotRequired[str | None]
    sign_up_email_domains: NotRequired[list[str]]
    sign_up_keep_days: NotRequired[int]
    sign_up_project: NotRequired[str | None]
    sign_up_verification: NotRequired[bool]
    slot_prices: NotRequired[dict[str, float]]
    statistics_retention_days: NotRequired[int]
    trash_days: NotRequired[int]
    upload_most_bytes: NotRequired[int]
    webhook_private_addresses: NotRequired[bool]


class SiteView(TypedDict):
    """mail_error: last error of sending mail; null after a success.

    mail_waiting: number of queued mails."""

    announcement: str
    api_rate_limit: int
    audit_retention_days: int
    currency: str
    image_cleanup_days: int
    image_cleanup_free_percent: int
    image_scan_fixable_only: bool
    image_scan_grace_days: int
    image_scan_hours: int
    image_scan_min_epss_percent: int
    image_scan_rule: ScanRule
    image_scan_severity: Severity
    image_watch_end: str
    image_watch_start: str
    image_watch_timezone: str
    import_sources: list[str]
    lock_address_attempts: int
    lock_attempts: int
    lock_minutes: int
    login_idle_minutes: int
    login_lifetime_hours: int
    mail_error: str | None
    mail_error_at: str | None
    mail_host: str
    mail_password_set: bool
    mail_port: int
    mail_sender: str | None
    mail_tls: MailTls
    mail_user: str
    mail_waiting: int
    nodes_visible: bool
    password_classes: int
    password_history: int
    password_min_length: int
    password_refuse_common: bool
    second_factor: Whom
    session_metrics: bool
    sign_up: bool
    sign_up_domain: str | None
    sign_up_email_domains: list[str]
    sign_up_keep_days: int
    sign_up_project: str | None
    sign_up_verification: bool
    slot_prices: dict[str, float]
    statistics_retention_days: int
    trash_days: int
    upload_most_bytes: int
    webhook_private_addresses: bool


class SlotAmounts(TypedDict):
    """cpu: millicores. mem: bytes."""

    cpu: int
    mem: int


class SlotKindList(TypedDict):
    items: list[SlotKindView]


class SlotKindView(TypedDict):
    """type: "count" is whole devices, "shares" thousandths of devices, "unique" whole devices of which a container has
    one at most; cpu is in thousandths too ("millis"), mem in "bytes". family: slots of the same family are allocated
    from the same devices, and a container has one of them; null for cpu and mem. scale: base units per displayed unit:
    1000 for millis and shares. quantum: amounts are multiples of it. allowed: the only valid amounts; empty: any.
    title, unit: for display; may be empty."""

    allowed: list[int]
    family: str | None
    name: str
    quantum: int
    scale: int
    title: str
    type: Literal["millis", "bytes", "count", "shares", "unique"]
    unit: str


SlotRequest = dict[str, int]


class SlotRoomView(TypedDict):
    """now: the most of this slot that a session could start with. most: the maximum on an empty cluster.

    by: what limits the maximum."""

    by: str
    most: int
    now: int


class SlotStatistics(TypedDict):
    """Allocation and use of one slot, in base units.

    held: allocated slot-hours. peak: the highest allocation, as the mean of an hour. measured: the slot-hours during
    which use was measured; used: those used meanwhile; unused: the rest of them. utilisation: used of measured, 0..1;
    null: not measured. cost: null without a price. energy_kwh: what its devices drew while their power was measured,
    for so many device-hours, power_hours; null: not measured."""

    cost: float | None
    energy_kwh: float | None
    held: float
    measured: float
    peak: float
    power_hours: float
    unused: float
    used: float
    utilisation: float | None
    worst: WastefulSession | None


SourceKind = Literal["notebook", "git", "archive", "model", "dataset", "space"]


class SshCertificate(TypedDict):
    """certificate: the content of a -cert.pub file."""

    certificate: str
    expires_at: str


class SshCertify(TypedDict):
    """minutes: how long the certificate is valid."""

    minutes: NotRequired[int]
    public_key: str


class SshKeyAdd(TypedDict):
    """public_key omitted: a pair is generated and the private key is returned."""

    name: str
    public_key: NotRequired[str | None]


class SshKeyAdded(TypedDict):
    """private_key: of a generated pair; shown only once."""

    created_at: str
    fingerprint: str
    id: str
    name: str
    private_key: str | None
    public_key: str


class SshKeyList(TypedDict):
    items: list[SshKeyView]
    next_cursor: str | None


class SshKeyView(TypedDict):
    created_at: str
    fingerprint: str
    id: str
    name: str
    public_key: str


class SshView(TypedDict):
    """port: null where SSH has no port of its own; it then works over a WebSocket, by `carrel ssh`.

    host_key, authority: public keys, of the host and of the authority that signs certificates."""

    authority: str
    fingerprint: str
    host: str
    host_key: str
    port: int | None
    port_forwarding: bool


StartStep = Literal["queue", "mounts", "image", "container", "barrier", "app"]


class StateCount(TypedDict):
    count: int
    state: SessionState


StatisticsBy = Literal["domain", "project", "user", "group", "image"]


class StatisticsRow(TypedDict):
    """id: of the domain, project, user or group; for images the image. label: its name; for a project domain/project,
    for a user the e-mail. session_hours: time of all its sessions together. session_peak: the most at once, as the mean
    of an hour. cost: of all slots; null without prices. energy_kwh: of all accelerators; null: not measured."""

    cost: float | None
    energy_kwh: float | None
    id: str
    label: str
    session_hours: float
    session_peak: float
    slots: dict[str, SlotStatistics]
    waits: WaitStatistics


class StatisticsView(TypedDict):
    """Statistics of a period. name: whose they are; empty for the site. first, last: its days, both inclusive. until:
    the end of the last hour that they include; null: none yet. total: of all rows. items: the costliest rows first,
    without prices those with the most session-hours. omitted: the number of rows beyond the limit. days: those with
    sessions, oldest first. currency: of costs; empty without prices. prices: per hour of one core, GiB or device."""

    by: StatisticsBy
    currency: str
    days: list[DayStatistics]
    first: str
    items: list[StatisticsRow]
    last: str
    name: str
    omitted: int
    prices: dict[str, float]
    scope: UsageScope
    total: StatisticsRow
    until: str | None


class StepView(TypedDict):
    """queue: until it is placed on nodes. mounts: until its folders can be mounted. image: of a container, until the
    image is present, with the wait for other starts on the engine. container: until the engine has started it. app:
    from its first opening until it responds. ends_at: null while it goes on, or if it never ended."""

    app: str | None
    begins_at: str
    container: str | None
    ends_at: str | None
    step: StartStep


class StorageCheck(TypedDict):
    ok: bool
    steps: list[StorageCheckStep]


class StorageCheckRequest(TypedDict):
    """image: a reference, or null for one of the catalogue; it needs a shell."""

    image: NotRequired[str | None]


class StorageCheckStep(TypedDict):
    """place: a node, which reads what all before it wrote and then writes; finally "server". problem: "" if none."""

    place: str
    problem: str


class StorageHostAccessUpdate(TypedDict):
    """The access list of a host that is not public: ids or names. It replaces the current list."""

    domains: NotRequired[list[str]]
    projects: NotRequired[list[str]]


class StorageHostAccessView(TypedDict):
    domains: list[DomainRef]
    projects: list[ProjectRef]


class StorageHostCreate(TypedDict):
    """backend: the storage kind, as in `GET /storage-host-kinds`.

    settings: settings of the kind besides the root; never shown again. root: a directory on the server. active: accepts
    new folders. public: open to users of every domain that permits the host; otherwise only to its access list."""

    active: NotRequired[bool]
    backend: NotRequired[str]
    description: NotRequired[str]
    name: str
    public: NotRequired[bool]
    root: str
    settings: NotRequired[dict[str, Any]]


class StorageHostKind(TypedDict):
    """settings: JSON schema of its settings, including `root`; secrets are writeOnly.

    hard_quota, instant_clone: see StorageHostView."""

    description: str
    hard_quota: bool
    instant_clone: bool
    kind: str
    settings: dict[str, Any]
    title: str


class StorageHostKindList(TypedDict):
    items: list[StorageHostKind]
    next_cursor: str | None


class StorageHostList(TypedDict):
    items: list[StorageHostView]
    next_cursor: str | None


class StorageHostLocationUpdate(TypedDict):
    """location: where the containers of the engine have the host's root: a path on its nodes, `volume://NAME/PREFIX`
    (a volume that the engine has; on Kubernetes a PersistentVolumeClaim), `nfs://SERVER/EXPORT` or
    `csi://DRIVER/PREFIX?ATTRIBUTE=VALUE`. "": at the same path as on the server. null: nowhere, so sessions with
    folders of the host do not run on the engine."""

    location: str | None


class StorageHostLocationView(TypedDict):
    engine: EngineRef
    location: str | None


class StorageHostRef(TypedDict):
    id: str
    name: str


class StorageHostUpdate(TypedDict):
    """Omitted fields keep their values. Back end and root cannot be changed."""

    active: NotRequired[bool]
    description: NotRequired[str]
    name: NotRequired[str]
    public: NotRequired[bool]


class StorageHostView(TypedDict):
    """level: free space: caution from 80 % used, insufficient from 95 %.

    hard_quota: writes beyond a quota fail immediately, in sessions too. instant_clone: whole folders are cloned in
    constant time. folders, used_bytes: number and size of the folders on it that you may see.

    root, access, problem (what is wrong when the state is not "ok") and locations (on engines that do not have the root
    at the same path; null: nowhere): None unless you administer storage."""

    access: StorageHostAccessView | None
    active: bool
    backend: str
    checked_at: str | None
    created_at: str
    description: str
    folders: int
    free_bytes: int | None
    hard_quota: bool
    id: str
    instant_clone: bool
    level: Literal["adequate", "caution", "insufficient", "unknown"]
    locations: list[StorageHostLocationView] | None
    name: str
    problem: str | None
    public: bool
    root: str | None
    state: HostState
    total_bytes: int | None
    used_bytes: int


Strategy = Literal["dispersed", "concentrated", "round_robin"]


TaskKind = Literal["clone", "move", "remove", "copy", "clean"]


class TaskList(TypedDict):
    items: list[TaskView]
    next_cursor: str | None


TaskState = Literal["waiting", "running", "done", "failed", "cancelled"]


class TaskView(TypedDict):
    """done, total: bytes and files; totals are null while unknown. problem: why it failed."""

    created_at: str
    done_bytes: int
    done_files: int
    ended_at: str | None
    folder_id: str | None
    folder_name: str
    id: str
    kind: TaskKind
    problem: str | None
    state: TaskState
    total_bytes: int | None
    total_files: int | None


class TemplateCreate(TypedDict):
    """session: the definition; its project is that of the template (default: yours). from_session: instead, a session
    of yours, of which all texts are taken literally. shared: the members of the project see and start it."""

    description: NotRequired[str]
    from_session: NotRequired[str | None]
    name: str
    parameters: NotRequired[list[Parameter]]
    session: NotRequired[dict[str, Any] | None]
    shared: NotRequired[bool]


class TemplateDetail(TypedDict):
    """text: the definition in YAML, with amounts as people write them; `/definitions/read` reads it."""

    created_at: str
    description: str
    id: str
    may_change: bool
    may_start: bool
    name: str
    owner: OwnerRef
    parameters: list[Parameter]
    project: ProjectRef
    revision: int
    session: dict[str, Any]
    shared: bool
    text: str
    updated_at: str


class TemplateList(TypedDict):
    items: list[TemplateView]
    next_cursor: str | None


class TemplateOrigin(TypedDict):
    """A template as it was when a session was started from it."""

    id: str
    name: str
    revision: int


TemplateOwner = Literal["me", "usable", "all"]


class TemplateRequest(TypedDict):
    """The request that a start would make: a body of `POST /sessions`. revision: of the template."""

    revision: int
    session: dict[str, Any]


class TemplateStart(TypedDict):
    """parameters: values by name; text is accepted for every type. The other fields replace those of the definition;
    slots only the given ones, where 0 removes an accelerator. name: default: that of the definition, or one like that
    of the template. project: default: that of the template. group: also replaces the alternative groups."""

    alternative_groups: NotRequired[list[str] | None]
    group: NotRequired[str | None]
    name: NotRequired[str | None]
    parameters: NotRequired[dict[str, str | bool | int | float | None]]
    priority: NotRequired[int | None]
    project: NotRequired[str | None]
    slots: NotRequired[dict[str, int]]
    start_at: NotRequired[str | None]
    time_limit_s: NotRequired[int | None]


class TemplateUpdate(TypedDict):
    """Omitted fields keep their values; parameters and session are replaced completely. In session, a variable with
    the value ******** keeps its value. revision: the one that the change is based on; refused with 412 if it is no
    longer the latest."""

    description: NotRequired[str | None]
    name: NotRequired[str | None]
    parameters: NotRequired[list[Parameter] | None]
    revision: NotRequired[int | None]
    session: NotRequired[dict[str, Any] | None]
    shared: NotRequired[bool | None]


class TemplateView(TypedDict):
    """session: the definition. Values of its variables are shown to those who may start it; others see ******** for
    each. may_start, may_change: whether you may. revision: from 1; each change adds 1."""

    created_at: str
    description: str
    id: str
    may_change: bool
    may_start: bool
    name: str
    owner: OwnerRef
    parameters: list[Parameter]
    project: ProjectRef
    revision: int
    session: dict[str, Any]
    shared: bool
    updated_at: str


class TestMail(TypedDict):
    to: str


class TestMailResult(TypedDict):
    """error: of the mail server or the connection to it; null if it accepted the mail."""

    error: str | None
    sent: bool


class TimesView(TypedDict):
    """The next five times of a cron expression."""

    items: list[str]


class TokenCreate(TypedDict):
    """scopes: actions ("session.read"), all actions of a kind ("session.*"), or "*". expires_in_days null: never."""

    expires_in_days: NotRequired[int | None]
    name: str
    scopes: list[str]


class TokenCreated(TypedDict):
    """token: shown only once; sent as `Authorization: Bearer <token>`."""

    created_at: str
    expires_at: str | None
    id: str
    last_used_at: str | None
    name: str
    scopes: list[str]
    token: str


class TokenList(TypedDict):
    items: list[TokenView]
    next_cursor: str | None


class TokenView(TypedDict):
    created_at: str
    expires_at: str | None
    id: str
    last_used_at: str | None
    name: str
    scopes: list[str]


class TotpConfirm(TypedDict):
    code: str


class TotpOffer(TypedDict):
    """For an authenticator app. url: as otpauth://; qr_svg: the same as a QR code."""

    qr_svg: str
    secret: str
    url: str


class Trouble(TypedDict):
    """Why one item of a batch failed: the fields of a problem."""

    code: str
    detail: str
    field: str | None
    hint: str


class UploadList(TypedDict):
    items: list[UploadView]


class UploadView(TypedDict):
    """An unfinished upload.

    partial: one of several parts sent in parallel; path: the target, if known. offset_bytes: bytes received."""

    created_at: str
    expires_at: str
    id: str
    length_bytes: int | None
    offset_bytes: int
    partial: bool
    path: str


class UsageHistoryView(TypedDict):
    """Allocation and usage over time.

    step_s: length of an interval. times: ends of the intervals, oldest first. measures: SLOT.allocated and
    SLOT.capacity for every slot, in base units; SLOT.used of sessions, of an accelerator by its utilisation;
    SLOT.percent of accelerators, and accelerator.used of all of them; sessions.live, sessions.pending; wait_s: the
    median wait of the sessions that were placed in the interval.
    Of nodes also the load of the whole machine: host.cpu in millicores; host.mem, host.disk_used and host.disk_size in
    bytes; host.received, host.sent, host.read and host.written, of network and disks, in bytes per second."""

    measures: dict[str, MeasureSeries]
    scope: UsageScope
    step_s: int
    times: list[str]


UsageMode = Literal["general", "model", "data"]


UsageScope = Literal["site", "domain", "project", "group", "node", "user"]


class UserBatch(TypedDict):
    """A batch of users. Hashing passwords is slow: send some tens of rows at a time to show progress."""

    defaults: NotRequired[UserRow]
    rows: list[UserRow]


class UserCreate(TypedDict):
    """domain: id or name; default: your own. projects: ids or names in that domain. password: initial password, to be
    changed at the first sign-in unless must_change_password is false; generate_password generates one, link creates a
    one-time link to set one; either is returned only once. Without these they sign in with a provider, or get a link
    later.
    addresses: networks from which they may sign in; empty: any."""

    addresses: NotRequired[list[str]]
    description: NotRequired[str]
    domain: NotRequired[str | None]
    email: str
    generate_password: NotRequired[bool]
    link: NotRequired[bool]
    must_change_password: NotRequired[bool]
    name: str
    password: NotRequired[str | None]
    projects: NotRequired[list[str]]
    role: NotRequired[Literal["user", "domain_admin", "superadmin"]]
    state: NotRequired[Literal["active", "inactive", "unverified"]]


class UserCreated(TypedDict):
    """password: the generated one; link: to set one. Both are shown this once."""

    addresses: list[str]
    created_at: str
    description: str
    domain: DomainRef
    email: str
    has_password: bool
    id: str
    keypair_policy: PolicyRef
    keypairs: int
    last_seen_at: str | None
    link: RecoveryLink | None
    live_sessions: int
    logins: int
    must_change_password: bool
    name: str
    password: str | None
    password_set_at: str | None
    policy: PolicyRef
    projects: list[ProjectMembership]
    providers: list[str]
    role: Role
    second_factor: bool
    slot_limits: dict[str, int | None]
    state: UserState
    used: dict[str, int]


class UserDetail(TypedDict):
    """providers: names of linked identity providers. keypairs, logins, live_sessions: counts."""

    addresses: list[str]
    created_at: str
    description: str
    domain: DomainRef
    email: str
    has_password: bool
    id: str
    keypair_policy: PolicyRef
    keypairs: int
    last_seen_at: str | None
    live_sessions: int
    logins: int
    must_change_password: bool
    name: str
    password_set_at: str | None
    policy: PolicyRef
    projects: list[ProjectMembership]
    providers: list[str]
    role: Role
    second_factor: bool
    slot_limits: dict[str, int | None]
    state: UserState
    used: dict[str, int]


class UserLimits(TypedDict):
    """Limits of one user over all keypairs. slots: as for a keypair. folders: most that they may own.
    environment_bytes: what the versions of their environments may add in total to the images below."""

    environment_bytes: NotRequired[int | Literal["unlimited"]]
    folder_bytes: int | Literal["unlimited"]
    folders: int | Literal["unlimited"]
    sessions: int | Literal["unlimited"]
    slots: dict[str, int | Literal["unlimited"]]


class UserList(TypedDict):
    items: list[UserView]
    next_cursor: str | None


class UserMade(TypedDict):
    """row: index in the request, from 0. status "valid": a dry run found nothing wrong.

    password: the generated one; link: to set one. Both are shown this once."""

    email: str
    link: RecoveryLink | None
    password: str | None
    problems: list[Trouble]
    row: int
    status: Literal["created", "valid", "failed"]
    user: UserRef | None


class UserProfile(TypedDict):
    domain: DomainRef
    email: str
    id: str
    name: str
    preferences: Preferences
    role: Role


class UserPurge(TypedDict):
    """confirm: the user's e-mail. sessions: "end", when some are live.

    folders_to: new owner of their folders, by e-mail or id; delete_folders: delete them permanently. One of both is
    required if they have any. Trashed folders are deleted in any case."""

    confirm: str
    delete_folders: NotRequired[bool]
    folders_to: NotRequired[str | None]
    sessions: NotRequired[Literal["end"] | None]


class UserPurged(TypedDict):
    """user: as requested. ended: live sessions that end now. folders: number of folders they had."""

    ended: list[str]
    folders: int
    id: str | None
    problem: Trouble | None
    status: Literal["purged", "failed"]
    user: str


class UserRef(TypedDict):
    email: str
    id: str


class UserRow(TypedDict):
    """One row of a batch; errors are reported per row. Fields as in UserCreate; empty ones are filled from the
    defaults."""

    addresses: NotRequired[list[str] | None]
    description: NotRequired[str | None]
    domain: NotRequired[str | None]
    email: NotRequired[str | None]
    generate_password: NotRequired[bool | None]
    link: NotRequired[bool | None]
    must_change_password: NotRequired[bool | None]
    name: NotRequired[str | None]
    password: NotRequired[str | None]
    projects: NotRequired[list[str] | None]
    role: NotRequired[str | None]
    state: NotRequired[str | None]


UserState = Literal["active", "inactive", "unverified", "purged"]


class UserUpdate(TypedDict):
    """Omitted fields keep their values. projects: the complete list; administrators of a kept project stay
    administrators.

    domain: moves them, and removes projects and role unless the same request sets new ones. sessions: what to do with
    live sessions when the user is disabled or moved; omitted: a conflict that lists them, if any. When moved, they
    must end."""

    addresses: NotRequired[list[str]]
    description: NotRequired[str]
    domain: NotRequired[str]
    must_change_password: NotRequired[bool]
    name: NotRequired[str]
    projects: NotRequired[list[str]]
    role: NotRequired[Literal["user", "domain_admin", "superadmin"]]
    sessions: NotRequired[SessionsChoice | None]
    state: NotRequired[Literal["active", "inactive", "unverified"]]


class UserView(TypedDict):
    """projects: by name. second_factor: a second factor or passkey is set up. policy: limits of all their sessions.
    keypair_policy: limits of use without a keypair, and the default for new keypairs. used: slot -> allocation of all
    their sessions. slot_limits: of their policy; null: unlimited; "*": slots that are not listed."""

    addresses: list[str]
    created_at: str
    description: str
    domain: DomainRef
    email: str
    id: str
    keypair_policy: PolicyRef
    last_seen_at: str | None
    must_change_password: bool
    name: str
    policy: PolicyRef
    projects: list[ProjectMembership]
    role: Role
    second_factor: bool
    slot_limits: dict[str, int | None]
    state: UserState
    used: dict[str, int]


class UserWeight(TypedDict):
    email: str
    id: str
    weight: float


class UsersMade(TypedDict):
    """One per row, in the same order. done: created, or valid in a dry run."""

    done: int
    failed: int
    items: list[UserMade]


class UsersPurge(TypedDict):
    """sessions: "end", when some are live. folders_to, delete_folders: as of one."""

    delete_folders: NotRequired[bool]
    folders_to: NotRequired[str | None]
    sessions: NotRequired[Literal["end"] | None]
    users: list[PurgeOne]


class UsersPurged(TypedDict):
    """One per requested user, in the same order."""

    failed: int
    items: list[UserPurged]
    purged: int


class VFolderClone(TypedDict):
    """A copy under a new name, on the same host unless specified.

    It belongs to you, or to owner (a user's id or e-mail) or project (id or name); specify at most one."""

    host: NotRequired[str | None]
    name: str
    owner: NotRequired[str | None]
    project: NotRequired[str | None]


class VFolderCreate(TypedDict):
    """name: with a leading dot, the folder is mounted into every session of its owner automatically.

    host: id or name of a storage host; omitted: the one with the most free space that you may use. project: id or name;
    omitted: the folder is yours. permission: maximum permission of members and of mounts."""

    host: NotRequired[str | None]
    name: str
    permission: NotRequired[Permission]
    project: NotRequired[str | None]
    usage_mode: NotRequired[UsageMode]


class VFolderHandOver(TypedDict):
    """The new owner: a user's id or e-mail, or a project's id or name; exactly one."""

    project: NotRequired[str | None]
    user: NotRequired[str | None]


class VFolderList(TypedDict):
    items: list[VFolderView]
    next_cursor: str | None


class VFolderMove(TypedDict):
    host: str


class VFolderUpdate(TypedDict):
    """Omitted fields keep their values."""

    name: NotRequired[str]
    permission: NotRequired[Permission]
    usage_mode: NotRequired[UsageMode]


class VFolderView(TypedDict):
    """owner, project: exactly one of them is set. my_permission: yours on its files; null: none, administration only.

    mine: whether you own it, or administer its project. used_bytes, files: as last measured; directories are not files.
    shared: number of shares. mounted: number of live sessions that mount it. task: the current task. expires_at: when
    it is permanently deleted from the trash."""

    automatic: bool
    created_at: str
    expires_at: str | None
    files: int
    host: StorageHostRef
    id: str
    measured_at: str | None
    mine: bool
    mounted: int
    my_permission: Permission | None
    name: str
    owner: UserRef | None
    permission: Permission
    project: ProjectRef | None
    reason: str | None
    shared: int
    state: FolderState
    task: TaskView | None
    trashed_at: str | None
    usage_mode: UsageMode
    used_bytes: int


Verdict = Literal["starts", "waits", "never"]


class VerifyRequest(TypedDict):
    """token: from the link."""

    token: str


class VersionProgress(TypedDict):
    """phase: copy, read or commit; of a build, a step. fraction: 0..1, if known."""

    fraction: float | None
    phase: str


VersionState = Literal["waiting", "running", "ready", "failed", "cancelled", "removing"]


class VersionUpdate(TypedDict):
    note: str


class VersionView(TypedDict):
    """reference: of its image. base: name or reference of the image below it. size_bytes: with the image below;
    added_bytes: without. engine, node: where the image is, so that its sessions start only there. session: where it was
    saved from; recipe: kind of what it was built from instead. used_by: live sessions with it."""

    added_bytes: int | None
    apps: list[str]
    architecture: str | None
    base: str
    created_at: str
    created_by: str | None
    default: bool
    ended_at: str | None
    engine: str
    environment: str
    environment_id: str
    id: str
    min_slots: SlotAmounts
    name: str
    node: str | None
    note: str
    problem: str | None
    progress: VersionProgress | None
    recipe: str | None
    reference: str
    session: str
    session_id: str | None
    size_bytes: int | None
    state: VersionState
    used_by: int


class ViewCreate(TypedDict):
    list: ViewedList
    name: str
    search: dict[str, str]


class ViewList(TypedDict):
    items: list[ViewView]
    next_cursor: str | None


class ViewUpdate(TypedDict):
    """What changes; absent: as before."""

    name: NotRequired[str | None]
    search: NotRequired[dict[str, str] | None]


class ViewView(TypedDict):
    """search: the parameters of the list's address, such as state and q."""

    id: str
    list: ViewedList
    name: str
    search: dict[str, str]


ViewedList = Literal["sessions"]


class VulnerabilityList(TypedDict):
    """The most severe first, of these the most probably exploited. counts: of all that the scan found, whatever
    is asked for."""

    counts: SeverityCounts
    items: list[VulnerabilityView]
    next_cursor: str | None


class VulnerabilityView(TypedDict):
    """fixed: versions of the package without it; empty: none is known. since: day on which it was first found in the
    image. cvss_score: 0 to 10, of cvss_vector. epss: how probable it is that it is exploited within 30 days, 0 to 1.
    null or empty: the scanner does not tell."""

    cvss_score: float | None
    cvss_vector: str
    epss: float | None
    fixed: str
    id: str
    link: str
    package: str
    severity: Severity
    since: str
    title: str
    version: str


class WaitStatistics(TypedDict):
    """Waiting times of the sessions that were placed, in seconds, within 5 %. null: there were none."""

    p50_s: float | None
    p90_s: float | None
    p99_s: float | None
    sessions: int


class WastefulSession(TypedDict):
    """The session that left most of what it held unused. unused: slot-hours, in base units."""

    id: str
    name: str
    owner: OwnerRef
    unused: float


WatchRule = Literal["off", "offer", "take"]


WatchState = Literal["unchecked", "current", "available", "taking", "skipped", "missing", "failed"]


class WebhookCreate(TypedDict):
    """project, domain: id or name of the project or domain that owns it, for its administrators; omitted: you own it.
    kinds: omitted, all of sessions; those of accelerators are delivered to superadmins' own webhooks only. secret:
    generated if omitted."""

    domain: NotRequired[str | None]
    kinds: NotRequired[list[NotificationKind]]
    name: str
    project: NotRequired[str | None]
    secret: NotRequired[str | None]
    url: str


class WebhookCreated(TypedDict):
    """secret: to verify signatures with; shown this once."""

    active: bool
    created_at: str
    domain: DomainRef | None
    failed: int
    id: str
    kinds: list[NotificationKind]
    name: str
    old_secret_until: str | None
    project: ProjectRef | None
    secret: str
    url: str
    user: UserRef | None
    waiting: int


class WebhookList(TypedDict):
    items: list[WebhookView]


class WebhookUpdate(TypedDict):
    """Omitted fields keep their values."""

    active: NotRequired[bool]
    kinds: NotRequired[list[NotificationKind]]
    name: NotRequired[str]
    url: NotRequired[str]


class WebhookView(TypedDict):
    """Belongs to one of user, project and domain. kinds: those that are delivered; of a user's own webhook also only
    those that the user has chosen for webhooks. old_secret_until: until when the secret before the present one remains
    valid. waiting, failed: numbers of deliveries in the last 30 days."""

    active: bool
    created_at: str
    domain: DomainRef | None
    failed: int
    id: str
    kinds: list[NotificationKind]
    name: str
    old_secret_until: str | None
    project: ProjectRef | None
    url: str
    user: UserRef | None
    waiting: int


class WeightsChange(TypedDict):
    """Id or name -> weight; null: the default 1. Others keep theirs."""

    domains: NotRequired[dict[str, float | None]]
    projects: NotRequired[dict[str, float | None]]
    users: NotRequired[dict[str, float | None]]


class WeightsOfGroup(TypedDict):
    """Weights by id; default 1."""

    domains: dict[str, float]
    projects: dict[str, float]
    users: dict[str, float]


class WeightsUpdate(TypedDict):
    """Fair-share weights: id or name -> weight relative to siblings. Replaces the current weights."""

    domains: NotRequired[dict[str, float]]
    projects: NotRequired[dict[str, float]]
    users: NotRequired[dict[str, float]]


class WeightsView(TypedDict):
    domains: list[DomainWeight]
    projects: list[ProjectWeight]
    users: list[UserWeight]


Whom = Literal["nobody", "administrators", "everybody"]


class WhyView(TypedDict):
    """Why a session is pending, or waits for a machine of its elastic group. waiting false: it does neither, and the
    other fields are empty.

    group: the preferred one, which most fields are about; alternatives: the same for the other groups that it accepts.
    position: in the queue of its group; 1 is next; null: it has left the queue, and waits for a machine. cause: the
    kind of obstacle; null: none left. also: what would block it next, one sentence each. expected_start: when it
    starts if no sessions are added, all use their full time limits, and those that it is to start after end as it
    needs; or, with a machine, if one takes as long as before. no_estimate: why that is not known, if one of those has
    no limit or the queue is too long. image_pull: null if no node would have to pull its image."""

    also: list[str]
    alternatives: list[GroupWhyView]
    cause: Cause | None
    changes: list[ChangeView]
    expected_start: str | None
    group: GroupRef
    image_pull: ImagePullCostView | None
    limits: list[LimitView]
    no_estimate: str
    nodes: list[NodeCauseView]
    position: int | None
    queue_length: int
    reason: str
    session: str
    waiting: bool
