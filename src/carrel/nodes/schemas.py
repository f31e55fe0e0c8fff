"""API types of nodes."""

import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from carrel.accelerators.port import ShareTier
from carrel.core.ids import ContainerId, NodeId, SessionId
from carrel.http.paging import PageQuery
from carrel.http.query import QueryBool
from carrel.http.validation import broken, says
from carrel.nodes.engines.schemas import EngineRef
from carrel.nodes.groups.schemas import LABEL, GroupRef, NodeSelector
from carrel.tables.nodes import Draining, NodeState
from carrel.tables.session_states import SessionState
from carrel.tenancy.schemas import Ceilings, Ref, UserRef

Overcommit = Annotated[
    float,
    Field(ge=1, le=100, allow_inf_nan=False),
    says("CPU over-commitment is a number from 1 to 100."),
]

_LABEL = re.compile(LABEL)


def _labels(labels: dict[str, str | None]) -> dict[str, str | None]:
    if not all(map(_LABEL.fullmatch, labels)):
        raise broken(
            "A label has 1 to 63 letters, digits, -, _ and ., with a letter or digit at both ends, "
            "and optionally a domain and / in front, such as example.org/rack."
        )
    return labels


LabelValue = Annotated[
    str,
    StringConstraints(pattern=r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$"),
    says(
        "The value of a label has at most 63 letters, digits, -, _ and ., with a letter or digit at both ends."
    ),
]
OwnLabels = Annotated[dict[str, LabelValue | None], Field(max_length=50), AfterValidator(_labels)]


class DeviceMetricsView(BaseModel):
    """Measurements; null: not known, or for those who may not read the usage of nodes. All are null when measured_at
    is more than a minute ago. uncorrected_errors: of its memory, since its last reset.
    """

    utilization_percent: float | None
    mem_used_bytes: int | None
    mem_total_bytes: int | None
    temperature_c: float | None
    power_w: float | None
    uncorrected_errors: int | None
    measured_at: datetime | None


class DeviceSession(BaseModel):
    """The session that holds a part of a device, and its container."""

    id: SessionId
    name: str
    owner: UserRef
    container: ContainerId


class DeviceHolder(BaseModel):
    """A part of a device that is allocated. amount: in thousandths. session: null if you may not see it."""

    amount: int
    session: DeviceSession | None


class DeviceView(BaseModel):
    """An accelerator. family: of the slots it serves. set: devices with the same number are near each other. clique:
    devices with the same name are connected directly; empty: none is. pci: its address; empty: unknown. numa: of its
    node. switch: devices with the same name are below one PCI switch; empty: no other one is. mem_bytes: of its own.
    used: in thousandths, the sum of holders. slots: the slots it serves, with the thousandths per unit. healthy: it is
    offered to sessions. problem: of the last reading, as a sentence; empty if there is none. Several readings in
    succession change its health.
    """

    id: str
    family: str
    model: str
    set: int
    pci: str
    numa: int | None
    clique: str
    mem_bytes: int | None
    switch: str
    used: int
    slots: dict[str, int]
    healthy: bool
    problem: str
    metrics: DeviceMetricsView
    holders: list[DeviceHolder]


class HostLoadView(BaseModel):
    """The load of the whole machine in the minute that ended at `at`, sessions and everything else. cpu: millicores.
    mem: bytes. received, sent, read, written: of the network and the disks, in bytes per second. disk_used, disk_size:
    of the file system that has the containers, in bytes.
    """

    at: datetime
    cpu: float
    mem: float
    received: float
    sent: float
    read: float
    written: float
    disk_used: float
    disk_size: float


class MachineView(BaseModel):
    """By well-known labels; empty if unknown. pool: of its autoscaler. capacity_type: such as "spot" or "on-demand".
    nvidia_driver: its version. cuda: the newest that its driver supports.
    """

    pool: str
    zone: str
    instance_type: str
    capacity_type: str
    nvidia_driver: str
    cuda: str


class SharingView(BaseModel):
    """How shares of accelerators are enforced, the strongest tier that the node has: "mps3": memory and computing;
    "slice": memory, those who share a device take turns; "mps2": a version of MPS that Carrel does not use; "mig": they
    are divided in hardware, into devices; "none". enforced: no session gets more memory than its share. reason: why
    there is no stronger tier; empty for the strongest.
    """

    tier: ShareTier
    enforced: bool
    reason: str


class NodeView(BaseModel):
    """group_fixed: an administrator chose its group. selected_by: the groups whose node selectors it meets, for
    superadmins; unless its group is fixed, it is in the first one. labels: of its engine, with own_labels, which
    administrators set, in front of them. slots: physical capacity. offered: capacity for sessions, with reserve and
    cpu_overcommit applied. used: allocated to sessions. seen_at: when the engine last reported it. down_since: when
    the engine stopped reporting it; null while it is reported or the engine is down. cordoned: it accepts no new
    sessions. closed: why its engine places nothing new there, such as "has the taint dedicated=lab:NoSchedule,
    which sessions do not tolerate"; empty if it does. draining: the kind of drain, until it is uncordoned. images:
    number of images present. sharing: null if it has no accelerators that could be shared. host: null if it was not
    measured in the last minutes, and for those who may not read the usage of nodes.
    """

    id: NodeId
    name: str
    group: GroupRef
    group_fixed: bool
    selected_by: list[GroupRef]
    state: NodeState
    cordoned: bool
    draining: Draining | None
    closed: str
    machine: MachineView
    architecture: str
    engine: EngineRef
    engine_version: str
    capabilities: list[str]
    labels: dict[str, str]
    own_labels: dict[str, str]
    slots: dict[str, int]
    reserved: dict[str, int]
    cpu_overcommit: float
    offered: dict[str, int]
    used: dict[str, int]
    devices: list[DeviceView]
    sharing: SharingView | None
    images: int
    live_sessions: int
    host: HostLoadView | None
    seen_at: datetime
    down_since: datetime | None


class NodeSession(BaseModel):
    """devices: of the node, in thousandths."""

    id: SessionId
    name: str
    owner: UserRef
    state: SessionState
    slots: dict[str, int]
    devices: dict[str, int]
    started_at: datetime | None


class NodeDetail(NodeView):
    """image_names: references of the images present. sessions: those that you may see."""

    image_names: list[str]
    sessions: list[NodeSession]


class NodeQuery(PageQuery):
    """Which nodes to list. sort: name or seen_at."""

    q: str | None = Field(default=None, max_length=100, description="part of the name")
    group: str | None = Field(default=None, max_length=64, description="id or name of a resource group")
    selector: NodeSelector | None = Field(
        default=None, description="labels that it has, such as zone=eu-1,gpu in (a100,h100),!spot"
    )
    state: NodeState | None = None
    cordoned: QueryBool | None = None


class NodeList(BaseModel):
    items: list[NodeView]
    next_cursor: str | None


class NodeUpdate(BaseModel):
    """Omitted fields keep their values. group: an id or a name; null: as the selectors of groups say. own_labels: given
    ones change; null removes one. cordoned false: uncordon it and stop a drain.
    reserved: slots reserved for the system, replaced completely. Running sessions are unaffected.
    """

    model_config = {"extra": "forbid"}

    group: Ref | None = ""
    own_labels: OwnLabels = {}
    cordoned: bool = False
    reserved: Ceilings = {}
    cpu_overcommit: Overcommit = 1


class DrainOutcome(StrEnum):
    """What a drain does to a session."""

    STAYS = "stays"
    ENDS = "ends"
    MOVES = "moves"
    REQUEUES = "requeues"
    IS_ENDING = "is_ending"


class DrainRequest(BaseModel):
    """how: "wait" until running sessions end, "end" them, or "move" them: end them here and restart them on other
    nodes. Sessions that do not run yet are requeued in each case. dry_run: only report what would happen.
    """

    model_config = {"extra": "forbid"}

    how: Draining
    dry_run: bool = False


class ForgetRequest(BaseModel):
    """confirm: the node's name."""

    model_config = {"extra": "forbid"}

    confirm: str = Field(max_length=253)


class Forgotten(BaseModel):
    """sessions: those that were on it; they end or restart elsewhere by the group's rule."""

    id: NodeId
    name: str
    sessions: list[SessionId]


class DrainedSession(BaseModel):
    """sentence: what happens to it."""

    id: SessionId
    name: str
    owner: UserRef
    state: SessionState
    becomes: DrainOutcome
    sentence: str


class DrainView(BaseModel):
    """sessions: all sessions on the node. node: its new state."""

    how: Draining
    dry_run: bool
    node: NodeView
    sessions: list[DrainedSession]
