"""Wire types of sessions."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from carrel.core.ids import SessionId
from carrel.http.paging import PageQuery
from carrel.http.rules import EnvName, EnvValue, says
from carrel.images.schemas import AppRef
from carrel.sessions.states import SessionState
from carrel.tenancy.schemas import ProjectRef

NAME_PATTERN = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{2,62}[A-Za-z0-9_]$"
SessionName = Annotated[
    str,
    StringConstraints(pattern=NAME_PATTERN),
    says("A name has 4 to 64 letters, digits or _; between the first and the last also . and -."),
]
_MAX_BIGINT = 2**62


class SlotRequest(BaseModel):
    """cpu: millicores. mem: bytes."""

    model_config = {"extra": "forbid"}

    cpu: Annotated[
        int,
        Field(ge=10, le=_MAX_BIGINT, examples=[1000]),
        says("cpu is a whole number of thousandths of a core, from 10 on: 1000 is one core."),
    ]
    mem: Annotated[
        int,
        Field(ge=4 << 20, le=_MAX_BIGINT, examples=[1 << 30]),
        says("mem is a whole number of bytes, from 4194304 (4 MiB) on."),
    ]


class SessionCreate(BaseModel):
    """image: a name in the catalogue or any image reference. name: generated when absent."""

    model_config = {"extra": "forbid"}

    image: str = Field(min_length=1, max_length=512, examples=["starter"])
    slots: SlotRequest
    name: SessionName | None = None
    env: dict[EnvName, EnvValue] = Field(default={}, max_length=200)
    project: str | None = Field(default=None, max_length=64)


class SessionRename(BaseModel):
    model_config = {"extra": "forbid"}

    name: SessionName


class OwnerRef(BaseModel):
    id: str
    email: str


class ProgressView(BaseModel):
    """fraction: 0..1 when known."""

    phase: str
    fraction: float | None
    text: str


class SessionView(BaseModel):
    """reason: why it waits, failed or ended. queue_position: 1 is next."""

    id: SessionId
    name: str
    kind: str
    state: SessionState
    reason: str | None
    progress: ProgressView | None
    image: str
    image_name: str | None
    project: ProjectRef
    owner: OwnerRef
    slots: dict[str, int]
    node: str | None
    warnings: list[str]
    queue_position: int | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class SessionDetail(SessionView):
    """env: values are shown to the owner; others see ******** for each."""

    env: dict[str, str]
    apps: list[AppRef]


class SessionQuery(PageQuery):
    """Which sessions to list. sort: name, state, created_at or image; the newest first when absent."""

    state: str = Field(default="all", max_length=20, description="live, ended, all, or a state")
    q: str | None = Field(default=None, max_length=100, description="part of name or image")
    owner: Literal["me", "all"] = "me"
    project: str | None = Field(default=None, max_length=64, description="name or id of one project")


class SessionList(BaseModel):
    items: list[SessionView]
    next_cursor: str | None


class HistoryView(BaseModel):
    """cause: a word such as "created", "retry", "out_of_memory". from_state = to_state for notes.

    actor: e-mail of the person, null when Carrel did it.
    """

    at: datetime
    from_state: SessionState | None
    to_state: SessionState
    cause: str
    reason: str | None
    actor: str | None


class HistoryList(BaseModel):
    items: list[HistoryView]
    next_cursor: str | None = None
