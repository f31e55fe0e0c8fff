"""Checks of the accelerators of nodes, and their results."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ARRAY, CheckConstraint, DateTime, ForeignKey, Index, String, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import AcceleratorCheckId, NodeId, UserId
from carrel.db.tables import Table

TOPIC = "accelerator_checks"
"""Notified when a check is requested or cancelled, and when a device that is set aside has no problem any more."""


class CheckState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class CheckedOutcome(StrEnum):
    """NOT_MEASURED: something is missing that the measurement needs; never a guess."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_MEASURED = "not_measured"


_STATES = ", ".join(f"'{state}'" for state in CheckState)


class AcceleratorCheck(Table):
    """A check of free accelerators of one node, by the leader; after a crash the next one begins it again.

    device: only this one; None: all free ones, and of a check by Carrel those that are set aside. requested_by: None:
    Carrel itself, before it puts devices back. image: of its containers; None: one of the catalogue is chosen. taken:
    devices that it has and no session gets until it has ended. containers: those that it has made and not yet removed.
    progress: 0..1. step: what it does now. problem: why it failed, or why it waits. driver: version of the vendor's
    driver, by the node's label. results: as `accelerator_checks.schemas.DeviceResult`.
    """

    __tablename__ = "accelerator_checks"
    __table_args__ = (
        CheckConstraint(f"state IN ({_STATES})", name="state"),
        CheckConstraint("(ended_at IS NULL) = (state IN ('waiting', 'running'))", name="ended"),
        CheckConstraint("ended_at IS NULL OR containers = '{}'", name="removed"),
        Index(
            "uq_accelerator_checks_node_id_open",
            "node_id",
            unique=True,
            postgresql_where=text("ended_at IS NULL"),
        ),
        Index("ix_accelerator_checks_node_id_created_at", "node_id", "created_at", "id"),
    )

    id: Mapped[AcceleratorCheckId] = mapped_column(String, primary_key=True)
    node_id: Mapped[NodeId] = mapped_column(String, ForeignKey("nodes.id", ondelete="CASCADE"))
    device: Mapped[str | None]
    requested_by: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id", ondelete="SET NULL"))
    image: Mapped[str | None] = mapped_column(String(512))
    state: Mapped[CheckState] = mapped_column(String(10), server_default=CheckState.WAITING)
    cancel: Mapped[bool] = mapped_column(server_default=text("false"))
    taken: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    containers: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    progress: Mapped[float] = mapped_column(server_default=text("0"))
    step: Mapped[str] = mapped_column(String(200), server_default="")
    problem: Mapped[str] = mapped_column(String(1000), server_default="")
    driver: Mapped[str] = mapped_column(String(64), server_default="")
    results: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default=text("'[]'"))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    started_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
