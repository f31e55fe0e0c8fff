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


Cause = Literal["limit", "nodes", "held_back", "group"]


class ChangeView(TypedDict):
    """What would start it now. cost: 0 gives up nothing; below 1 the part that is given up; from 1 on, a session ends.

    slots: what to ask for instead. group, session: which. command: the same on the command line, if it is one."""

    command: str
    cost: float
    group: GroupRef | None
    kind: Kind
    session: str | None
    slots: dict[str, int]
    text: str


class CheckRequest(TypedDict):
    """As for a session, without what the scheduler does not look at. image: for the least that it needs."""

    group: NotRequired[str | None]
    image: NotRequired[str | None]
    node: NotRequired[str | None]
    priority: NotRequired[int | None]
    project: NotRequired[str | None]
    slots: SlotRequest
    time_limit_s: NotRequired[int | None]


class CheckView(TypedDict):
    """What would happen to such a request, and what is left. code: of the error that creating it would give, if any."""

    changes: list[ChangeView]
    code: str
    expected_start: str | None
    field: str | None
    group: GroupRef
    groups: list[GroupRoom]
    limits: list[LimitView]
    nodes: list[NodeCauseView]
    position: int | None
    presets: list[PresetRoom]
    project: ProjectRef
    reason: str
    scopes: list[ScopeRoom]
    slots: dict[str, SlotRoomView]
    verdict: Verdict


class DomainCreate(TypedDict):
    """ceilings: slot -> most that its sessions may hold together; a slot left out is not limited.

    resource_groups, registries, storage_hosts: names of those that it may use; null: all."""

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
    """What is left out stays; what is given replaces what was, as a whole. active false: its people are
    signed out, and it takes no new sessions; those that run go on."""

    active: NotRequired[bool]
    ceilings: NotRequired[dict[str, int]]
    description: NotRequired[str]
    name: NotRequired[str]
    registries: NotRequired[list[str] | None]
    resource_groups: NotRequired[list[str] | None]
    storage_hosts: NotRequired[list[str] | None]


class DomainView(TypedDict):
    """users, projects, live_sessions: how many there are, projects without the archived ones.

    admins: its active administrators, by e-mail."""

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
    users: int


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


class Exchange(TypedDict):
    """code: as it came to the waiting command line. verifier: what its challenge was made from."""

    code: str
    verifier: str


class FactorAdded(TypedDict):
    """recovery_codes: shown this once; empty when you had some already.

    csrf_token: as in Me, since a sign-in that waited for this is complete with a new token."""

    csrf_token: str | None
    recovery_codes: list[str]


class FactorsView(TypedDict):
    """totp_since: since when codes of a device count; null: no such device. required: the site demands one.

    passkeys_possible: whether browsers make passkeys for this page's address."""

    passkeys: list[PasskeyView]
    passkeys_possible: bool
    recovery_codes_left: int
    required: bool
    totp_since: str | None


FaultKind = Literal["altered", "missing", "cut", "rewritten", "unguarded"]


class ForgotRequest(TypedDict):
    email: str


class Greeting(TypedDict):
    """forgot_password: whether links to set a new one can be mailed. announcement: Markdown, or ""."""

    announcement: str
    forgot_password: bool
    languages: list[str]
    passkeys: bool
    password: PasswordRulesView
    providers: list[OfferedProvider]
    sign_up: SignUpView


class GroupRef(TypedDict):
    id: str
    name: str


class GroupRoom(TypedDict):
    """A resource group that one may use, and what would happen there."""

    id: str
    name: str
    reason: str
    verdict: Verdict


class GroupRule(TypedDict):
    """What a group at the provider gives: a project, a role, or both.

    group: as the provider names it; of a directory the whole DN, or its first value (`staff` for
    `cn=staff,ou=groups,...`). project: id or name in the provider's domain."""

    admin: NotRequired[bool]
    group: str
    project: NotRequired[str | None]
    role: NotRequired[Literal["domain_admin", "superadmin"] | None]


class GroupRuleView(TypedDict):
    """project: null too when it does not exist any more."""

    admin: bool
    group: str
    project: ProjectRef | None
    role: Literal["domain_admin", "superadmin"] | None


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
    """rate_limit: requests per 15 minutes; null: as the installation has it. policy: what its sessions may hold."""

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


