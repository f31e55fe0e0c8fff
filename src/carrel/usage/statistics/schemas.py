"""API types of statistics."""

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from carrel.core.ids import SessionId
from carrel.http.query import DECIMAL
from carrel.http.validation import broken
from carrel.sessions.schemas import OwnerRef
from carrel.tables.usage import UsageScope

LONGEST_DAYS = 366


class StatisticsBy(StrEnum):
    """What the rows of statistics are about."""

    DOMAIN = "domain"
    PROJECT = "project"
    USER = "user"
    GROUP = "group"
    IMAGE = "image"


class StatisticsPeriod(BaseModel):
    """Which statistics. scope, ref: whose sessions count; ref is an id or name, not for the site, and by default
    yourself for a user. by: one row for each of these. from, to: UTC days, both inclusive; by default this month.
    """

    model_config = ConfigDict(extra="forbid")

    scope: UsageScope = UsageScope.USER
    ref: str | None = Field(default=None, max_length=320)
    by: StatisticsBy = StatisticsBy.PROJECT
    from_: date | None = Field(default=None, alias="from", description="first day; by default of this month")
    to: date | None = Field(default=None, description="last day, inclusive; by default today")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.from_ and self.to and not 0 <= (self.to - self.from_).days < LONGEST_DAYS:
            raise broken(f"The period ends after it begins and has at most {LONGEST_DAYS} days.")
        return self


class StatisticsQuery(StatisticsPeriod):
    """limit: maximum number of rows; the totals include all."""

    limit: Annotated[int, Field(ge=1, le=1000), DECIMAL] = 100


class WastefulSession(BaseModel):
    """The session that left most of what it held unused. unused: slot-hours, in base units."""

    id: SessionId
    name: str
    owner: OwnerRef
    unused: float


class SlotStatistics(BaseModel):
    """Allocation and use of one slot, in base units.

    held: allocated slot-hours. peak: the highest allocation, as the mean of an hour. measured: the slot-hours during
    which use was measured; used: those used meanwhile; unused: the rest of them. utilisation: used of measured, 0..1;
    null: not measured. cost: null without a price. energy_kwh: what its devices drew while their power was measured,
    for so many device-hours, power_hours; null: not measured.
    """

    held: float
    peak: float
    measured: float
    used: float
    unused: float
    utilisation: float | None
    cost: float | None
    energy_kwh: float | None
    power_hours: float
    worst: WastefulSession | None


class WaitStatistics(BaseModel):
    """Waiting times of the sessions that were placed, in seconds, within 5 %. null: there were none."""

    sessions: int
    p50_s: float | None
    p90_s: float | None
    p99_s: float | None


class StatisticsRow(BaseModel):
    """id: of the domain, project, user or group; for images the image. label: its name; for a project domain/project,
    for a user the e-mail. session_hours: time of all its sessions together. session_peak: the most at once, as the mean
    of an hour. cost: of all slots; null without prices. energy_kwh: of all accelerators; null: not measured.
    """

    id: str
    label: str
    session_hours: float
    session_peak: float
    slots: dict[str, SlotStatistics]
    waits: WaitStatistics
    cost: float | None
    energy_kwh: float | None


class DayStatistics(BaseModel):
    """held, used: slot-hours of the day by slot, in base units."""

    day: date
    held: dict[str, float]
    used: dict[str, float]


class StatisticsView(BaseModel):
    """Statistics of a period. name: whose they are; empty for the site. first, last: its days, both inclusive. until:
    the end of the last hour that they include; null: none yet. total: of all rows. items: the costliest rows first,
    without prices those with the most session-hours. omitted: the number of rows beyond the limit. days: those with
    sessions, oldest first. currency: of costs; empty without prices. prices: per hour of one core, GiB or device.
    """

    scope: UsageScope
    name: str
    by: StatisticsBy
    first: date
    last: date
    until: datetime | None
    currency: str
    prices: dict[str, float]
    total: StatisticsRow
    items: list[StatisticsRow]
    omitted: int
    days: list[DayStatistics]
