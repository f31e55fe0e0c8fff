"""Wire types of engines."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from carrel.core.ids import EngineId
from carrel.http.rules import says
from carrel.tables.engines import EngineState

EngineName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$"),
    says("An engine's name has 1 to 40 small letters, digits and -, no - at either end."),
]
Settings = Annotated[dict[str, Any], Field(max_length=50)]


class EngineRef(BaseModel):
    id: EngineId
    name: str


class EngineView(BaseModel):
    """settings: those that were given, without secrets. secrets: names of those that are set; they are never shown.

    state: UNKNOWN until it was looked at, DOWN while it does not answer in time. last_error: why it is DOWN.
    nodes: how many it names. containers: how many of sessions are on them. local: found at the start.
    """

    id: EngineId
    name: str
    kind: str
    settings: dict[str, Any]
    secrets: list[str]
    state: EngineState
    state_since: datetime
    last_error: str | None
    nodes: int
    containers: int
    local: bool
    created_at: datetime


class EngineList(BaseModel):
    items: list[EngineView]
    next_cursor: str | None = None


class EngineKind(BaseModel):
    """settings: JSON schema of what an engine of the kind is set up with; secrets are writeOnly."""

    kind: str
    title: str
    description: str
    settings: dict[str, Any]


class EngineKindList(BaseModel):
    items: list[EngineKind]
    next_cursor: str | None = None


class EngineCreate(BaseModel):
    """kind: as `GET /engine-kinds` names it. settings: as its schema says; what is left out is as usual."""

    model_config = ConfigDict(extra="forbid")

    name: EngineName
    kind: str = Field(max_length=40)
    settings: Settings = {}


class EngineUpdate(BaseModel):
    """What is left out stays. settings: those that are given change; null: as usual again. Secrets are given again when
    other settings change, for they may lead elsewhere.
    """

    model_config = ConfigDict(extra="forbid")

    name: EngineName = ""
    settings: Settings = {}


class EngineCheck(BaseModel):
    """sentence: what it answered, or why it did not. nodes: names of its nodes."""

    ok: bool
    sentence: str
    nodes: list[str]
