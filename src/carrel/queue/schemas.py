"""Wire types of what people may ask of the scheduler."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, Field

from carrel.core.ids import PresetId, SessionId
from carrel.http.query import QueryInt
from carrel.nodes.groups.schemas import GroupRef
from carrel.scheduling.changes import Kind
from carrel.scheduling.snapshot import Cause, QueueOrder
from carrel.sessions.schemas import OwnerRef
from carrel.sessions.spec import SchedulingSpec
from carrel.tenancy.schemas import ProjectRef


class Verdict(StrEnum):
    """starts: now. waits: as things are. never: a ceiling or every node is too small for it."""

    STARTS = "starts"
    WAITS = "waits"
    NEVER = "never"


class LimitView(BaseModel):
    """A ceiling that is in the way. scope: whose, such as "project:k3f..."; label: the same for people."""

    scope: str
    label: str
    slot: str
    ceiling: int
    used: int
    asked: int


class NodeCauseView(BaseModel):
    """So many nodes cannot take it for this reason. slot: what is short there; empty when it is something else."""

    count: int
    text: str
    slot: str
    asked: int
    most_free: int


class ChangeView(BaseModel):
    """What would start it now. cost: 0 gives up nothing; below 1 the part that is given up; from 1 on, so many sessions
    end.

    slots: what to ask for instead. group, sessions: which. command: the same on the command line, if it is one.
    """

    kind: Kind
    cost: float
    text: str
    slots: dict[str, int]
    group: GroupRef | None
    sessions: list[SessionId]
    command: str


class WhyView(BaseModel):
    """Why a session waits. waiting false: it does not, and the rest is empty.

    position: its place in the queue of its group; 1 is next. cause: what kind of thing is in the way; null when
    nothing is any more. expected_start: when it starts if nobody else comes and all run to their time limits.
    """

    session: SessionId
    waiting: bool
    group: GroupRef
    position: int | None
    queue_length: int
    cause: Cause | None
    reason: str
    limits: list[LimitView]
    nodes: list[NodeCauseView]
    changes: list[ChangeView]
    expected_start: datetime | None


@dataclass(frozen=True, kw_only=True)
class CheckRequest(SchedulingSpec):
    """As for a session, without what the scheduler does not look at. image: for the least that it needs."""

    image: Annotated[str, Field(max_length=512)] | None = None


class SlotRoomView(BaseModel):
    """now: the most that one session could start with at once, of this slot. most: ever. by: what sets the latter."""

    now: int
    most: int
    by: str


class ScopeRoom(BaseModel):
    """A scope that the session would count against. ceiling: only what is limited; "sessions" counts sessions."""

    scope: str
    label: str
    ceiling: dict[str, int]
    used: dict[str, int]


class GroupRoom(GroupRef):
    """A resource group that one may use, and what would happen there."""

    verdict: Verdict
    reason: str


class PresetRoom(BaseModel):
    id: PresetId
    name: str
    slots: dict[str, int]
    verdict: Verdict
    reason: str


class CheckView(BaseModel):
    """What would happen to such a request, and what is left. code: of the error that creating it would give, if any."""

    verdict: Verdict
    reason: str
    code: str
    field: str | None
    group: GroupRef
    project: ProjectRef
    position: int | None
    limits: list[LimitView]
    nodes: list[NodeCauseView]
    changes: list[ChangeView]
    expected_start: datetime | None
    slots: dict[str, SlotRoomView]
    scopes: list[ScopeRoom]
    groups: list[GroupRoom]
    presets: list[PresetRoom]


class QueuedView(BaseModel):
    """One that waits. What one may not see of it is null: that there is somebody is no secret, who is."""

    position: int
    session: SessionId | None
    name: str | None
    owner: OwnerRef | None
    project: ProjectRef | None
    slots: dict[str, int]
    priority: int
    waits_since: datetime
    cause: Cause | None
    reason: str


class QueueView(BaseModel):
    """The queue of one group in order, or a part of it. length: of all of it. scheduler: how it is ordered."""

    group: GroupRef
    scheduler: QueueOrder
    length: int
    items: list[QueuedView]
    next_cursor: str | None


class ShareNode(BaseModel):
    """One domain, project or user. share: of the group, held and had; entitled: by weight among those that ask or have.

    level: share by weight, the smallest goes first. waiting: how many sessions.
    """

    kind: str
    id: str
    name: str
    weight: float
    share: float
    entitled: float
    level: float
    held: dict[str, float]
    waiting: int
    children: list["ShareNode"]


class SharesView(BaseModel):
    group: GroupRef
    scheduler: QueueOrder
    half_life_s: int
    capacity: dict[str, int]
    items: list[ShareNode]


class SharesQuery(BaseModel):
    """group: id or name."""

    group: str = Field(default="default", max_length=64)


class QueueQuery(SharesQuery):
    """cursor: of the page before; the queue moves on meanwhile, and whoever moved up past it is not told of again."""

    limit: QueryInt = Field(default=200, ge=1, le=1000)
    cursor: str | None = Field(default=None, pattern=r"^[0-9]{1,9}$")
