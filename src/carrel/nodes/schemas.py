"""Wire types of nodes."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, Field

from carrel.core.ids import NodeId, SessionId
from carrel.http.paging import PageQuery
from carrel.http.query import QueryBool
from carrel.http.rules import says
from carrel.nodes.engines.schemas import EngineRef
from carrel.nodes.groups.schemas import GroupRef
from carrel.tables.nodes import Draining, NodeState
from carrel.tables.session_states import SessionState
from carrel.tenancy.schemas import Ceilings, Ref, UserRef

Overcommit = Annotated[
    float,
    Field(ge=1, le=100, allow_inf_nan=False),
    says("How many CPU are offered for one is a number from 1 to 100."),
]


class DeviceView(BaseModel):
    """An accelerator. family: whose slots take from it. set: those with the same number are near each other.

    used: thousandths of it. slots: what it is asked for as, and the thousandths of it that one of each takes.
    """

    id: str
    family: str
    model: str
    set: int
    used: int
    slots: dict[str, int]


class NodeView(BaseModel):
    """slots: what the machine has. offered: what sessions may use of it, without what is reserved and with
    cpu_overcommit CPU offered for one. used: what they hold.

    seen_at: when the engine named it last. down_since: since when it answers without naming it; null while it
    does, and while the engine itself does not answer. cordoned: it takes no new sessions. draining: how it is
    being emptied, until it is opened again. images: how many are there already.
    """

    id: NodeId
    name: str
    group: GroupRef
    state: NodeState
    cordoned: bool
    draining: Draining | None
    architecture: str
    engine: EngineRef
    engine_version: str
    capabilities: list[str]
    labels: dict[str, str]
    slots: dict[str, int]
    reserved: dict[str, int]
    cpu_overcommit: float
    offered: dict[str, int]
    used: dict[str, int]
    devices: list[DeviceView]
    images: int
    live_sessions: int
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
    """image_names: references of the images that are there. sessions: those that one may see."""

    image_names: list[str]
    sessions: list[NodeSession]


class NodeQuery(PageQuery):
    """Which nodes to list. sort: name or seen_at."""

    q: str | None = Field(default=None, max_length=100, description="part of the name")
    group: str | None = Field(default=None, max_length=64, description="id or name of a resource group")
    state: NodeState | None = None
    cordoned: QueryBool | None = None


class NodeList(BaseModel):
    items: list[NodeView]
    next_cursor: str | None


class NodeUpdate(BaseModel):
    """What is left out stays. group: an id or a name. cordoned false: it takes sessions again, and is no longer
    being emptied. reserved: slots kept for the system, as a whole. Sessions that run stay as they are.
    """

    model_config = {"extra": "forbid"}

    group: Ref = ""
    cordoned: bool = False
    reserved: Ceilings = {}
    cpu_overcommit: Overcommit = 1


class DrainOutcome(StrEnum):
    """What becomes of a session whose node is emptied."""

    STAYS = "stays"
    ENDS = "ends"
    MOVES = "moves"
    REQUEUES = "requeues"
    IS_ENDING = "is_ending"


class DrainRequest(BaseModel):
    """how: "wait" for what runs to end by itself, "end" it, or "move" it: end it here and start it again elsewhere.

    What does not run yet goes back to the queue in each case. dry_run: only say what would become of each.
    """

    model_config = {"extra": "forbid"}

    how: Draining
    dry_run: bool = False


class ForgetRequest(BaseModel):
    """confirm: the node's name."""

    model_config = {"extra": "forbid"}

    confirm: str = Field(max_length=253)


class Forgotten(BaseModel):
    """sessions: those that were on it, and end or start again elsewhere as its group says."""

    id: NodeId
    name: str
    sessions: list[SessionId]


class DrainedSession(BaseModel):
    """sentence: what becomes of it, for people."""

    id: SessionId
    name: str
    owner: UserRef
    state: SessionState
    becomes: DrainOutcome
    sentence: str


class DrainView(BaseModel):
    """sessions: all that are on the node now. node: as it is now."""

    how: Draining
    dry_run: bool
    node: NodeView
    sessions: list[DrainedSession]
