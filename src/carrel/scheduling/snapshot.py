"""What the scheduler looks at, and what it decides: frozen, and free of the database.

Amounts are integers in base units everywhere. A slot of accelerators is taken from those devices of the node that
serve it: each says what one of the slot takes of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from carrel.core.ids import DEFAULT_GROUP, GroupId, NodeId, SessionId

SESSIONS = "sessions"
"""The pseudo-slot by which scopes count sessions: each takes one."""
CONTAINERS = "containers"
"""The pseudo-slot for the containers of one session. It is limited in each session, and not summed."""
DEFAULT_PRIORITY = 50

Slots = Mapping[str, int]


class QueueOrder(StrEnum):
    """Who comes first among those of the same priority."""

    FIFO = "fifo"
    LIFO = "lifo"
    DRF = "drf"
    FAIR_SHARE = "fair_share"


class Strategy(StrEnum):
    """Which node among those with room."""

    DISPERSED = "dispersed"
    CONCENTRATED = "concentrated"
    ROUND_ROBIN = "round_robin"


class ClusterMode(StrEnum):
    """Whether the containers of one session must share a node."""

    SINGLE_NODE = "single_node"
    MULTI_NODE = "multi_node"


@dataclass(frozen=True, slots=True)
class DeviceSnapshot:
    """One accelerator. used: thousandths. set: devices of the same number are near each other (NUMA, NVLink).

    slots: those that are taken from it, with the thousandths that one of each takes. All devices of a family serve the
    same slots, and no slot is served by two families.
    """

    id: str
    family: str
    used: int = 0
    set: int = 0
    slots: Slots = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeSnapshot:
    """capacity: what sessions may use, over-commitment and reserve applied; used: what they hold of it.

    closed: why nothing may be placed here, such as "cordoned" or "not ready"; "" when it is open.
    """

    id: NodeId
    name: str
    capacity: Slots
    used: Slots = field(default_factory=dict)
    group: GroupId = DEFAULT_GROUP
    closed: str = ""
    architecture: str = ""
    devices: tuple[DeviceSnapshot, ...] = ()

    def runs(self, architecture: str) -> bool:
        """What is built for this architecture; also while that, or its own, is not known."""
        return not architecture or not self.architecture or self.architecture == architecture


@dataclass(frozen=True, slots=True)
class ScopeSnapshot:
    """Something with a ceiling: a keypair, user, project or domain.

    label: as people are told, such as "project vision". ceiling: slot -> most; what is not named is not limited.
    used: what its sessions hold, SESSIONS among it. containers: the most that one session may have.
    """

    label: str
    ceiling: Slots
    used: Slots = field(default_factory=dict)
    containers: int | None = None


@dataclass(frozen=True, slots=True)
class ShareSnapshot:
    """What somebody has had of a group. held: slots now. past: mean over the past, decayed by half-life, in slots."""

    held: Mapping[str, float] = field(default_factory=dict)
    past: Mapping[str, float] = field(default_factory=dict)
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class GroupSnapshot:
    """shares: for DRF by (owner,); for the fair share by (domain,), (domain, project), (domain, project, owner).

    Who is not in it has had nothing and weighs 1. after: name of the node that round robin chose last.
    half_life: after which past use counts half; shares are given with it applied, it is for looking ahead.
    """

    id: GroupId
    name: str = "default"
    order: QueueOrder = QueueOrder.FIFO
    strategy: Strategy = Strategy.DISPERSED
    slot_priority: tuple[str, ...] = ()
    patience: timedelta = timedelta(minutes=5)
    shares: Mapping[tuple[str, ...], ShareSnapshot] = field(default_factory=dict)
    after: str = ""
    half_life: timedelta = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class PendingSession:
    """A session that waits for a place.

    slots: of each of its `count` containers. path: (domain, project, owner). scopes: keys of `Snapshot.scopes`
    that it counts against. node: the only one wanted. avoid: nodes that are taken only when no other will do.
    lasts: at most so long, when it has a time limit. aside: why it is passed over for now, though it has its place in
    the queue; "" when it is not. not_before: when that ends, if it is known.
    """

    id: SessionId
    slots: Slots
    since: datetime
    group: GroupId = DEFAULT_GROUP
    path: tuple[str, str, str] = ("", "", "")
    scopes: tuple[str, ...] = ()
    priority: int = DEFAULT_PRIORITY
    count: int = 1
    mode: ClusterMode = ClusterMode.SINGLE_NODE
    node: NodeId | None = None
    avoid: frozenset[NodeId] = frozenset()
    architecture: str = ""
    lasts: timedelta | None = None
    aside: str = ""
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class ContainerPlacement:
    """Where one container goes. devices: slot -> device id -> thousandths of it."""

    node: NodeId
    devices: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunningSession:
    """A session that holds slots. ends: when its time limit ends it; None: nobody knows."""

    id: SessionId
    slots: Slots
    parts: tuple[ContainerPlacement, ...]
    scopes: tuple[str, ...] = ()
    path: tuple[str, str, str] = ("", "", "")
    group: GroupId = DEFAULT_GROUP
    ends: datetime | None = None

    @property
    def count(self) -> int:
        """Its containers."""
        return len(self.parts)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """running: who holds what; needed to look ahead, and may be left out for deciding."""

    nodes: tuple[NodeSnapshot, ...]
    waiting: tuple[PendingSession, ...]
    now: datetime
    groups: tuple[GroupSnapshot, ...] = (GroupSnapshot(DEFAULT_GROUP),)
    scopes: Mapping[str, ScopeSnapshot] = field(default_factory=dict)
    running: tuple[RunningSession, ...] = ()


@dataclass(frozen=True, slots=True)
class Placement:
    """parts: one for each container, in order."""

    session: SessionId
    parts: tuple[ContainerPlacement, ...]

    @property
    def node(self) -> NodeId:
        """Where its first container goes."""
        return self.parts[0].node


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a session waits. position: its place in the queue of its group, 1 is next.

    reason: one sentence for the person who waits. cause: what kind of thing is in the way.
    """

    session: SessionId
    reason: str
    position: int
    cause: "Cause"


class Cause(StrEnum):
    LIMIT = "limit"
    NODES = "nodes"
    HELD_BACK = "held_back"
    GROUP = "group"
    NOT_YET = "not_yet"


@dataclass(frozen=True, slots=True)
class Plan:
    placements: tuple[Placement, ...]
    refusals: tuple[Refusal, ...]
