"""Nodes, and the ledger: which session holds which slots where, since when and until when."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import BigInteger, CheckConstraint, DateTime, ForeignKey, Identity, Index, String, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import NodeId, SessionId
from carrel.db.tables import Table


class NodeState(StrEnum):
    READY = "READY"
    DOWN = "DOWN"


class Node(Table):
    __tablename__ = "nodes"

    id: Mapped[NodeId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(253), unique=True)
    architecture: Mapped[str] = mapped_column(String(30))
    engine: Mapped[str] = mapped_column(String(100))
    slots: Mapped[dict[str, int]] = mapped_column(JSONB)
    capabilities: Mapped[list[str]] = mapped_column(JSONB)
    state: Mapped[NodeState] = mapped_column(String(10))
    seen_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class Allocation(Table):
    """One slot of one session on one node, from SCHEDULED until the engine says that it is gone.

    Usage is always a sum over the rows whose released_at is null; nothing counts separately.
    """

    __tablename__ = "allocations"
    __table_args__ = (
        CheckConstraint("amount > 0", name="amount"),
        Index("ix_allocations_node_id_held", "node_id", postgresql_where=text("released_at IS NULL")),
        Index("uq_allocations_session_id_slot_held", "session_id", "slot", unique=True,
              postgresql_where=text("released_at IS NULL")),
    )  # fmt: skip

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    session_id: Mapped[SessionId] = mapped_column(String, ForeignKey("sessions.id"))
    node_id: Mapped[NodeId] = mapped_column(String, ForeignKey("nodes.id"))
    slot: Mapped[str] = mapped_column(String(60))
    amount: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    released_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
