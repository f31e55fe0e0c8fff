"""Usage of containers, raw and thinned out with age; usage of scopes over time; and days for statistics."""

from datetime import date, datetime
from enum import StrEnum

from sqlalchemy import ARRAY, BigInteger, Date, DateTime, Float, Index, LargeBinary, SmallInteger, String
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import ContainerId, DomainId, GroupId, NodeId, ProjectId, SessionId, UserId
from carrel.db.tables import Table


class Sample(Table):
    """Kept for a day. Unlogged: a crash of the database loses those of at most a day, and one hour of minutes.

    None: not measured. cpu_millis: mean since the previous sample. accelerator_percent, accelerator_mem_percent: means
    of the devices that it holds alone. read_rate, write_rate, rx_rate, tx_rate: bytes per second since the previous
    sample, of disks and networks. disk_bytes: written outside its folders.
    """

    __tablename__ = "usage_samples"
    __table_args__ = (Index("ix_usage_samples_at", "at"), {"prefixes": ["UNLOGGED"]})

    container_id: Mapped[ContainerId] = mapped_column(String, primary_key=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), primary_key=True)
    cpu_millis: Mapped[int]
    mem_bytes: Mapped[int] = mapped_column(BigInteger)
    accelerator_percent: Mapped[int | None] = mapped_column(SmallInteger)
    accelerator_mem_percent: Mapped[int | None] = mapped_column(SmallInteger)
    read_rate: Mapped[int | None] = mapped_column(BigInteger)
    write_rate: Mapped[int | None] = mapped_column(BigInteger)
    rx_rate: Mapped[int | None] = mapped_column(BigInteger)
    tx_rate: Mapped[int | None] = mapped_column(BigInteger)
    disk_bytes: Mapped[int | None] = mapped_column(BigInteger)


class UsageMinutes(Table):
    """The minutes of the hour that begins at `at`. Kept for a month. points: see `usage.chunks`."""

    __tablename__ = "usage_minutes"
    __table_args__ = (Index("ix_usage_minutes_at", "at"),)

    container_id: Mapped[ContainerId] = mapped_column(String, primary_key=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), primary_key=True)
    points: Mapped[bytes] = mapped_column(LargeBinary)


class UsageHour(Table):
    """Means of the hour that begins at `at`, as in `Sample`. Kept for years.

    seconds: measured ones. cpu_peak, mem_peak: the highest samples.
    """

    __tablename__ = "usage_hours"
    __table_args__ = (Index("ix_usage_hours_at", "at"),)

    container_id: Mapped[ContainerId] = mapped_column(String, primary_key=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), primary_key=True)
    seconds: Mapped[int] = mapped_column(SmallInteger)
    cpu_millis: Mapped[int]
    cpu_peak: Mapped[int]
    mem_bytes: Mapped[int] = mapped_column(BigInteger)
    mem_peak: Mapped[int] = mapped_column(BigInteger)
    accelerator_percent: Mapped[int | None] = mapped_column(SmallInteger)
    accelerator_mem_percent: Mapped[int | None] = mapped_column(SmallInteger)
    read_rate: Mapped[int | None] = mapped_column(BigInteger)
    write_rate: Mapped[int | None] = mapped_column(BigInteger)
    rx_rate: Mapped[int | None] = mapped_column(BigInteger)
    tx_rate: Mapped[int | None] = mapped_column(BigInteger)
    disk_bytes: Mapped[int | None] = mapped_column(BigInteger)


class UsageDay(Table):
    """Sums over the ledger and the hours of a UTC day, for one slot of the sessions of one owner, project, group and
    image. The slot "sessions" counts the sessions themselves.

    hours: slot-seconds allocated in each hour. measured: those of them during which usage was measured. used: slot-
    seconds used meanwhile. wasters: session -> slot-seconds measured but not used, of the highest. waits: waiting times
    of the sessions placed on that day, see `usage.waits`; only of "sessions".
    """

    __tablename__ = "usage_days"
    __table_args__ = (
        Index("ix_usage_days_owner_id_day", "owner_id", "day"),
        Index("ix_usage_days_project_id_day", "project_id", "day"),
    )

    day: Mapped[date] = mapped_column(Date, primary_key=True)
    owner_id: Mapped[UserId] = mapped_column(String, primary_key=True)
    project_id: Mapped[ProjectId] = mapped_column(String, primary_key=True)
    group_id: Mapped[GroupId] = mapped_column(String, primary_key=True)
    image: Mapped[str] = mapped_column(String(512), primary_key=True)
    slot: Mapped[str] = mapped_column(String(60), primary_key=True)
    domain_id: Mapped[DomainId] = mapped_column(String)
    hours: Mapped[list[float]] = mapped_column(ARRAY(Float))
    measured: Mapped[float]
    used: Mapped[float]
    wasters: Mapped[dict[str, float] | None] = mapped_column(JSONB(none_as_null=True))
    waits: Mapped[dict[str, int] | None] = mapped_column(JSONB(none_as_null=True))


class DeviceEnergy(Table):
    """What a device drew for a session on a UTC day, the columns of the session as in `UsageDay`.

    seconds: device-seconds during which its power was measured.
    """

    __tablename__ = "device_energy"
    __table_args__ = (
        Index("ix_device_energy_session_id", "session_id"),
        Index("ix_device_energy_owner_id_day", "owner_id", "day"),
        Index("ix_device_energy_project_id_day", "project_id", "day"),
    )

    day: Mapped[date] = mapped_column(Date, primary_key=True)
    session_id: Mapped[SessionId] = mapped_column(String, primary_key=True)
    node_id: Mapped[NodeId] = mapped_column(String, primary_key=True)
    device: Mapped[str] = mapped_column(String, primary_key=True)
    slot: Mapped[str] = mapped_column(String(60), primary_key=True)
    owner_id: Mapped[UserId] = mapped_column(String)
    project_id: Mapped[ProjectId] = mapped_column(String)
    group_id: Mapped[GroupId] = mapped_column(String)
    image: Mapped[str] = mapped_column(String(512))
    domain_id: Mapped[DomainId] = mapped_column(String)
    model: Mapped[str] = mapped_column(String)
    joules: Mapped[float]
    seconds: Mapped[float]


class UsageProgress(Table):
    """The end of the last hour that minutes, hours and days include, in one row."""

    __tablename__ = "usage_progress"

    id: Mapped[int] = mapped_column(primary_key=True)
    until: Mapped[datetime] = mapped_column(DateTime(timezone=True))


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
