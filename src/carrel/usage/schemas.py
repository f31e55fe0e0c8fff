"""API types of usage."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from carrel.core.ids import SessionId
from carrel.http.query import DECIMAL
from carrel.sessions.schemas import OwnerRef
from carrel.tables.usage import UsageScope


class SampleView(BaseModel):
    """cpu_millis: mean of the seconds before `at`."""

    at: datetime
    cpu_millis: int
    mem_bytes: int


class SampleList(BaseModel):
    samples: list[SampleView]


class Series(BaseModel):
    """Oldest first, 5 s apart."""

    cpu_millis: list[int]
    mem_bytes: list[int]


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


class MeasureSeries(BaseModel):
    """One value per moment; null: nothing was measured. peak: the highest minute of the interval."""

    mean: list[float | None]
    peak: list[float | None]


class UsageHistoryView(BaseModel):
    """Allocation and usage over time.

    step_s: length of an interval. times: ends of the intervals, oldest first. measures: SLOT.allocated and
    SLOT.capacity for every slot, in base units; cpu.used and mem.used of sessions; accelerator.used, in percent;
    sessions.live, sessions.pending; wait_s: the median wait of the sessions that were placed in the interval.
    Of nodes also the load of the whole machine: host.cpu in millicores; host.mem, host.disk_used and host.disk_size in
    bytes; host.received, host.sent, host.read and host.written, of network and disks, in bytes per second.
    """

    scope: UsageScope
    step_s: int
    times: list[datetime]
    measures: dict[str, MeasureSeries]
