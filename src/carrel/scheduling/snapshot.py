"""What the scheduler looks at: frozen, and free of the database."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from carrel.core.ids import NodeId, SessionId


@dataclass(frozen=True, slots=True)
class NodeView:
    """capacity and used: slots, in base units."""

    id: NodeId
    name: str
    ready: bool
    capacity: Mapping[str, int]
    used: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A session that waits for a place."""

    id: SessionId
    slots: Mapping[str, int]
    since: datetime


@dataclass(frozen=True, slots=True)
class Snapshot:
    """waiting: in order of arrival."""

    nodes: tuple[NodeView, ...]
    waiting: tuple[Waiting, ...]
    now: datetime


@dataclass(frozen=True, slots=True)
class Placement:
    session: SessionId
    node: NodeId


@dataclass(frozen=True, slots=True)
class Refusal:
    """reason: one sentence for the person who waits. position: place in the queue, 1 is next."""

    session: SessionId
    reason: str
    position: int


@dataclass(frozen=True, slots=True)
class Plan:
    placements: tuple[Placement, ...]
    refusals: tuple[Refusal, ...]