class LdapOptions(TypedDict):
    """A directory. In filters {login} is what was typed, {dn} the person's name in the directory."""

    bind_dn: NotRequired[str]
    ca: NotRequired[str]
    create_users: NotRequired[bool]
    email_attribute: NotRequired[str]
    group_base: NotRequired[str]
    group_filter: NotRequired[str]
    groups_attribute: NotRequired[str]
    host: str
    label: NotRequired[str]
    may_appoint_superadmins: NotRequired[bool]
    name_attribute: NotRequired[str]
    port: NotRequired[int | None]
    subject_attribute: NotRequired[str]
    tls: NotRequired[LdapTls]
    trusted_email_domains: NotRequired[list[str]]
    user_base: str
    user_filter: NotRequired[str]


LdapTls = Literal["none", "starttls", "tls"]


class LimitView(TypedDict):
    """A ceiling that is in the way. scope: whose, such as "project:k3f..."; label: the same for people."""

    asked: int
    ceiling: int
    label: str
    scope: str
    slot: str
    used: int


class LoginList(TypedDict):
    items: list[LoginView]
    next_cursor: str | None


class LoginRequest(TypedDict):
    email: str
    password: str


class LoginView(TypedDict):
    """browser, system: as far as the browser says, else "". current: the one that asks."""

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


MailTls = Literal["none", "starttls", "tls"]


class Me(TypedDict):
    """csrf_token: to be repeated in X-Carrel-CSRF by pages; null when a keypair or token was used.

    pending: what the sign-in still needs: "factor" (POST /auth/factor), "password" (POST /auth/password) or
    "enrol" (a second factor of yours); null when it is complete.
    actions: what you may do, each with how far: "own", "project", "domain" or "all"."""

    actions: dict[str, str]
    csrf_token: str | None
    pending: str | None
    projects: list[ProjectMembership]
    user: UserProfile


class MemberAdded(TypedDict):
    """user: as it was asked for. member: null when it failed, for the reason in problem."""

    member: MemberView | None
    problem: Trouble | None
    status: Literal["added", "already", "failed"]
    user: str


class MemberList(TypedDict):
    items: list[MemberView]
    next_cursor: str | None


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
    """One for each user asked for, in that order."""

    added: int
    failed: int
    items: list[MemberAdded]


class NodeCauseView(TypedDict):
    """So many nodes cannot take it for this reason. slot: what is short there; empty when it is something else."""

    asked: int
    count: int
    most_free: int
    slot: str
    text: str


class OfferedProvider(TypedDict):
    """For the sign-in page. start: where the button leads; null: the form takes what people have there."""

    kind: ProviderKind
    label: str
    name: str
    start: str | None


class OidcOptions(TypedDict):
    """An OpenID provider."""

    ca: NotRequired[str]
    client_id: str
    create_users: NotRequired[bool]
    email_claim: NotRequired[str]
    groups_claim: NotRequired[str]
    issuer: str
    label: NotRequired[str]
    may_appoint_superadmins: NotRequired[bool]
    name_claim: NotRequired[str]
    require_verified_email: NotRequired[bool]
    scopes: NotRequired[list[str]]
    trusted_email_domains: NotRequired[list[str]]
    trusted_factors: NotRequired[list[str]]


class OpenedApp(TypedDict):
    """url: works once, until expires_at; it then gives the browser a cookie of its own."""

    expires_at: str
    url: str


Order = Literal["fifo", "lifo", "drf", "fair_share"]


class OwnerRef(TypedDict):
    email: str
    id: str


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
    """A PublicKeyCredential as `toJSON()` in browsers writes it; what is not named here is ignored."""

    id: str
    rawId: str
    response: PasskeyResponse
    type: str


class PasskeyLogin(TypedDict):
    credential: PasskeyCredential


class PasskeyOptions(TypedDict):
    """For navigator.credentials, through PublicKeyCredential.parse...OptionsFromJSON(); good for 5 minutes."""

    options: dict[str, Any]


class PasskeyResponse(TypedDict):
    """The browser's answer: attestationObject when it made a passkey, the others when it proved one."""

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
    """classes: how many of small letters, capital letters, digits and other characters there must be.

    history: how many former passwords may not come back."""

    classes: int
    history: int
    min_length: int
    refuse_common: bool


class PolicyRef(TypedDict):
    id: str
    name: str


class Preferences(TypedDict):
    """What somebody likes. null: as the browser or the installation has it. shell: for terminals, "zsh"."""

    language: NotRequired[Literal["en", "ko", "ja"] | None]
    shell: NotRequired[str | None]
    theme: NotRequired[Literal["light", "dark", "auto"] | None]


