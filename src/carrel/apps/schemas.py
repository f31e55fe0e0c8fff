"""API types of the ways into a session."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints, TypeAdapter

from carrel.http.rules import EnvName, EnvValue

MAX_COLUMNS = 1000
Columns = Annotated[int, Field(ge=1, le=MAX_COLUMNS)]


class AppView(BaseModel):
    """running: it responds."""

    name: str
    title: str
    protocol: str
    port: int
    running: bool


class AppList(BaseModel):
    items: list[AppView]
    next_cursor: str | None = None


class OpenedApp(BaseModel):
    """url: works once, until expires_at; it then gives the browser a cookie of its own."""

    url: str
    expires_at: datetime


class AppToken(BaseModel):
    """url: the origin of the app. token: for programs, sent there as `Authorization: Bearer <token>`, or in
    X-Carrel-Authorization where the app has an Authorization of its own; good for this app until expires_at, and no
    longer than the credentials that it was made with.
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


CONTROL: TypeAdapter[Resize | EndOfInput] = TypeAdapter(
    Annotated[Resize | EndOfInput, Field(discriminator="type")]
)
"""Text messages from the client of a terminal or an exec."""
