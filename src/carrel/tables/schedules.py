"""Schedules of recurring sessions, and their runs."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import CheckConstraint, DateTime, ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import DomainId, ProjectId, ScheduleId, SessionId, UserId
from carrel.db.tables import Table

TOPIC = "schedules"
"""Notified when a schedule is created or changed."""


class Missed(StrEnum):
    """What happens with times that passed while Carrel was down: none of them runs, or the last one, once."""

    SKIP = "skip"
    RUN_ONCE = "run_once"


class Overlap(StrEnum):
    """What happens if the session of an earlier run has not ended: both run, the new one does not, or it replaces
    the earlier one.
    """

    ALLOW = "allow"
    FORBID = "forbid"
    REPLACE = "replace"


class RunOutcome(StrEnum):
    """STARTED: a session was created. SKIPPED: by the rules of the schedule. REFUSED: the request was refused."""

    STARTED = "started"
    SKIPPED = "skipped"
    REFUSED = "refused"


def _one_of(names: type[StrEnum]) -> str:
    return ", ".join(f"'{name}'" for name in names)


class RunSchedule(Table):
    """A session to be created at recurring times. spec: the request, a `sessions.spec.SessionSpec` as JSON.

    project_id: that the request named or implied when it was stored. next_at: the next planned time; None while it
    is not active, or if its expression has no further time.
    """

    __tablename__ = "schedules"
    __table_args__ = (
        CheckConstraint(f"missed IN ({_one_of(Missed)})", name="missed"),
        CheckConstraint(f"overlap IN ({_one_of(Overlap)})", name="overlap"),
        CheckConstraint("active OR next_at IS NULL", name="next_at"),
        UniqueConstraint("owner_id", "name", name="uq_schedules_owner_id_name"),
        Index("ix_schedules_next_at", "next_at", postgresql_where=text("next_at IS NOT NULL")),
    )

    id: Mapped[ScheduleId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64))
    owner_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id"))
    project_id: Mapped[ProjectId] = mapped_column(String, ForeignKey("projects.id"), index=True)
    domain_id: Mapped[DomainId] = mapped_column(String, ForeignKey("domains.id"))
    cron: Mapped[str] = mapped_column(String(100))
    timezone: Mapped[str] = mapped_column(String(64))
    missed: Mapped[Missed] = mapped_column(String(20))
    overlap: Mapped[Overlap] = mapped_column(String(20))
    active: Mapped[bool]
    next_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    spec: Mapped[dict[str, Any]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class ScheduledRun(Table):
    """A time of a schedule, or a run on request, and what became of it. At most one for each planned time."""

    __tablename__ = "schedule_runs"
    __table_args__ = (
        CheckConstraint(f"outcome IN ({_one_of(RunOutcome)})", name="outcome"),
        CheckConstraint("(session_id IS NOT NULL) = (outcome = 'started')", name="session"),
    )

    schedule_id: Mapped[ScheduleId] = mapped_column(
        String, ForeignKey("schedules.id", ondelete="CASCADE"), primary_key=True
    )
    planned_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), primary_key=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    on_request: Mapped[bool]
    outcome: Mapped[RunOutcome] = mapped_column(String(20))
    reason: Mapped[str | None]
    session_id: Mapped[SessionId | None] = mapped_column(String, ForeignKey("sessions.id"), index=True)