class PresetRoom(TypedDict):
    id: str
    name: str
    reason: str
    slots: dict[str, int]
    verdict: Verdict


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
    """What is left out stays; a preference that is null goes back to how the browser or the installation has it."""

    name: NotRequired[str]
    preferences: NotRequired[Preferences]


class ProgressView(TypedDict):
    """fraction: 0..1 when known."""

    fraction: float | None
    phase: str
    text: str


class ProjectArchive(TypedDict):
    """sessions: what becomes of its live ones; left out: the answer is a conflict that names them, if any."""

    sessions: NotRequired[SessionsChoice | None]


class ProjectCreate(TypedDict):
    """domain: id or name; your own when left out. ceilings: as those of a domain."""

    ceilings: NotRequired[dict[str, int]]
    description: NotRequired[str]
    domain: NotRequired[str | None]
    name: str


class ProjectList(TypedDict):
    items: list[ProjectView]
    next_cursor: str | None


class ProjectMembership(TypedDict):
    """admin: whether the user administers it."""

    admin: bool
    id: str
    name: str


class ProjectRef(TypedDict):
    id: str
    name: str


class ProjectUpdate(TypedDict):
    """What is left out stays; what is given replaces what was, as a whole."""

    ceilings: NotRequired[dict[str, int]]
    description: NotRequired[str]
    name: NotRequired[str]


class ProjectView(TypedDict):
    """archived_at: since when it takes no new sessions; null: it does. admins: by e-mail.

    members, live_sessions: how many there are. had_sessions: whether it ever held one, so that it stays.
    policy: what its folders may hold."""

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


class Proof(TypedDict):
    """That it is you: exactly one of your password, a code of your device, a recovery code, or a passkey."""

    code: NotRequired[str | None]
    passkey: NotRequired[PasskeyCredential | None]
    password: NotRequired[str | None]
    recovery_code: NotRequired[str | None]


class ProviderCreate(TypedDict):
    """Exactly one of oidc and ldap. secret: the client's secret, or the password of bind_dn; never shown again.

    domain: id or name; where people who come for the first time are made."""

    active: NotRequired[bool]
    domain: str
    ldap: NotRequired[LdapOptions | None]
    mapping: NotRequired[list[GroupRule]]
    name: str
    oidc: NotRequired[OidcOptions | None]
    secret: NotRequired[str | None]


ProviderKind = Literal["oidc", "ldap"]


class ProviderList(TypedDict):
    items: list[ProviderView]
    next_cursor: str | None


class ProviderTest(TypedDict):
    """login: somebody to search a directory for; without it, only the connection is tried."""

    login: NotRequired[str | None]


class ProviderTestResult(TypedDict):
    """steps: in the order they were taken; the first that fails is the last."""

    ok: bool
    steps: list[ProviderTestStep]


class ProviderTestStep(TypedDict):
    """name: "discovery" or "keys"; of a directory "connection", "bind", "search" or "person"."""

    name: str
    ok: bool
    sentence: str


class ProviderUpdate(TypedDict):
    """Only what is present changes; oidc, ldap and mapping are replaced as a whole. secret null: taken away."""

    active: NotRequired[bool]
    domain: NotRequired[str]
    ldap: NotRequired[LdapOptions | None]
    mapping: NotRequired[list[GroupRule]]
    oidc: NotRequired[OidcOptions | None]
    secret: NotRequired[str | None]


class ProviderView(TypedDict):
    """redirect_uri: what to register at an OpenID provider. people: how many have signed in by it."""

    active: bool
    created_at: str
    domain: DomainRef
    id: str
    kind: ProviderKind
    ldap: LdapOptions | None
    mapping: list[GroupRuleView]
    name: str
    oidc: OidcOptions | None
    people: int
    redirect_uri: str | None
    secret_set: bool


class PurgeOne(TypedDict):
    """user: id or e-mail. confirm: the e-mail."""

    confirm: str
    user: str


class QueueView(TypedDict):
    """The queue of one group in order. length: of all of it. scheduler: how it is ordered."""

    group: GroupRef
    items: list[QueuedView]
    length: int
    scheduler: Order


class QueuedView(TypedDict):
    """One that waits. What one may not see of it is null: that there is somebody is no secret, who is."""

    cause: Cause | None
    name: str | None
    owner: OwnerRef | None
    position: int
    priority: int
    project: ProjectRef | None
    reason: str
    session: str | None
    slots: dict[str, int]
    waits_since: str


