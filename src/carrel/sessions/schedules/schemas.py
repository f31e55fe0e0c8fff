"""API types of schedules."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from carrel.core.ids import ScheduleId, SessionId
from carrel.http.paging import PageQuery
from carrel.http.validation import says
from carrel.sessions.schemas import OwnerRef, SessionCreate
from carrel.tables.schedules import Missed, Overlap, RunOutcome
from carrel.tables.session_states import Result, SessionState
from carrel.tenancy.schemas import ProjectRef

ScheduleName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{2,46}[A-Za-z0-9_]$"),
    says("A name has 4 to 48 letters, digits or _; between the first and the last also . and -."),
]
Cron = Annotated[str, Field(min_length=1, max_length=100, examples=["0 6 * * 1-5"])]
Timezone = Annotated[str, Field(min_length=1, max_length=64, examples=["Europe/Berlin"])]


class ScheduleCreate(BaseModel):
    """cron: minute, hour, day of month, month and day of week, in the time zone. missed: for times while Carrel was
    down. overlap: if the session of an earlier run has not ended. session: what to create each time; its name is NAME
    with the planned time.
    """

    model_config = {"extra": "forbid"}

    name: ScheduleName
    cron: Cron
    timezone: Timezone = "UTC"
    missed: Missed = Missed.SKIP
    overlap: Overlap = Overlap.ALLOW
    active: bool = True
    session: SessionCreate


class ScheduleUpdate(BaseModel):
    """Omitted fields keep their values; session is replaced completely."""

    model_config = {"extra": "forbid"}

    name: ScheduleName | None = None
    cron: Cron | None = None
    timezone: Timezone | None = None
    missed: Missed | None = None
    overlap: Overlap | None = None
    session: SessionCreate | None = None


class ScheduleRunView(BaseModel):
    """A run. on_request: by `run`, not by its time. session, state, result: of its session, if it was started."""

    planned_at: datetime
    at: datetime
    on_request: bool
    outcome: RunOutcome
    reason: str | None
    session: SessionId | None
    session_name: str | None
    state: SessionState | None
    result: Result | None


class ScheduleView(BaseModel):
    """next_times: the next five, if it is active. last: its latest run. session: the request, without defaults."""

    id: ScheduleId
    name: str
    owner: OwnerRef
    project: ProjectRef
    cron: str
    timezone: str
    missed: Missed
    overlap: Overlap
    active: bool
    next_times: list[datetime]
    last: ScheduleRunView | None
    session: dict[str, Any]
    created_at: datetime


class ScheduleQuery(PageQuery):
    """Which schedules to list. q: part of the name. sort: name or created_at; default: name."""

    q: str | None = Field(default=None, max_length=64)

    owner: str = Field(default="me", max_length=64, description="me, or all that you may see")


class ScheduleList(BaseModel):
    items: list[ScheduleView]
    next_cursor: str | None


class ScheduleRunQuery(PageQuery):
    """sort: planned_at; default: newest first."""


class ScheduleRunList(BaseModel):
    items: list[ScheduleRunView]
    next_cursor: str | None


class TimesQuery(BaseModel):
    cron: Cron
    timezone: Timezone = "UTC"


class TimesView(BaseModel):
    """The next five times of a cron expression."""

    items: list[datetime]
