"""Wire types of the HTTP API, written by tools/python_client.py from openapi.json.

Answers are plain dictionaries; these types say what is in them. Times are RFC 3339 text in UTC.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class AppList(TypedDict):
    items: list[AppView]
    next_cursor: str | None


class AppRef(TypedDict):
    name: str
    protocol: str
    title: str


class AppView(TypedDict):
    """running: it answers now."""

    name: str
    port: int
    protocol: str
    running: bool
    title: str


class AuditActor(TypedDict):
    """id: null for somebody whom nobody knows (a sign-in under a wrong e-mail), and for Carrel itself."""

    email: str
    id: str | None


class AuditCheck(TypedDict):
    """A part of the chain, looked through: ask again with after=reached until done.

    checked: entries in this part. head: the last entry; keep it elsewhere to compare later. start: what stands
    before the first entry that is kept; cut_at: when retention cut there, if ever. faults: the first 100 of this
    part. waiting: entries that are not sealed yet."""

    checked: int
    cut_at: str | None
    done: bool
    faults: list[AuditFault]
    head: AuditLink
    reached: int
    start: AuditLink
    waiting: int


class AuditEntryView(TypedDict):
    """Who did what to what. outcome: done or refused; reason: the code and sentence of what refused it.

    owner_id, project_id, domain_id: whose the object is. credential: cookie, keypair:KEY or token:ID; for a
    sign-in the way of it. details: what changed, as before and after, or other facts. position and hash: its
    place in the chain, null for the moment until it is sealed."""

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
    """position: the first that is wrong. entry_id: of the row there; null when there is none."""

    entry_id: int | None
    kind: FaultKind
    position: int
    sentence: str


class AuditLink(TypedDict):
    """A place in the chain. hash: in hexadecimal."""

    hash: str
    position: int


class AuditList(TypedDict):
    items: list[AuditEntryView]
    next_cursor: str | None


class AuditObject(TypedDict):
    id: str
    kind: str
    name: str


class DomainRef(TypedDict):
    id: str
    name: str


class EventList(TypedDict):
    items: list[EventView]
    next_cursor: str | None


class EventObject(TypedDict):
    id: str
    kind: str


class EventView(TypedDict):
    """id: opaque; give it back as Last-Event-ID to resume after it."""

    at: str | None
    data: dict[str, Any]
    id: str | None
    kind: str
    object: EventObject


FaultKind = Literal["altered", "missing", "cut", "rewritten", "unguarded"]


class Health(TypedDict):
    status: str


class HistoryList(TypedDict):
    items: list[HistoryView]
    next_cursor: str | None


class HistoryView(TypedDict):
    """cause: a word such as "created", "retry", "out_of_memory". from_state = to_state for notes.

    actor: e-mail of the person, null when Carrel did it."""

    actor: str | None
    at: str
    cause: str
    from_state: SessionState | None
    reason: str | None
    to_state: SessionState


class ImageList(TypedDict):
    items: list[ImageView]
    next_cursor: str | None


class ImageView(TypedDict):
    apps: list[AppRef]
    architecture: str | None
    description: str
    id: str
    min_slots: SlotAmounts
    name: str
    present: bool
    reference: str
    size_bytes: int | None
    title: str


class KeypairCreate(TypedDict):
    name: NotRequired[str]


class KeypairCreated(TypedDict):
    """The secret is shown this once."""

    access_key: str
    created_at: str
    name: str
    secret_key: str


class KeypairList(TypedDict):
    items: list[KeypairView]
    next_cursor: str | None


class KeypairUpdate(TypedDict):
    """What is left out stays. rate_limit: requests per 15 minutes; null: as the installation has it."""

    active: NotRequired[bool]
    name: NotRequired[str]
    rate_limit: NotRequired[int | None]


class KeypairView(TypedDict):
    """rate_limit: requests per 15 minutes; null: as the installation has it."""

    access_key: str
    active: bool
    created_at: str
    last_used_at: str | None
    name: str
    owner: UserRef
    rate_limit: int | None
    rotated_at: str | None


class LoginRequest(TypedDict):
    email: str
    password: str


class Me(TypedDict):
    """csrf_token: to be repeated in X-Carrel-CSRF by pages; null when a keypair or token was used.

    pending: what the sign-in still needs: "factor", "password" or "enrol"; null when it is complete.
    actions: what you may do, each with how far: "own", "project", "domain" or "all"."""

    actions: dict[str, str]
    csrf_token: str | None
    pending: str | None
    projects: list[ProjectMembership]
    user: UserProfile


class OpenedApp(TypedDict):
    """url: works once, until expires_at; it then gives the browser a cookie of its own."""

    expires_at: str
    url: str


class OwnerRef(TypedDict):
    email: str
    id: str


class PartView(TypedDict):
    address: str
    detail: str
    name: str
    state: str
    version: str


class Preferences(TypedDict):
    """What somebody likes. null: as the browser or the installation has it. shell: for terminals, "zsh"."""

    language: Literal["en", "ko", "ja"] | None
    shell: str | None
    theme: Literal["light", "dark", "auto"] | None


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


class ProgressView(TypedDict):
    """fraction: 0..1 when known."""

    fraction: float | None
    phase: str
    text: str


class ProjectMembership(TypedDict):
    """admin: whether you administer it."""

    admin: bool
    id: str
    name: str


class ProjectRef(TypedDict):
    id: str
    name: str


class RecentUsage(TypedDict):
    """By session id; sessions without samples are absent."""

    items: dict[str, Series]


class ResourcesView(TypedDict):
    """largest: the biggest single session that could start now."""

    capacity: SlotAmounts
    largest: SlotAmounts
    left: SlotAmounts
    nodes: int
    used: SlotAmounts


Role = Literal["user", "project_admin", "domain_admin", "superadmin"]


class SampleList(TypedDict):
    samples: list[SampleView]


class SampleView(TypedDict):
    """cpu_millis: mean of the seconds before `at`."""

    at: str
    cpu_millis: int
    mem_bytes: int


class Series(TypedDict):
    """Oldest first, 5 s apart."""

    cpu_millis: list[int]
    mem_bytes: list[int]


class ServerView(TypedDict):
    apps_url: str
    name: str
    parts: list[PartView]
    version: str


class SessionCreate(TypedDict):
    """image: a name in the catalogue or any image reference. name: generated when absent."""

    env: NotRequired[dict[str, str]]
    image: str
    name: NotRequired[str | None]
    project: NotRequired[str | None]
    slots: SlotRequest


class SessionDetail(TypedDict):
    apps: list[AppRef]
    created_at: str
    ended_at: str | None
    env: dict[str, str]
    id: str
    image: str
    image_name: str | None
    kind: str
    name: str
    node: str | None
    owner: OwnerRef
    progress: ProgressView | None
    project: ProjectRef
    queue_position: int | None
    reason: str | None
    slots: dict[str, int]
    started_at: str | None
    state: SessionState
    warnings: list[str]


class SessionList(TypedDict):
    items: list[SessionView]
    next_cursor: str | None


class SessionRename(TypedDict):
    name: str


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


class SessionView(TypedDict):
    """reason: why it waits, failed or ended. queue_position: 1 is next."""

    created_at: str
    ended_at: str | None
    id: str
    image: str
    image_name: str | None
    kind: str
    name: str
    node: str | None
    owner: OwnerRef
    progress: ProgressView | None
    project: ProjectRef
    queue_position: int | None
    reason: str | None
    slots: dict[str, int]
    started_at: str | None
    state: SessionState
    warnings: list[str]


class SlotAmounts(TypedDict):
    """cpu: millicores. mem: bytes."""

    cpu: int
    mem: int


class SlotRequest(TypedDict):
    """cpu: millicores. mem: bytes."""

    cpu: int
    mem: int


class SshKeyAdd(TypedDict):
    """public_key left out: a pair is made, and its private half is in the answer."""

    name: str
    public_key: NotRequired[str | None]


class SshKeyAdded(TypedDict):
    """private_key: of a pair that was made here; shown this once."""

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


class TokenCreate(TypedDict):
    """scopes: actions ("session.read"), all on one kind ("session.*"), or "*". expires_in_days null: never."""

    expires_in_days: NotRequired[int | None]
    name: str
    scopes: list[str]


class TokenCreated(TypedDict):
    """token: shown this once; sent as `Authorization: Bearer <token>`."""

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


class UserProfile(TypedDict):
    domain: DomainRef
    email: str
    id: str
    name: str
    preferences: Preferences
    role: Role


class UserRef(TypedDict):
    email: str
    id: str
