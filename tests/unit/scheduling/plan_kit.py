"""Nodes and sessions for plans, without what a test does not care about."""

from datetime import UTC, datetime
from typing import Any

from carrel.core.ids import NodeId, SessionId
from carrel.scheduling.snapshot import ContainerPlacement, NodeSnapshot, PendingSession, RunningSession

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CUDA = {"cuda.device": 1000, "cuda.shares": 1}


def node_with(
    name: str, capacity: dict[str, int], used: dict[str, int] | None = None, **more: Any
) -> NodeSnapshot:
    """A node whose id is its name."""
    return NodeSnapshot(NodeId(name), name, capacity, used or {}, **more)


def pending(name: str, slots: dict[str, int], since: datetime = NOW, **more: Any) -> PendingSession:
    """A session that waits, from now on unless it has waited for long."""
    return PendingSession(SessionId(name), slots, since, **more)


def running_on(node: str, name: str, slots: dict[str, int], **more: Any) -> RunningSession:
    """A session whose one container runs on this node."""
    return RunningSession(SessionId(name), slots, (ContainerPlacement(NodeId(node)),), **more)