class RecentUsage(TypedDict):
    """By session id; sessions without samples are absent."""

    items: dict[str, Series]


class RecoveryCodes(TypedDict):
    """Each good once, in place of a code of your device; shown this once."""

    recovery_codes: list[str]


class RecoveryLink(TypedDict):
    """url: for the user alone; good once, until expires_at. Setting a password ends all their sign-ins."""

    expires_at: str
    url: str


class ResetRequest(TypedDict):
    """token: out of the link."""

    password: str
    token: str


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


class ScopeRoom(TypedDict):
    """A scope that the session would count against. ceiling: only what is limited; "sessions" counts sessions."""

    ceiling: dict[str, int]
    label: str
    scope: str
    used: dict[str, int]


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
    """image: a name in the catalogue or any image reference. name: generated when absent.

    group: id or name of a resource group; left out: "default", or the first that one may use. priority: 0 to 100, the
    highest goes first; 50 when left out. time_limit_s: it ends by itself after so long. node: id or name of the only
    one to run on, for administrators."""

    env: NotRequired[dict[str, str]]
    group: NotRequired[str | None]
    image: str
    name: NotRequired[str | None]
    node: NotRequired[str | None]
    priority: NotRequired[int | None]
    project: NotRequired[str | None]
    slots: SlotRequest
    time_limit_s: NotRequired[int | None]


class SessionDetail(TypedDict):
    """env: values are shown to the owner; others see ******** for each."""

    apps: list[AppRef]
    created_at: str
    ended_at: str | None
    env: dict[str, str]
    group: GroupRef
    id: str
    image: str
    image_name: str | None
    kind: str
    name: str
    node: str | None
    owner: OwnerRef
    priority: int
    progress: ProgressView | None
    project: ProjectRef
    queue_position: int | None
    reason: str | None
    slots: dict[str, int]
    started_at: str | None
    state: SessionState
    time_limit_s: int | None
    warnings: list[str]


class SessionList(TypedDict):
    items: list[SessionView]
    next_cursor: str | None


class SessionPriority(TypedDict):
    priority: int


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
    group: GroupRef
    id: str
    image: str
    image_name: str | None
    kind: str
    name: str
    node: str | None
    owner: OwnerRef
    priority: int
    progress: ProgressView | None
    project: ProjectRef
    queue_position: int | None
    reason: str | None
    slots: dict[str, int]
    started_at: str | None
    state: SessionState
    time_limit_s: int | None
    warnings: list[str]


SessionsChoice = Literal["keep", "end"]


class ShareNode(TypedDict):
    """One domain, project or user. share: of the group, held and had; entitled: by weight among those that ask or have.

    level: share by weight, the smallest goes first. waiting: how many sessions."""

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


class SharesView(TypedDict):
    capacity: dict[str, int]
    group: GroupRef
    half_life_s: int
    items: list[ShareNode]
    scheduler: Order


class SignUpRequest(TypedDict):
    email: str
    name: str
    password: str


class SignUpView(TypedDict):
    """email_domains: whose addresses may; empty: anybody's. verification: whether a mailed link must be used."""

    email_domains: list[str]
    open: bool
    verification: bool


class SiteUpdate(TypedDict):
    """Only what is present changes. mail_password: null takes it away; it is never shown again."""

    announcement: NotRequired[str]
    api_rate_limit: NotRequired[int]
    audit_retention_days: NotRequired[int]
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
    password_classes: NotRequired[int]
    password_history: NotRequired[int]
    password_min_length: NotRequired[int]
    password_refuse_common: NotRequired[bool]
    second_factor: NotRequired[Whom]
    sign_up: NotRequired[bool]
    sign_up_domain: NotRequired[str | None]
    sign_up_email_domains: NotRequired[list[str]]
    sign_up_project: NotRequired[str | None]
    sign_up_verification: NotRequired[bool]


class SiteView(TypedDict):
    """mail_error: why mail could not be sent the last time; null when it could."""

    announcement: str
    api_rate_limit: int
    audit_retention_days: int
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
    password_classes: int
    password_history: int
    password_min_length: int
    password_refuse_common: bool
    second_factor: Whom
    sign_up: bool
    sign_up_domain: str | None
    sign_up_email_domains: list[str]
    sign_up_project: str | None
    sign_up_verification: bool


class SlotAmounts(TypedDict):
    """cpu: millicores. mem: bytes."""

    cpu: int
    mem: int


