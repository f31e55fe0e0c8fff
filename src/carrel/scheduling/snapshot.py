"""Input and output of the scheduler: frozen values, independent of the database.

Amounts are integers in base units everywhere. An accelerator slot is taken from the devices of the node that serve
it; each device gives the thousandths per unit.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache

from carrel.core import cuda
from carrel.core.device_blocks import Blocks
from carrel.core.ids import DEFAULT_GROUP, GroupId, NodeId, SessionId
from carrel.core.slots import DeviceShares, shares_in

SESSIONS = "sessions"
"""Pseudo-slot with which scopes count sessions."""
CONTAINERS = "containers"
"""Pseudo-slot for the containers of one session: a limit per session, not a sum."""
DEFAULT_PRIORITY = 50

Slots = Mapping[str, int]


class QueueOrder(StrEnum):
    """Queue order within a priority."""

    FIFO = "fifo"
    LIFO = "lifo"
    DRF = "drf"
    FAIR_SHARE = "fair_share"


class Strategy(StrEnum):
    """The choice among nodes with sufficient capacity."""

    DISPERSED = "dispersed"
    CONCENTRATED = "concentrated"
    ROUND_ROBIN = "round_robin"


class ClusterMode(StrEnum):
    """Placement constraint between the containers of one session."""

    SINGLE_NODE = "single_node"
    MULTI_NODE = "multi_node"
    NARROWEST = "narrowest"
    """On one node, or else in the narrowest domain of the group's topology that has room for all, or else on any. In a
    group without a topology: on one node.
    """


Without = tuple[tuple[str, str], ...]
"""Networks whose nodes do not have a session's storage or image, with a clause, as "cannot reach the storage host a".
"""


@dataclass(frozen=True, slots=True)
class DeviceSnapshot:
    """One accelerator. used: thousandths. set: devices of the same number are near each other (NUMA, NVLink). near: see
    `nearness`; empty: only the set is known.

    slots: the slots it serves, with the thousandths per unit. All devices of a family on a node serve the same slots,
    and no slot is served by two families. blocks: see `valid_sets`; all devices of a family on a node
    have some, and then it has no shares, or none has.
    """

    id: str
    family: str
    used: int = 0
    set: int = 0
    slots: Slots = field(default_factory=dict)
    blocks: Blocks = ()
    near: tuple[Hashable, ...] = ()


@lru_cache(1 << 16)
def nearness(set_: int, clique: str, switch: str, numa: int | None) -> tuple[Hashable, ...]:
    """The groups that a device is in, nearest first; None: in none of that kind. A set is of one clique and NUMA node.

    Connections without the PCI bus come before a common switch, and that before a common NUMA node.
    """
    return ((set_, switch) if switch else None, set_, clique or None, switch or None, numa)


@dataclass(frozen=True, slots=True)
class NodeSnapshot:
    """capacity: for sessions, with over-commitment and reserve applied; used: allocated to sessions. closed: why
    nothing may be placed here, such as "cordoned" or "not ready"; "" if open. network: containers of one session reach
    each other on nodes with the same one, which have the same storage. root: its sessions can have root inside.
    elastic: no machine, but the limit of an elastic group. domains: its value of each label of its group's topology,
    "" if it lacks the label. images: those of pending sessions that it has. driver: of its devices of NVIDIA; None:
    unknown, or no pending session needs it. no_shares: why no shares of its devices may be given, as a clause; "" if
    they may. share_of_one: a container with a share of a device has no others.
    """

    id: NodeId
    name: str
    capacity: Slots
    used: Slots = field(default_factory=dict)
    group: GroupId = DEFAULT_GROUP
    closed: str = ""
    architecture: str = ""
    devices: tuple[DeviceSnapshot, ...] = ()
    network: str = ""
    root: bool = False
    elastic: bool = False
    domains: tuple[str, ...] = ()
    images: frozenset[str] = frozenset()
    driver: cuda.Driver | None = None
    no_shares: str = ""
    share_of_one: bool = False

    def runs(
        self,
        architecture: str,
        *,
        root: bool,
        without: Without = (),
        needs_cuda: str = "",
        shares: DeviceShares = DeviceShares.NONE,
    ) -> bool:
        """True if an image of this architecture runs here, or either architecture is unknown; with root inside, if
        required; if its network is none of those without its storage or image; with its driver; and with shares.
        """
        fits = not architecture or not self.architecture or self.architecture == architecture
        fits = fits and not self.driver_mismatch(needs_cuda) and not self.refuses_shares(shares)
        return fits and (self.root or not root) and not self.lacks(without)

    def refuses_shares(self, shares: DeviceShares) -> str:
        """Why it does not give them, as a clause; "" if it does."""
        if shares and self.no_shares:
            return self.no_shares
        is_refused = shares is DeviceShares.OF_SEVERAL and self.share_of_one
        return "gives whole GPUs, or a share of one" if is_refused else ""

    def driver_mismatch(self, needs_cuda: str) -> str:
        """Why its driver does not run an image that requires this, as a clause; "" if it does, or is unknown."""
        return cuda.mismatch(needs_cuda, self.driver) if needs_cuda and self.driver else ""

    def lacks(self, without: Without) -> str:
        """Of what it does not have, the clause; "" if it has all."""
        return next((clause for network, clause in without if network == self.network), "")


@dataclass(frozen=True, slots=True)
class ScopeSnapshot:
    """Something with a ceiling: a keypair, user, project or domain.

    label: for messages, such as "project vision". ceiling: slot -> limit; other slots are not limited. used: held by
    its sessions, including SESSIONS. containers: most per session.
    """

    label: str
    ceiling: Slots
    used: Slots = field(default_factory=dict)
    containers: int | None = None


@dataclass(frozen=True, slots=True)
class ShareSnapshot:
    """Usage of a group by one claimant. held: current slots. past: mean past usage, decayed by half-life, in slots."""

    held: Mapping[str, float] = field(default_factory=dict)
    past: Mapping[str, float] = field(default_factory=dict)
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class GroupSnapshot:
    """shares: for DRF by (owner,); for the fair share by (domain,), (domain, project), (domain, project, owner).

    Missing claimants have no usage and weight 1. after: name of the last node that round robin chose. half_life: of
    past usage; already applied to shares, and needed for forecasts. topology: labels of nodes, from the narrowest
    domains to the widest.
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
    topology: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Awaited:
    """The end of a session, or of all sessions of an array. id: of the session or the array."""

    id: SessionId
    array: bool = False


