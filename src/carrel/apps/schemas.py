"""API types of access to sessions: apps, terminals and commands."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints, TypeAdapter

from carrel.audit.schemas import When
from carrel.http.query import DECIMAL, QueryBool
from carrel.http.validation import EnvName, EnvValue
from carrel.sessions.logs.reading import (
    ALL_STREAMS,
    JsonFormat,
    LogFormat,
    LogQuery,
    TextFormat,
    time_of,
)

MAX_COLUMNS = 1000
MAX_TAIL = 1_000_000
Columns = Annotated[int, Field(ge=1, le=MAX_COLUMNS)]


ContainerName = Annotated[
    str | None,
    Field(
        max_length=64,
        description="A container of the session, such as main or sub1; default: main.",
    ),
]
_STREAMS = {"stdout": frozenset({1}), "stderr": frozenset({2})}


class LogParameters(BaseModel):
    """What to read of a log, and how it is sent."""

    container: ContainerName = None
    attempt: Annotated[int, Field(ge=1, le=2**31), DECIMAL] | None = Field(
        default=None,
        description="Only this life of the container, from 1: a new one begins when it is created again.",
    )
    follow: QueryBool = Field(default=False, description="Follow the log until the session ends.")
    tail: Annotated[int, Field(ge=0, le=MAX_TAIL), DECIMAL] | None = Field(
        default=None, description="Number of lines from the end, of those that match."
    )
    since: When | None = Field(default=None, description="Only lines received then or later.")
    until: When | None = Field(default=None, description="Only lines received before.")
    search: str = Field(
        default="",
        max_length=200,
        description="Only lines with this text; upper and lower case are the same.",
    )
    stream: Literal["stdout", "stderr"] | None = Field(
        default=None, description="Only standard output, or only standard error."
    )
    timestamps: QueryBool = Field(default=False, description="Begin each line with its time.")
    format: Literal["text", "json"] = Field(
        default="text",
        description="json: an object per line with at (null if unknown), stream (stdout, stderr, or carrel for"
        " notices), text and, where a long line is continued in the next object of its stream, partial.",
    )
    download: QueryBool = Field(default=False, description="Make browsers save the log as a file.")

    def of_log(self) -> LogQuery:
        return LogQuery(
            attempt=self.attempt,
            since=time_of(self.since) if self.since else None,
            until=time_of(self.until) if self.until else None,
            tail=self.tail,
            search=self.search.lower().encode(),
            streams=_STREAMS[self.stream] if self.stream else ALL_STREAMS,
        )

    def sent_as(self) -> LogFormat:
        return JsonFormat() if self.format == "json" else TextFormat(timestamps=self.timestamps)


class AppView(BaseModel):
    """running: the app responds."""

    name: str
    title: str
    protocol: str
    port: int
    running: bool


class AppList(BaseModel):
    items: list[AppView]
    next_cursor: str | None = None


class OpenedApp(BaseModel):
    """url: works once, until expires_at; it then sets a cookie for the app's origin."""

    url: str
    expires_at: datetime


class AppToken(BaseModel):
    """url: the app's origin. token: for programs, sent as `Authorization: Bearer <token>`, or in X-Carrel-Authorization
    if the app uses the Authorization header itself.

    It is valid for this app until expires_at, and no longer than the credentials that created it.
    """

    url: str
    token: str
    expires_at: datetime


class ExecStart(BaseModel):
    """The first message of an exec WebSocket."""

    model_config = {"extra": "forbid"}

    command: list[Annotated[str, StringConstraints(max_length=131_072)]] = Field(
        min_length=1, max_length=1000
    )
    env: dict[EnvName, EnvValue] = Field(default={}, max_length=200)
    tty: bool = False
    cols: Columns = 80
    rows: Columns = 24


class Resize(BaseModel):
    type: Literal["resize"]
    cols: Columns
    rows: Columns


class EndOfInput(BaseModel):
    type: Literal["eof"]


class HangUp(BaseModel):
    type: Literal["hangup"]


CONTROL: TypeAdapter[Resize | EndOfInput | HangUp] = TypeAdapter(
    Annotated[Resize | EndOfInput | HangUp, Field(discriminator="type")]
)
"""Text messages from the client of a terminal or an exec."""
