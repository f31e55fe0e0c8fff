"""Nodes, and the ledger: which container holds which slots where, since when and until when."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    String,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import ContainerId, EngineId, GroupId, NodeId, SessionId
from carrel.db.tables import Table


class NodeState(StrEnum):
    READY = "READY"
    DOWN = "DOWN"


class Draining(StrEnum):
    """What becomes of the sessions that run on a node which is to be empty. Those not yet running go elsewhere."""

    WAIT = "wait"
    END = "end"
    MOVE = "move"


_DRAINING = ", ".join(f"'{how}'" for how in Draining)


class Node(Table):
    """slots: what the machine has; `service.offered` says what sessions may use of it.

    devices: accelerators, as `accelerators.port.Device` has them, each with `slots`: those that are taken from it, and
    the thousandths of it that one of each takes. images: references that are there already.
    cordoned: nothing new is placed on it. draining: how it is being emptied. reserved: slots kept for the system.
    cpu_overcommit: how many CPU are offered for one. down_since: since when the engine answers without naming it.
    forgotten_at: when an administrator said that it never comes back; past sessions name it, nothing else does.
    engine_id: null when its engine was removed, and the node with it. engine_version: its engine's, for people.
    """

    __tablename__ = "nodes"
    __table_args__ = (
        UniqueConstraint("engine_id", "name", name="uq_nodes_engine_id_name"),
        CheckConstraint("engine_id IS NOT NULL OR forgotten_at IS NOT NULL", name="engine"),
        CheckConstraint("cpu_overcommit >= 1 AND cpu_overcommit <= 100", name="cpu_overcommit"),
        CheckConstraint(f"draining IN ({_DRAINING})", name="draining"),
        CheckConstraint("cordoned OR draining IS NULL", name="drained_behind_a_cordon"),
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
    group_id: Mapped[GroupId] = mapped_column(
        String, ForeignKey("resource_groups.id"), server_default="default", index=True
    )
    cordoned: Mapped[bool] = mapped_column(server_default=text("false"))
    draining: Mapped[Draining | None] = mapped_column(String(10))
    reserved: Mapped[dict[str, int]] = mapped_column(JSONB, server_default=text("'{}'"))
    cpu_overcommit: Mapped[float] = mapped_column(server_default=text("1"))
    state: Mapped[NodeState] = mapped_column(String(10))
    down_since: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    forgotten_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    seen_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


IS_KNOWN = Node.forgotten_at.is_(None)
"""A condition for the nodes that there are."""


class Allocation(Table):
    """One slot of one container on one node, from SCHEDULED until the engine says that it is gone.

    session_id: the container's, kept here as every sum by user, project or domain goes over it. devices: device ->
    amount, in thousandths of it, where the slot is an accelerator's.

    Usage is always a sum over the rows whose released_at is null; nothing counts separately.
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
    slot: Mapped[str] = mapped_column(String(60))
    amount: Mapped[int] = mapped_column(BigInteger)
    devices: Mapped[dict[str, int] | None] = mapped_column(JSONB(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    released_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
