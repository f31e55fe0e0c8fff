"""API types of engines."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from carrel.core.ids import EngineId
from carrel.http.validation import says
from carrel.nodes.engines.gaps import Gap
from carrel.tables.engines import EngineState, LayerState

EngineName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$"),
    says(
        "An engine's name has 1 to 40 lowercase letters, digits and hyphens, with no hyphen at the start or end."
    ),
]
Settings = Annotated[dict[str, Any], Field(max_length=50)]


class EngineRef(BaseModel):
    id: EngineId
    name: str


class AppLayerView(BaseModel):
    """reference: of its image. step: of the build. error: why it FAILED; it is tried again later, and by a check."""

    model_config = ConfigDict(from_attributes=True)

    reference: str
    state: LayerState
    state_since: datetime
    step: str
    error: str | None


class EngineView(BaseModel):
    """kind_title: what people call its kind. settings: as configured, without secrets. secrets: names of the secrets
    that are set; values are never shown. state: UNKNOWN before the first check, DOWN while it does not respond in time.
    last_error: why it is DOWN. nodes: number of nodes it reports. containers: number of session containers on them.
    local: detected at startup. app_layer: null if it has none yet, cannot mount any, or CARREL_APP_LAYER is off.
    """

    id: EngineId
    name: str
    kind: str
    kind_title: str
    settings: dict[str, Any]
    secrets: list[str]
    state: EngineState
    state_since: datetime
    last_error: str | None
    nodes: int
    containers: int
    local: bool
    app_layer: AppLayerView | None
    created_at: datetime


class EngineList(BaseModel):
    items: list[EngineView]
    next_cursor: str | None = None


class EngineKind(BaseModel):
    """settings: JSON schema of the kind's settings; secrets are writeOnly."""

    kind: str
    title: str
    description: str
    settings: dict[str, Any]


class EngineKindList(BaseModel):
    items: list[EngineKind]
    next_cursor: str | None = None


class EngineCreate(BaseModel):
    """kind: as `GET /engine-kinds` names it. settings: as in its schema; omitted ones use defaults."""

    model_config = ConfigDict(extra="forbid")

    name: EngineName
    kind: str = Field(max_length=40)
    settings: Settings = {}


class EngineUpdate(BaseModel):
    """Omitted fields keep their values. settings: given ones change; null resets to the default. Secrets must be sent
    again when other settings change, because those may point to another host.
    """

    model_config = ConfigDict(extra="forbid")

    name: EngineName = ""
    settings: Settings = {}


class EngineSettings(BaseModel):
    """As for a new engine."""

    model_config = ConfigDict(extra="forbid")

    kind: str = Field(max_length=40)
    settings: Settings = {}


class CheckedNode(BaseModel):
    """closed: why the engine places nothing on it; empty if it does."""

    name: str
    architecture: str
    slots: dict[str, int]
    closed: str


class EngineGap(BaseModel):
    """What an engine cannot do."""

    code: Gap
    sentence: str


class EngineCheck(BaseModel):
    """sentence: the result of the check. versions: of the engines of its nodes. notes: sentences about how its apps are
    reached, and the result of its self-test. capacity: of its nodes that take sessions. runtimes: container
    runtimes of its nodes, which resource groups may name. gaps: what it cannot do.
    """

    ok: bool
    sentence: str
    versions: list[str]
    notes: list[str]
    nodes: list[CheckedNode]
    capacity: dict[str, int]
    runtimes: list[str]
    gaps: list[EngineGap]
