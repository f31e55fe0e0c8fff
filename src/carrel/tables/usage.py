"""Usage samples of running containers, and usage over time."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import BigInteger, DateTime, Index, SmallInteger, String
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import ContainerId
from carrel.db.tables import Table


class Sample(Table):
    """cpu_millis: mean since the previous sample. Unlogged: a crash may lose a minute of charts.

    accelerator_percent, accelerator_mem_percent: of the busiest of its devices; None: not measured.
    """

    __tablename__ = "usage_samples"
    __table_args__ = (Index("ix_usage_samples_at", "at"), {"prefixes": ["UNLOGGED"]})

    container_id: Mapped[ContainerId] = mapped_column(String, primary_key=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), primary_key=True)
    cpu_millis: Mapped[int]
    mem_bytes: Mapped[int] = mapped_column(BigInteger)
    accelerator_percent: Mapped[int | None] = mapped_column(SmallInteger)
    accelerator_mem_percent: Mapped[int | None] = mapped_column(SmallInteger)


class UsageScope(StrEnum):
    SITE = "site"
    DOMAIN = "domain"
    PROJECT = "project"
    GROUP = "group"
    NODE = "node"
    USER = "user"


MINUTE_S = 60
"""The shortest step of the points."""


class UsagePoint(Table):
    """Allocation and usage in one scope in the `step_s` seconds that end at `at`.

    scope_id: empty for the site. measures: name -> [mean, peak], see `usage.history`. A scope without sessions and
    capacity has no row; the site always has one.
    """

    __tablename__ = "usage_history"
    __table_args__ = (Index("ix_usage_history_step_s_at", "step_s", "at"),)

    scope: Mapped[UsageScope] = mapped_column(String(10), primary_key=True)
    scope_id: Mapped[str] = mapped_column(String, primary_key=True)
    step_s: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), primary_key=True)
    measures: Mapped[dict[str, list[float]]] = mapped_column(JSONB)
