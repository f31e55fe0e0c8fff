"""Pushes of environments to registries."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import CheckConstraint, DateTime, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import EnvironmentVersionId, PushId, RegistryId, UserId
from carrel.db.tables import Table

PUSHES_TOPIC = "environment_pushes"
"""Notified when a push is requested or cancelled."""


class PushState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


_STATES = ", ".join(f"'{state}'" for state in PushState)


class EnvironmentPush(Table):
    """A push by the leader; interrupted, it begins again, and layers that are there are not sent again.

    registry_id: None: the registry was removed. reference: with host, repository and tag; only one open push has it.
    progress: 0..1. problem, code: why it failed, or why it is tried again at due_at. attempts: interrupted ones count.
    digest: in the registry.
    """

    __tablename__ = "environment_pushes"
    __table_args__ = (
        CheckConstraint(f"state IN ({_STATES})", name="state"),
        CheckConstraint("(ended_at IS NULL) = (state IN ('waiting', 'running'))", name="ended"),
        Index(
            "uq_environment_pushes_open", "reference", unique=True, postgresql_where=text("ended_at IS NULL")
        ),
        Index("ix_environment_pushes_version_id_created_at", "version_id", "created_at"),
    )

    id: Mapped[PushId] = mapped_column(String, primary_key=True)
    version_id: Mapped[EnvironmentVersionId] = mapped_column(
        String, ForeignKey("environment_versions.id", ondelete="CASCADE")
    )
    registry_id: Mapped[RegistryId | None] = mapped_column(
        String, ForeignKey("registries.id", ondelete="SET NULL"), index=True
    )
    reference: Mapped[str] = mapped_column(String(700))
    state: Mapped[PushState] = mapped_column(String(10), server_default=PushState.WAITING)
    cancel: Mapped[bool] = mapped_column(server_default=text("false"))
    progress: Mapped[float | None]
    problem: Mapped[str | None]
    code: Mapped[str | None] = mapped_column(String(40))
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    due_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    digest: Mapped[str | None] = mapped_column(String(80))
    requested_by: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    started_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
