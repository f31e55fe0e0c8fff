"""API types of access to sessions: apps, terminals and commands."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, StringConstraints, TypeAdapter, model_validator

from carrel.apps.catalogue_schemas import (
    MAX_APP_NAME,
    AppOptionView,
    AppPath,
    AppPortNumber,
    AppProtocol,
    AppTemplateName,
    OptionValues,
    Title,
)
from carrel.apps.session_apps import AppSource
from carrel.audit.schemas import When
from carrel.http.query import DECIMAL, QueryBool
from carrel.http.validation import EnvName, EnvValue, broken
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


class AppState(StrEnum):
    """MISSING: the container has not the program that it needs. STOPPED: starts on open. UNREACHABLE: nothing responds
    at its port, although its process runs or it has none. FAILED: ended with an exit code other than 0.
    """

    READY = "ready"
    STARTING = "starting"
    STOPPED = "stopped"
    UNREACHABLE = "unreachable"
    FAILED = "failed"
    MISSING = "missing"


class AppView(BaseModel):
    """state: only known while the session runs; until then, stopped. running: the app responds. source: who declares
    it. kind: the app of which this is one; null: an opened port. options: values that may be chosen before it starts;
    chosen: at its last start. removable: it was started from the catalogue, added or opened. hint: how to get the
    program that is missing.
    """

    name: str
    title: str
    icon: str
    protocol: str
    port: int
    path: str
    running: bool
    state: AppState
    exit_code: int | None
    source: AppSource
    kind: str | None
    options: list[AppOptionView]
    chosen: dict[str, str]
    removable: bool
    hint: str


class AppList(BaseModel):
    """layer_missing: why the session does not have the apps of the app layer, as a sentence; empty if it has them."""

    items: list[AppView]
    layer_missing: str = ""
    next_cursor: str | None = None


class AppStartRequest(BaseModel):
    """options: values by name; omitted: those of its last start, or the defaults."""

    model_config = {"extra": "forbid"}

    options: OptionValues | None = None


class AppCreate(BaseModel):
    """A further app of a kind, or an opened port. template: name of an app of the session; port: instead, where a
    program of the session listens. name: default: made from these. title, protocol, path: of an opened port.
    """

    model_config = {"extra": "forbid"}

    template: Annotated[str, Field(max_length=MAX_APP_NAME)] | None = None
    options: OptionValues = {}
    port: AppPortNumber | None = None
    name: AppTemplateName | None = None
    title: Title | None = None
    protocol: AppProtocol = AppProtocol.HTTP
    path: AppPath = "/"

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.template is None) == (self.port is None):
            raise broken("An app has either a template or a port.")
        if self.port is None and (self.title or self.path != "/" or self.protocol is AppProtocol.TCP):
            raise broken("Title, protocol and path belong to an opened port.")
        if self.port is not None and self.options:
            raise broken("An opened port has no options.")
        if self.protocol is AppProtocol.TCP and self.path != "/":
            raise broken("An app with protocol tcp has no path.")
        return self


class AppLog(BaseModel):
    text: str


class AppLogParameters(BaseModel):
    tail: Annotated[int, Field(ge=1, le=100_000), DECIMAL] = Field(
        default=200, description="Number of lines from the end, at most 1 MiB."
    )


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