@dataclass(frozen=True, slots=True)
class GroupChoice:
    """A resource group that a session accepts. aside: why it may not start there for now; "" if it may."""

    group: GroupId
    aside: str = ""


@dataclass(frozen=True, slots=True)
class PendingSession:
    """A pending session.

    slots: of each of its `count` containers; mixed: of each container in order, if they differ; slots is then that of
    the first. path: (domain, project, owner). scopes: keys of `Snapshot.scopes` that it counts against. node: the
    requested node. avoid: nodes used only if no other fits. root: it needs root inside. without: networks that do not
    have storage of its folders. within: a level of the topology, see `level_of`: all its nodes are in one domain of it.
    lasts: its time limit, if any.
    aside: why it is skipped for now but keeps its queue position; "" if not. It ends at `not_before` and once all of
    `after` have ended; without either, that is not known. array: that it belongs to. array_most: how many of the array
    may run at once, if that is limited. in_array_queue: it is aside for this only. behind: how many more of its array
    are aside right behind it and not in the snapshot. choices: if it accepts several groups, all of them, the preferred
    first, which is `group`; it is in the queue of each and starts in one. image: as of `NodeSnapshot.images`; of equal
    nodes, those that have it come first. cuda: what its images require of drivers, as of `core.cuda`; it counts for
    containers with devices of NVIDIA.
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
    root: bool = False
    without: Without = ()
    within: str = ""
    lasts: timedelta | None = None
    aside: str = ""
    not_before: datetime | None = None
    after: frozenset[Awaited] = frozenset()
    array: SessionId | None = None
    array_most: int | None = None
    in_array_queue: bool = False
    behind: int = 0
    mixed: tuple[Slots, ...] = ()
    choices: tuple[GroupChoice, ...] = ()
    image: str = ""
    cuda: str = ""

    @property
    def groups(self) -> tuple[GroupId, ...]:
        """The groups that it accepts, the preferred first."""
        return tuple([choice.group for choice in self.choices]) or (self.group,)

    def in_group(self, group: GroupId) -> "PendingSession":
        """The session as it is in the queue of one of its groups."""
        choice = next((choice for choice in self.choices if choice.group == group), GroupChoice(group))
        return replace(self, group=group, aside=self.aside or choice.aside)

    @property
    def sizes(self) -> tuple[Slots, ...]:
        """The slots of each container."""
        return self.mixed or (self.slots,) * self.count

    def needs_cuda(self, slots: Slots) -> str:
        """What a container of it with these slots requires of drivers."""
        return self.cuda if self.cuda and cuda.uses_cuda(slots) else ""

    def runs_on(self, node: NodeSnapshot, slots: Slots) -> bool:
        """True if the node can run a container of it with these slots, whatever is free there."""
        needs_cuda = self.needs_cuda(slots)
        return node.runs(
            self.architecture,
            root=self.root,
            without=self.without,
            needs_cuda=needs_cuda,
            shares=shares_in(slots),
        )


@dataclass(frozen=True, slots=True)
class ContainerPlacement:
    """Placement of one container. devices: slot -> device id -> thousandths of it."""

    node: NodeId
    devices: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunningSession:
    """A session that holds slots. slots, mixed, array: as of a pending one. ends: by its time limit; None: unknown."""

    id: SessionId
    slots: Slots
    parts: tuple[ContainerPlacement, ...]
    scopes: tuple[str, ...] = ()
    path: tuple[str, str, str] = ("", "", "")
    group: GroupId = DEFAULT_GROUP
    ends: datetime | None = None
    mixed: tuple[Slots, ...] = ()
    array: SessionId | None = None

    @property
    def count(self) -> int:
        """Its containers."""
        return len(self.parts)

    @property
    def sizes(self) -> tuple[Slots, ...]:
        """The slots of each container."""
        return self.mixed or (self.slots,) * self.count


@dataclass(frozen=True, slots=True)
class Snapshot:
    """running: sessions with allocations; needed for forecasts, optional for plans."""

    nodes: tuple[NodeSnapshot, ...]
    waiting: tuple[PendingSession, ...]
    now: datetime
    groups: tuple[GroupSnapshot, ...] = (GroupSnapshot(DEFAULT_GROUP),)
    scopes: Mapping[str, ScopeSnapshot] = field(default_factory=dict)
    running: tuple[RunningSession, ...] = ()


@dataclass(frozen=True, slots=True)
class Placement:
    """parts: one for each container, in order. All are in one group."""

    session: SessionId
    parts: tuple[ContainerPlacement, ...]
    group: GroupId = DEFAULT_GROUP

    @property
    def node(self) -> NodeId:
        """Where its first container goes."""
        return self.parts[0].node


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a session is pending in the queue of a group. position: in it, 1 is next. reason: one sentence for the owner.
    cause: the kind of obstacle. behind: as of the session.
    """

    session: SessionId
    reason: str
    position: int
    cause: "Cause"
    behind: int = 0
    group: GroupId = DEFAULT_GROUP


class Cause(StrEnum):
    """MACHINE: its elastic group has none for it yet; of a session that has left the queue."""

    LIMIT = "limit"
    NODES = "nodes"
    HELD_BACK = "held_back"
    GROUP = "group"
    NOT_YET = "not_yet"
    MACHINE = "machine"


@dataclass(frozen=True, slots=True)
class Plan:
    """refusals: of each session one for each group that it accepts."""

    placements: tuple[Placement, ...]
    refusals: tuple[Refusal, ...]
