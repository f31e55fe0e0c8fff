"""API types of access to sessions: apps, terminals and commands."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints, TypeAdapter

from carrel.http.rules import EnvName, EnvValue

MAX_COLUMNS = 1000
Columns = Annotated[int, Field(ge=1, le=MAX_COLUMNS)]


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