class SlotRequest(TypedDict):
    """cpu: millicores. mem: bytes. Both are needed; accelerators come as FAMILY.device (whole ones) or FAMILY.shares
    (thousandths of one)."""



class SlotRoomView(TypedDict):
    """now: the most that one session could start with at once, of this slot. most: ever. by: what sets the latter."""

    by: str
    most: int
    now: int


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


class Step(TypedDict):
    """The second step: exactly one of a code of your device, a recovery code, or a passkey."""

    code: NotRequired[str | None]
    passkey: NotRequired[PasskeyCredential | None]
    recovery_code: NotRequired[str | None]


class TestMail(TypedDict):
    to: str


class TestMailResult(TypedDict):
    """error: what the mail server said, or why it could not be reached; null when it took the mail."""

    error: str | None
    sent: bool


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


class TotpConfirm(TypedDict):
    code: str


class TotpOffer(TypedDict):
    """For an authenticator app. url: as otpauth://; qr_svg: the same as a picture."""

    qr_svg: str
    secret: str
    url: str


class Trouble(TypedDict):
    """Why one of many was not done: as the fields of a problem."""

    code: str
    detail: str
    field: str | None
    hint: str


class UserBatch(TypedDict):
    """Many at once. Passwords take a while to hash: send some tens of rows at a time to show how far it is."""

    defaults: NotRequired[UserRow]
    rows: list[UserRow]


class UserCreate(TypedDict):
    """domain: id or name; your own when left out. projects: ids or names in that domain.

    password: theirs, to be changed at the first sign-in unless must_change_password is false; generate_password
    makes one, link makes a one-time link to set one: the answer shows either once. With none of these they
    sign in by a provider, or get a link later.
    addresses: networks that they may sign in from; empty: any."""

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
    state: UserState


class UserDetail(TypedDict):
    """providers: names of the identity providers that know them. keypairs, logins, live_sessions: how many."""

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
    state: UserState


class UserList(TypedDict):
    items: list[UserView]
    next_cursor: str | None


class UserMade(TypedDict):
    """row: its place in the request, from 0 on. status "valid": a dry run found nothing wrong.

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
    """confirm: the user's e-mail. sessions: "end", when some are live."""

    confirm: str
    sessions: NotRequired[Literal["end"] | None]


class UserPurged(TypedDict):
    """user: as it was asked for. ended: sessions that were live and end now."""

    ended: list[str]
    id: str | None
    problem: Trouble | None
    status: Literal["purged", "failed"]
    user: str


class UserRef(TypedDict):
    email: str
    id: str


class UserRow(TypedDict):
    """One of many to be made, as somebody wrote it: what is wrong with it is said of this row alone.

    The fields mean what they mean in UserCreate. Empty ones are filled from the defaults."""

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
    """What is left out stays. projects: the whole list; who stays in one stays its administrator.

    domain: moves them, out of all projects and out of office, unless the same request gives new ones.
    sessions: what becomes of live ones when they are disabled or moved; left out, the answer is a conflict
    that names them, if any. When moved, they must end."""

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
    """projects: by name. second_factor: whether they have one that is set up, or a passkey.

    policy: what all their sessions may hold together. keypair_policy: what they may do without a keypair; new
    keypairs get it."""

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
    state: UserState


class UsersMade(TypedDict):
    """One for each row, in their order. done: created, or valid in a dry run."""

    done: int
    failed: int
    items: list[UserMade]


class UsersPurge(TypedDict):
    """sessions: "end", when some are live."""

    sessions: NotRequired[Literal["end"] | None]
    users: list[PurgeOne]


class UsersPurged(TypedDict):
    """One for each user asked for, in that order."""

    failed: int
    items: list[UserPurged]
    purged: int


Verdict = Literal["starts", "waits", "never"]


class VerifyRequest(TypedDict):
    """token: out of the link."""

    token: str


Whom = Literal["nobody", "administrators", "everybody"]


class WhyView(TypedDict):
    """Why a session waits. waiting false: it does not, and the rest is empty.

    position: its place in the queue of its group; 1 is next. cause: what kind of thing is in the way; null when
    nothing is any more. expected_start: when it starts if nobody else comes and all run to their time limits."""

    cause: Cause | None
    changes: list[ChangeView]
    expected_start: str | None
    group: GroupRef
    limits: list[LimitView]
    nodes: list[NodeCauseView]
    position: int | None
    queue_length: int
    reason: str
    session: str
    waiting: bool
