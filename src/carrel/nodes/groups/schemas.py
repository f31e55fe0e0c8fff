"""API types of resource groups."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, field_validator

from carrel.core.ids import GroupId, NodeId
from carrel.http.paging import PageQuery
from carrel.http.query import QueryBool
from carrel.http.validation import SlotName, broken, says
from carrel.nodes.groups import selectors
from carrel.nodes.groups.membership import SelectionOutcome
from carrel.scheduling.snapshot import QueueOrder, Strategy
from carrel.tables.groups import LeastTier, NodeLoss
from carrel.tables.session_states import Rights, SessionKind
from carrel.tenancy.schemas import Description, DomainRef, PlaceName, ProjectRef, Ref, UserRef

_YEAR_S = 365 * 24 * 3600
_MOST_NAMED = 500

LABEL = r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
"""Pattern of the name of a label."""

SessionKinds = Annotated[
    list[SessionKind],
    Field(min_length=1, max_length=3),
    says("A group takes one or more kinds of sessions: interactive, batch, inference."),
]
SlotNames = Annotated[list[SlotName], Field(max_length=20)]
Capability = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$"),
    says("A capability of a node has lowercase letters, digits and hyphens, such as network-policy."),
]
Capabilities = Annotated[list[Capability], Field(max_length=20)]
RuntimeName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$"),
    says("A runtime is named as in the engine, such as gvisor, kata or runsc."),
]
Seconds = Annotated[int, Field(ge=0, le=_YEAR_S), says("A time is a number of seconds, a year at most.")]
SomeSeconds = Annotated[int, Field(ge=1, le=_YEAR_S), says("A time is 1 second to a year, in seconds.")]


def _selector(text: str) -> str:
    try:
        selectors.parse(text)
    except ValueError as error:
        raise broken(str(error)) from None
    return text


def _levels(levels: list[str]) -> list[str]:
    if len({*levels}) < len(levels) or "node" in levels:
        raise broken(
            "A topology has each label once, from narrow to wide; a node is its narrowest level anyway."
        )
    return levels


NodeSelector = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000), AfterValidator(_selector)
]
AppAddress = Annotated[
    str,
    StringConstraints(pattern=r"^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?$", max_length=300),
    says("The address of apps has a scheme, a host and optionally a port, such as https://apps.example.org."),
]
Topology = Annotated[
    list[
        Annotated[
            str, StringConstraints(pattern=f"^{LABEL}$"), says("A level of a topology is a label of nodes.")
        ]
    ],
    Field(max_length=8),
    AfterValidator(_levels),
]
Limit = Annotated[
    dict[SlotName, Annotated[int, Field(gt=0, le=2**62)]],
    Field(min_length=1, max_length=20),
    says("A limit has an amount above 0 for one or more slots."),
]
Weight = Annotated[
    float,
    Field(gt=0, le=1000, allow_inf_nan=False),
    says("A weight is above 0 and at most 1000; without one it is 1."),
]


class ElasticGroup(BaseModel):
    """engine: id or name of the Kubernetes engine that chooses the nodes of its sessions, and may add some. limit: what
    its sessions may hold together, of `cpu` and `mem`. wait_s: how long a start waits for a machine; then the session
    returns to the queue, and after some attempts fails.
    """

    model_config = {"extra": "forbid"}

    engine: Ref
    limit: Limit
    wait_s: SomeSeconds = 900

    @field_validator("limit")
    @classmethod
    def _of_known_slots(cls, limit: dict[str, int]) -> dict[str, int]:
        if limit.keys() != {"cpu", "mem"}:
            raise broken("The limit of an elastic group is one of cpu and mem.")
        return limit


class GroupCreate(BaseModel):
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
    node selector, which is required. null: sessions are placed on the nodes that there are.
    """

    model_config = {"extra": "forbid"}

    name: PlaceName
    description: Description = ""
    active: bool = True
    public: bool = True
    session_kinds: SessionKinds = list(SessionKind)
    scheduler: QueueOrder = QueueOrder.FIFO
    placement: Strategy = Strategy.DISPERSED
    slot_priority: SlotNames = []
    pending_timeout_s: SomeSeconds | None = None
    patience_s: Seconds = 300
    half_life_s: SomeSeconds = 7 * 24 * 3600
    on_node_loss: NodeLoss = NodeLoss.END
    node_loss_s: Seconds = 120
    max_rights: Rights = Rights.ROOT
    app_address: AppAddress | None = None
    node_selector: NodeSelector | None = None
    required_capabilities: Capabilities = []
    min_share_tier: LeastTier = LeastTier.NONE
    topology: Topology = []
    runtime: RuntimeName | None = None
    elastic: ElasticGroup | None = None


