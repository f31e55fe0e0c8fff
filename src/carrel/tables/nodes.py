"""Nodes, the condition of their accelerators, and allocations: slots held by containers, with start and end."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ColumnElement,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    String,
    UniqueConstraint,
    exists,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, aliased, mapped_column

from carrel.core.ids import ContainerId, EngineId, GroupId, NodeId, SessionId
from carrel.db.tables import Table

TOPIC, FORGOTTEN = "nodes", "nodes.forgotten"
CLOSED_LENGTH = 500


class NodeState(StrEnum):
    READY = "READY"
    DOWN = "DOWN"


class Draining(StrEnum):
    """Handling of running sessions on a node that is being drained. Sessions not yet running are placed elsewhere."""

    WAIT = "wait"
    END = "end"
    MOVE = "move"


_DRAINING = ", ".join(f"'{how}'" for how in Draining)


class Node(Table):
    """slots: capacity of the machine; `ledger.offered` computes the part available to sessions.

    devices: accelerators, as in `accelerators.port.Device`, each with `slots`: the slots that it provides, with the
    thousandths of it that one unit takes. images: references present on the node. labels: by its engine. own_labels:
    by administrators; they take precedence. group_fixed: an administrator chose its group, so selectors of groups do
    not move it. closed: why the engine places nothing new there; empty if it does. cordoned: no new placements.
    sharing: how shares of its accelerators are enforced, as in `accelerators.port.Sharing`; None: it has none to share.
    draining: mode of its drain. reserved: slots kept for the system. cpu_overcommit: CPUs offered per physical one.
    down_since: since when the engine responds without listing it. forgotten_at: when an administrator declared it
    permanently gone, or it was lost as a machine of an elastic group; only past sessions refer to it. engine_id: null
    when its engine was removed, and the node with it. engine_version: its engine's, for display. elastic: no machine,
    but all those of an elastic group together, which its cluster adds and removes: slots is the group's limit, and what
    its sessions hold is held here.
    """

    __tablename__ = "nodes"
    __table_args__ = (
        UniqueConstraint("engine_id", "name", name="uq_nodes_engine_id_name"),
        CheckConstraint("engine_id IS NOT NULL OR forgotten_at IS NOT NULL", name="engine"),
        CheckConstraint("cpu_overcommit >= 1 AND cpu_overcommit <= 100", name="cpu_overcommit"),
        CheckConstraint(f"draining IN ({_DRAINING})", name="draining"),
        CheckConstraint("cordoned OR draining IS NULL", name="drained_behind_a_cordon"),
        Index("ix_nodes_known", "engine_id", postgresql_where=text("forgotten_at IS NULL")),
    )

    id: Mapped[NodeId] = mapped_column(String, primary_key=True)
    engine_id: Mapped[EngineId | None] = mapped_column(String, ForeignKey("engines.id", ondelete="SET NULL"))
    name: Mapped[str] = mapped_column(String(253))
    architecture: Mapped[str] = mapped_column(String(30))
    engine_version: Mapped[str] = mapped_column(String(100))
    slots: Mapped[dict[str, int]] = mapped_column(JSONB)
    capabilities: Mapped[list[str]] = mapped_column(JSONB)
    devices: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default=text("'[]'"))
    images: Mapped[list[str]] = mapped_column(JSONB, server_default=text("'[]'"))
    labels: Mapped[dict[str, str]] = mapped_column(JSONB, server_default=text("'{}'"))
    own_labels: Mapped[dict[str, str]] = mapped_column(JSONB, server_default=text("'{}'"))
    group_id: Mapped[GroupId] = mapped_column(
        String, ForeignKey("resource_groups.id"), server_default="default", index=True
    )
    closed: Mapped[str] = mapped_column(String(CLOSED_LENGTH), server_default="")
    sharing: Mapped[dict[str, str] | None] = mapped_column(JSONB(none_as_null=True))
    group_fixed: Mapped[bool] = mapped_column(server_default=text("false"))
    elastic: Mapped[bool] = mapped_column(default=False, server_default=text("false"))
    cordoned: Mapped[bool] = mapped_column(server_default=text("false"))
    draining: Mapped[Draining | None] = mapped_column(String(10))
    reserved: Mapped[dict[str, int]] = mapped_column(JSONB, server_default=text("'{}'"))
    cpu_overcommit: Mapped[float] = mapped_column(server_default=text("1"))
    state: Mapped[NodeState] = mapped_column(String(10))
    down_since: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    forgotten_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    seen_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


IS_KNOWN = Node.forgotten_at.is_(None)
"""A condition for existing nodes."""

IS_MACHINE = IS_KNOWN & ~Node.elastic
"""A condition for existing nodes that are machines."""

_ELASTIC = aliased(Node)


def is_offered() -> ColumnElement[bool]:
    """A condition for the existing nodes on which the scheduler places: not the machines of elastic groups."""
    shared = exists().where(
        _ELASTIC.group_id == Node.group_id, _ELASTIC.elastic, _ELASTIC.forgotten_at.is_(None)
    )
    return IS_KNOWN & (Node.elastic | ~shared)


class DeviceCondition(Table):
    """An accelerator as its engine reported it last. Not in the row of its node, whose every change is published and
    wakes the scheduler: measurements change all the time.

    description: as in `Node.devices`, which has healthy ones only. problem: a sentence; empty if there is none. since:
    when `healthy` changed. metrics: as `accelerators.port.DeviceMetrics`. measured_at: when it was reported.
    cleared_at: since when its engine reports it without a problem again, while it is still set aside: it is put back
    after a check. put_back: the next report of it without a problem makes it healthy.
    """

    __tablename__ = "device_conditions"
    __table_args__ = (
        Index("ix_device_conditions_unhealthy", "node_id", postgresql_where=text("NOT healthy")),
    )

    node_id: Mapped[NodeId] = mapped_column(
        String, ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True
    )
    device: Mapped[str] = mapped_column(String, primary_key=True)
    description: Mapped[dict[str, Any]] = mapped_column(JSONB)
    healthy: Mapped[bool]
    problem: Mapped[str] = mapped_column(String(500))
    since: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    metrics: Mapped[dict[str, Any]] = mapped_column(JSONB)
    measured_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    cleared_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    put_back: Mapped[bool] = mapped_column(server_default=text("false"))


class Allocation(Table):
    """One slot of one container on one node, or of an elastic group's limit, from SCHEDULED until the engine confirms
    that the container is gone.

    session_id: denormalized from the container, because every sum by user, project or domain uses it. group_id: of the
    session at that time, which may move between the groups that it accepts; None: written before schema 0079. devices:
    device -> amount, in thousandths of it, for accelerator slots.

    Usage is always a sum over the rows whose released_at is null; there are no separate counters.
    """

    __tablename__ = "allocations"
    __table_args__ = (
        CheckConstraint("amount > 0", name="amount"),
        Index("ix_allocations_node_id_held", "node_id", postgresql_where=text("released_at IS NULL")),
        Index(
            "uq_allocations_container_id_slot_held",
            "container_id",
            "slot",
            unique=True,
            postgresql_where=text("released_at IS NULL"),
        ),
        Index("ix_allocations_released_at", "released_at", postgresql_where=text("released_at IS NOT NULL")),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    session_id: Mapped[SessionId] = mapped_column(String, ForeignKey("sessions.id"))
    container_id: Mapped[ContainerId] = mapped_column(String, ForeignKey("containers.id"))
    node_id: Mapped[NodeId] = mapped_column(String, ForeignKey("nodes.id"))
    group_id: Mapped[GroupId | None] = mapped_column(String)
    slot: Mapped[str] = mapped_column(String(60))
    amount: Mapped[int] = mapped_column(BigInteger)
    devices: Mapped[dict[str, int] | None] = mapped_column(JSONB(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    released_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
