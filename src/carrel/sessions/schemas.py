"""Wire types of sessions."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, StringConstraints, model_validator

from carrel.core.ids import ContainerId, FolderId, GroupId, SessionId
from carrel.core.units import LEAST
from carrel.http.paging import PageQuery
from carrel.http.rules import EnvName, EnvValue, broken, says
from carrel.images.schemas import AppRef
from carrel.scheduling.devices import family_of
from carrel.tables.session_states import ContainerRole, ContainerState, SessionState
from carrel.tenancy.schemas import ProjectRef

NAME_PATTERN = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{2,62}[A-Za-z0-9_]$"
SessionName = Annotated[
    str,
    StringConstraints(pattern=NAME_PATTERN),
    says("A name has 4 to 64 letters, digits or _; between the first and the last also . and -."),
]
MountPath = Annotated[
    str,
    StringConstraints(pattern=r"^/?[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*/?$", max_length=512),
    says("A path in a session has letters, digits and _ . - in each of its names, with / between them."),
]
Subpath = Annotated[
    str,
    StringConstraints(pattern=r"^[^\x00]*$", max_length=1024),
    says("A directory of a folder is at most 1024 characters, relative to the folder."),
]
_MAX_BIGINT = 2**62
Priority = Annotated[int, Field(ge=0, le=100), says("A priority is a whole number from 0 to 100.")]


def _any_slot(schema: dict[str, Any]) -> None:
    """cpu and mem by name, and any accelerator's slot beside them."""
    schema |= {
        "additionalProperties": {"type": "integer", "minimum": 0},
        "examples": [{"cpu": 1000, "mem": 1 << 30}],
    }


class SlotRequest(BaseModel):
    """cpu: millicores. mem: bytes. Both are needed; accelerators come as FAMILY.device (whole ones) or FAMILY.shares
    (thousandths of one)."""

    model_config = {"extra": "allow", "json_schema_extra": _any_slot}
    __pydantic_extra__: dict[
        str,
        Annotated[
            int,
            Field(ge=1, le=_MAX_BIGINT),
            says("Of an accelerator a whole number is asked for, from 1 on: devices, or thousandths of one."),
        ],
    ] = Field(init=False)

    cpu: Annotated[
        int,
        Field(ge=LEAST["cpu"], le=_MAX_BIGINT, examples=[1000]),
        says("cpu is a whole number of thousandths of a core, from 10 on: 1000 is one core."),
    ]
    mem: Annotated[
        int,
        Field(ge=LEAST["mem"], le=_MAX_BIGINT, examples=[1 << 30]),
        says("mem is a whole number of bytes, from 4194304 (4 MiB) on."),
    ]

    @model_validator(mode="after")
    def _others_are_accelerators(self) -> Self:
        families = [family_of(slot) for slot in self.__pydantic_extra__]
        if not all(families):
            wrong = next(slot for slot in self.__pydantic_extra__ if not family_of(slot))
            raise broken(
                f"{wrong[:60]} is not a slot: there are cpu, mem, and accelerators such as cuda.device or cuda.shares."
            )
        if len(set(families)) < len(families):
            raise broken("Ask for whole devices or for shares of one family, not for both.")
        return self


class MountRequest(BaseModel):
    """folder: id or name. path: where in the session, absolute or below /home/work; left out: /home/work/NAME.

    subpath: only this directory of the folder. read_only: though you may write.
    """

    model_config = {"extra": "forbid"}

    folder: str = Field(min_length=1, max_length=64)
    path: MountPath | None = None
    subpath: Subpath = ""
    read_only: bool = False


class SessionCreate(BaseModel):
    """image: a name in the catalogue or any image reference. name: generated when absent.

    group: id or name of a resource group; left out: "default", or the first that one may use. priority: 0 to 100, the
    highest goes first; 50 when left out. time_limit_s: it ends by itself after so long. node: id or name of the only
    one to run on, for administrators. mounts: folders that it has, beside those with a dot before their names.
    """

    model_config = {"extra": "forbid"}

    image: str = Field(min_length=1, max_length=512, examples=["starter"])
    slots: SlotRequest
    name: SessionName | None = None
    env: dict[EnvName, EnvValue] = Field(default={}, max_length=200)
    project: str | None = Field(default=None, max_length=64)
    group: str | None = Field(default=None, max_length=64)
    priority: Priority | None = None
    time_limit_s: Annotated[int, Field(ge=60, le=10 * 365 * 86400)] | None = None
    node: str | None = Field(default=None, max_length=253)
    mounts: list[MountRequest] = Field(default=[], max_length=50)


class MountView(BaseModel):
    """A folder in a session. folder_id: null when it is gone. automatic: its name begins with a dot."""

    folder_id: FolderId | None
    folder_name: str
    path: str
    subpath: str
    read_only: bool
    automatic: bool


class SessionPriority(BaseModel):
    model_config = {"extra": "forbid"}

    priority: Priority


class SessionRename(BaseModel):
    model_config = {"extra": "forbid"}

    name: SessionName


class GroupRef(BaseModel):
    id: GroupId
    name: str


class OwnerRef(BaseModel):
    id: str
    email: str


class ProgressView(BaseModel):
    """fraction: 0..1 when known."""

    phase: str
    fraction: float | None
    text: str


class SessionView(BaseModel):
    """reason: why it waits, failed or ended. queue_position: 1 is next.

    idle_ends_at: when it ends because nobody seems to use it, from the warning on; null as long as that is far.
    """

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
    group: GroupRef
    priority: int
    time_limit_s: int | None
    slots: dict[str, int]
    node: str | None
    warnings: list[str]
    queue_position: int | None
    idle_ends_at: datetime | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class ContainerView(BaseModel):
    """name: what `?container=` and `--container` take: main, sub1, sub2 ... id: the engine's name of it has this.

    state: EXITED is one that ended and is not started again, GONE one of which nothing is left. exit_code: of its main
    process, when it is known.
    """

    id: ContainerId
    name: str
    role: ContainerRole
    index: int
    state: ContainerState
    node: str | None
    exit_code: int | None
    started_at: datetime | None
    ended_at: datetime | None


class SessionDetail(SessionView):
    """env: values are shown to the owner; others see ******** for each. containers: the main one first."""

    env: dict[str, str]
    apps: list[AppRef]
    mounts: list[MountView]
    containers: list[ContainerView]


class SessionQuery(PageQuery):
    """Which sessions to list. sort: name, state, created_at or image; the newest first when absent."""

    state: str = Field(default="all", max_length=20, description="live, ended, all, or a state")
    q: str | None = Field(default=None, max_length=100, description="part of name or image")
    owner: str = Field(default="me", max_length=254, description="me, all, or the id or e-mail of one person")
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