class GroupUpdate(GroupCreate):
    """Omitted fields keep their values; given ones are replaced completely. active false: it accepts no new sessions,
    and pending ones stay pending.
    """

    name: PlaceName = ""


class AccessUpdate(BaseModel):
    """The access list of a group that is not public: ids or names, for users e-mails. Replaces the current list."""

    model_config = {"extra": "forbid"}

    domains: list[Ref] = Field(default=[], max_length=_MOST_NAMED)
    projects: list[Ref] = Field(default=[], max_length=_MOST_NAMED)
    users: list[Ref] = Field(default=[], max_length=_MOST_NAMED)


class AccessChange(BaseModel):
    """Id or name -> true to add, false to remove. Other entries are unchanged."""

    model_config = {"extra": "forbid"}

    domains: dict[Ref, bool] = Field(default={}, max_length=_MOST_NAMED)
    projects: dict[Ref, bool] = Field(default={}, max_length=_MOST_NAMED)
    users: dict[Ref, bool] = Field(default={}, max_length=_MOST_NAMED)


class WeightsUpdate(BaseModel):
    """Fair-share weights: id or name -> weight relative to siblings. Replaces the current weights."""

    model_config = {"extra": "forbid"}

    domains: dict[Ref, Weight] = Field(default={}, max_length=_MOST_NAMED)
    projects: dict[Ref, Weight] = Field(default={}, max_length=_MOST_NAMED)
    users: dict[Ref, Weight] = Field(default={}, max_length=_MOST_NAMED)


class WeightsChange(BaseModel):
    """Id or name -> weight; null: the default 1. Others keep theirs."""

    model_config = {"extra": "forbid"}

    domains: dict[Ref, Weight | None] = Field(default={}, max_length=_MOST_NAMED)
    projects: dict[Ref, Weight | None] = Field(default={}, max_length=_MOST_NAMED)
    users: dict[Ref, Weight | None] = Field(default={}, max_length=_MOST_NAMED)


class ProjectOfDomain(ProjectRef):
    """domain: the name of the project's domain, because project names are unique only within a domain."""

    domain: str


class AccessView(BaseModel):
    domains: list[DomainRef]
    projects: list[ProjectOfDomain]
    users: list[UserRef]


class DomainWeight(DomainRef):
    weight: float


class ProjectWeight(ProjectOfDomain):
    weight: float


class UserWeight(UserRef):
    weight: float


class WeightsView(BaseModel):
    domains: list[DomainWeight]
    projects: list[ProjectWeight]
    users: list[UserWeight]


class GroupRef(BaseModel):
    id: GroupId
    name: str


class GroupView(BaseModel):
    """nodes: number of nodes; ready_nodes: those that accept sessions. waiting_sessions: pending ones among the live
    sessions. capacity: total of its READY nodes, or the limit of an elastic group. used: allocated of it. access,
    weights: null unless you administer it.
    """

    id: GroupId
    name: str
    description: str
    active: bool
    public: bool
    session_kinds: list[str]
    scheduler: QueueOrder
    placement: Strategy
    slot_priority: list[str]
    pending_timeout_s: int | None
    patience_s: int
    half_life_s: int
    on_node_loss: NodeLoss
    node_loss_s: int
    max_rights: Rights
    app_address: str | None
    node_selector: str | None
    required_capabilities: list[str]
    min_share_tier: LeastTier
    topology: list[str]
    runtime: str | None
    elastic: ElasticGroup | None
    created_at: datetime
    nodes: int
    ready_nodes: int
    live_sessions: int
    waiting_sessions: int
    capacity: dict[str, int]
    used: dict[str, int]
    access: AccessView | None
    weights: WeightsView | None


class SelectorPreviewRequest(BaseModel):
    """name: of the group that the selector is for, existing or new."""

    model_config = {"extra": "forbid"}

    selector: NodeSelector
    name: str = Field(default="", max_length=64)


class SelectedNodeView(BaseModel):
    """group: its present one. outcome: it "joins"; "stays" because it is there already; is "fixed" to its present group
    by an administrator; or is "taken" by the first of `others`, groups that select it too.
    """

    id: NodeId
    name: str
    group: GroupRef
    outcome: SelectionOutcome
    others: list[str]


class SelectorPreview(BaseModel):
    """count: of all nodes that meet the selector. joining: those that join. items: the first 100."""

    count: int
    joining: int
    items: list[SelectedNodeView]


class GroupQuery(PageQuery):
    """Which groups to list. sort: name or created_at."""

    q: str | None = Field(default=None, max_length=100, description="part of the name")
    active: QueryBool | None = None


class GroupList(BaseModel):
    items: list[GroupView]
    next_cursor: str | None
