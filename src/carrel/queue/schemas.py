"""API types of queries on the scheduler."""

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
from carrel.tables.session_states import Rights
from carrel.tenancy.schemas import ProjectRef


class Verdict(StrEnum):
    """starts: immediately. waits: it would be pending. never: a ceiling or every node is too small."""

    STARTS = "starts"
    WAITS = "waits"
    NEVER = "never"


class LimitView(BaseModel):
    """A ceiling that blocks the session. scope: such as "project:k3f..."; label: the scope for display."""

    scope: str
    label: str
    slot: str
    ceiling: int
    used: int
    asked: int


class NodeCauseView(BaseModel):
    """A number of nodes rejected for one reason. slot: the missing slot; empty for other reasons."""

    count: int
    text: str
    slot: str
    asked: int
    most_free: int


class ChangeView(BaseModel):
    """A change that would start it now. cost: 0: nothing is given up; below 1: the fraction given up; 1 or more: the
    number of sessions to end.

    slots: what to request instead. group, sessions: where to request it, or which to end. command: the equivalent CLI
    command, if there is one.
    """

    kind: Kind
    cost: float
    text: str
    slots: dict[str, int]
    group: GroupRef | None
    sessions: list[SessionId]
    command: str


class ImagePullCostView(BaseModel):
    """nodes: names of those that would have to pull the image of the session, out of so many: where it would start
    now, or else all that are open to it. size_bytes: about; null: not known.
    """

    nodes: list[str]
    out_of: int
    size_bytes: int | None
    sentence: str


class GroupWhyView(BaseModel):
    """Why a session does not start in one of the groups that it accepts; fields as of `WhyView`."""

    group: GroupRef
    position: int
    queue_length: int
    cause: Cause
    reason: str
    also: list[str]
    limits: list[LimitView]
    nodes: list[NodeCauseView]


class WhyView(BaseModel):
    """Why a session is pending, or waits for a machine of its elastic group. waiting false: it does neither, and the
    other fields are empty.

    group: the preferred one, which most fields are about; alternatives: the same for the other groups that it accepts.
    position: in the queue of its group; 1 is next; null: it has left the queue, and waits for a machine. cause: the
    kind of obstacle; null: none left. also: what would block it next, one sentence each. expected_start: when it
    starts if no sessions are added, all use their full time limits, and those that it is to start after end as it
    needs; or, with a machine, if one takes as long as before. no_estimate: why that is not known, if one of those has
    no limit or the queue is too long. image_pull: null if no node would have to pull its image.
    """

    session: SessionId
    waiting: bool
    group: GroupRef
    position: int | None
    queue_length: int
    cause: Cause | None
    reason: str
    also: list[str]
    limits: list[LimitView]
    nodes: list[NodeCauseView]
    alternatives: list[GroupWhyView]
    changes: list[ChangeView]
    expected_start: datetime | None
    no_estimate: str
    image_pull: ImagePullCostView | None


@dataclass(frozen=True, kw_only=True)
class CheckRequest(SchedulingSpec):
    """The part of a session request that the scheduler uses. image: for its minimum slots."""

    image: Annotated[str, Field(max_length=512)] | None = None


class SlotRoomView(BaseModel):
    """now: the most of this slot that a session could start with. most: the maximum on an empty cluster.

    by: what limits the maximum.
    """

    now: int
    most: int
    by: str


class ScopeRoom(BaseModel):
    """A scope that the session counts against. ceiling: limited slots only; "sessions" counts sessions."""

    scope: str
    label: str
    ceiling: dict[str, int]
    used: dict[str, int]


class GroupRoom(GroupRef):
    """A resource group that you may use, and the result there. topology: its levels, from narrow to wide."""

    topology: list[str]
    verdict: Verdict
    reason: str


class PresetRoom(BaseModel):
    id: PresetId
    name: str
    slots: dict[str, int]
    verdict: Verdict
    reason: str


class DiskRangeView(BaseModel):
    """What each container may write outside its folders. default_bytes: if nothing is requested. null: no limit."""

    default_bytes: int | None
    most_bytes: int | None


class CheckWarning(BaseModel):
    """A reason why the session may not be a good idea."""

    code: str
    message: str
    hint: str


class CheckView(BaseModel):
    """The result of creating such a session, and remaining capacity.

    code: of the error that creating it would raise, if any. starts_in: the group in which it would start now.
    alternatives: why it would not start in the groups besides the preferred one. most_rights: that a session could have
    in the group. device_mem_bytes: of each device of a family in the group; families whose devices differ, or whose
    memory is unknown, are omitted. root_refused: why it could not have root. warnings: such as of known vulnerabilities
    in its image.
    """

    verdict: Verdict
    reason: str
    code: str
    field: str | None
    group: GroupRef
    starts_in: GroupRef | None
    project: ProjectRef
    position: int | None
    limits: list[LimitView]
    nodes: list[NodeCauseView]
    alternatives: list[GroupWhyView]
    changes: list[ChangeView]
    expected_start: datetime | None
    no_estimate: str
    image_pull: ImagePullCostView | None
    slots: dict[str, SlotRoomView]
    device_mem_bytes: dict[str, int]
    scopes: list[ScopeRoom]
    groups: list[GroupRoom]
    presets: list[PresetRoom]
    most_rights: Rights
    root_refused: str
    disk: DiskRangeView
    warnings: list[CheckWarning]


class QueuedView(BaseModel):
    """A queue entry. Fields that you may not see are null; the entry itself is not secret. expected_start: as of
    `sessions.why`, null if not known.
    """

    position: int
    session: SessionId | None
    name: str | None
    owner: OwnerRef | None
    project: ProjectRef | None
    slots: dict[str, int]
    priority: int
    waits_since: datetime
    expected_start: datetime | None
    cause: Cause | None
    reason: str


class QueueView(BaseModel):
    """A page of one group's queue, in order. length: of the whole queue. scheduler: its ordering. forecast_complete:
    false if the queues are so long that an expected start may be null although time limits let it be known.
    """

    group: GroupRef
    scheduler: QueueOrder
    length: int
    forecast_complete: bool
    items: list[QueuedView]
    next_cursor: str | None


class ShareNode(BaseModel):
    """One domain, project or user. share: of the group, current and past usage; entitled: by weight among those with
    usage or requests.

    level: share divided by weight, lowest first. waiting: number of pending sessions.
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
    """cursor: from the previous page.

    The queue may change between pages; sessions that move above the cursor are not repeated.
    """

    limit: QueryInt = Field(default=200, ge=1, le=1000)
    cursor: str | None = Field(default=None, pattern=r"^[0-9]{1,9}$")
