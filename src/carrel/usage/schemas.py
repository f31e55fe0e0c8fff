"""API types of usage."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from carrel.audit.schemas import When
from carrel.core.ids import ContainerId, SessionId
from carrel.http.query import DECIMAL
from carrel.sessions.schemas import OwnerRef
from carrel.tables.usage import UsageScope


class SessionUsageQuery(BaseModel):
    """Which period: the last minutes, or from, to. step: length of an interval in seconds; by default for a chart of
    about 400 points. A step below that of the points that are kept of the period is raised to it.
    """

    model_config = ConfigDict(extra="forbid")

    minutes: Annotated[int, Field(ge=1, le=3 * 366 * 1440), DECIMAL] = 60
    from_: When | None = Field(default=None, alias="from", description="start of the period, inclusive")
    to: When | None = Field(default=None, description="end of the period, exclusive; by default now")
    container: str | None = Field(
        default=None, max_length=40, description="only this one, such as main or sub1"
    )
    step: Annotated[int, Field(ge=10, le=86_400), DECIMAL] | None = None


class MeasureSeries(BaseModel):
    """One value per moment; null: nothing was measured. peak: the highest value in the interval."""

    mean: list[float | None]
    peak: list[float | None]


class ContainerUsageView(BaseModel):
    """measures: those that were measured at all, of cpu_millis; mem_bytes; accelerator_percent and
    accelerator_mem_percent, means of the devices that it holds alone; read_rate and write_rate, bytes per second of
    disks; rx_rate and tx_rate, bytes per second received and sent; disk_bytes, written outside its folders.
    """

    id: ContainerId
    name: str
    measures: dict[str, MeasureSeries]


class DeviceEnergyView(BaseModel):
    """What a device drew for a session while its power was measured, for so many device-hours."""

    device: str
    model: str
    energy_kwh: float
    power_hours: float


class SessionUsageView(BaseModel):
    """Usage of the containers of a session, the main one first. step_s: length of an interval. times: ends of the
    intervals, oldest first. energy: of its accelerators since it started, whatever the period; empty: not measured.
    """

    step_s: int
    times: list[datetime]
    containers: list[ContainerUsageView]
    energy: list[DeviceEnergyView]


class Series(BaseModel):
    """Oldest first, 10 s apart. accelerator_percent: of the container with the highest mean of its
    devices; null: not measured."""

    cpu_millis: list[int]
    mem_bytes: list[int]
    accelerator_percent: list[int | None]


class RecentUsage(BaseModel):
    """By session id; sessions without samples are absent."""

    items: dict[str, Series]


class IdleQuery(BaseModel):
    """below: percentage of the allocated CPU."""

    model_config = ConfigDict(extra="forbid")

    below: Annotated[int, Field(ge=1, le=100), DECIMAL] = 5
    limit: Annotated[int, Field(ge=1, le=200), DECIMAL] = 50


class IdleSession(BaseModel):
    """cpu_percent: mean CPU usage of the last five minutes, of its allocation."""

    id: SessionId
    name: str
    owner: OwnerRef
    slots: dict[str, int]
    cpu_percent: float


class IdleSessionList(BaseModel):
    """The largest CPU allocation first. total: their number without the limit."""

    items: list[IdleSession]
    total: int


class Range(StrEnum):
    """Length of a history: in steps of a minute, a quarter of an hour, an hour."""

    DAY = "24h"
    WEEK = "7d"
    MONTH = "30d"


class UsageHistoryQuery(BaseModel):
    """ref: id or name of the object; not for the site, and by default yourself for a user."""

    model_config = ConfigDict(extra="forbid")

    scope: UsageScope
    ref: str | None = Field(default=None, max_length=320)
    range: Range = Range.DAY


class UsageHistoryView(BaseModel):
    """Allocation and usage over time.

    step_s: length of an interval. times: ends of the intervals, oldest first. measures: SLOT.allocated and
    SLOT.capacity for every slot, in base units; SLOT.used of sessions, of an accelerator by its utilisation;
    SLOT.percent of accelerators, and accelerator.used of all of them; sessions.live, sessions.pending; wait_s: the
    median wait of the sessions that were placed in the interval.
    Of nodes also the load of the whole machine: host.cpu in millicores; host.mem, host.disk_used and host.disk_size in
    bytes; host.received, host.sent, host.read and host.written, of network and disks, in bytes per second.
    """

    scope: UsageScope
    step_s: int
    times: list[datetime]
    measures: dict[str, MeasureSeries]
