"""The session spec: the single shape of a session request, from the API through the database to launch and templates.

Add new fields here; docs/path.md lists what else they need. The constraints apply to API input only; values built in
code or read from the database are not validated.
"""

import re
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from carrel.core.units import LEAST, Slots
from carrel.http.validation import SLOT, EnvName, EnvValue, Locale, TimeZone, broken, says
from carrel.tables.dependencies import DependencyCondition, DependencyFailure
from carrel.tables.session_states import ClusterPlacement, OnFailure, Rights, SessionKind

NAME_PATTERN = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{2,62}[A-Za-z0-9_]$"
SessionName = Annotated[
    str,
    StringConstraints(pattern=NAME_PATTERN),
    says("A name has 4 to 64 letters, digits or _; between the first and the last also . and -."),
]
MountPath = Annotated[
    str,
    StringConstraints(pattern=r"^/?[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*/?$", max_length=512),
    says("A path in a session consists of names with letters, digits and _ . - separated by /."),
]
Subpath = Annotated[
    str,
    StringConstraints(pattern=r"^[^\x00]*$", max_length=1024),
    says("A directory of a folder is at most 1024 characters, relative to the folder."),
]
Description = Annotated[
    str,
    StringConstraints(pattern=r"^[^\x00]*$", max_length=500),
    says("A description has at most 500 characters."),
]
Priority = Annotated[int, Field(ge=0, le=100), says("A priority is a whole number from 0 to 100.")]
TimeLimit = Annotated[int, Field(ge=60, le=10 * 365 * 86400)]
AlternativeGroups = Annotated[tuple[Annotated[str, Field(max_length=64)], ...], Field(max_length=20)]


def _in_calendar(at: datetime) -> datetime:
    """Times near the ends of the calendar do not exist in all time zones."""
    if not 1900 <= at.year <= 9000:
        raise ValueError("not in the calendar")
    return at


StartTime = Annotated[
    AwareDatetime,
    AfterValidator(_in_calendar),
    says("An earliest start is a time with an offset, such as 2026-12-24T22:00:00Z, from 1900 to 9000."),
]
Retries = Annotated[int, Field(ge=0, le=100), says("The number of retries is a whole number from 0 to 100.")]
Argument = Annotated[
    str,
    StringConstraints(pattern=r"^[^\x00]*$", max_length=100_000),
    says("An argument of a command has at most 100,000 characters and no zero byte."),
]
MAIN_ROLE, SUB_ROLE = "main", "sub"
MOST_CONTAINERS = 256
ContainerCount = Annotated[
    int,
    Field(ge=1, le=MOST_CONTAINERS),
    says(f"A session has 1 to {MOST_CONTAINERS} containers."),
]
RoleName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z]([a-z-]{0,18}[a-z])?$"),
    says("A role has a name of 1 to 20 letters a-z, and - between them; numbers are added."),
]
Script = Annotated[
    str,
    StringConstraints(pattern=r"^[^\x00]*$", max_length=65_536),
    says("A bootstrap script has at most 65,536 characters and no zero byte."),
]
ShmBytes = Annotated[
    int,
    Field(ge=1 << 20, le=1 << 50),
    says("The size of shared memory is a whole number of bytes, at least 1048576 (1 MiB)."),
]
DiskBytes = Annotated[
    int,
    Field(ge=1 << 26, le=1 << 60),
    says("The disk of a session is a whole number of bytes, at least 67108864 (64 MiB)."),
]
StopSignal = Literal["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]
GraceS = Annotated[
    int, Field(ge=0, le=300), says("The grace period is a whole number of seconds from 0 to 300.")
]
_MAX_BIGINT = 2**62
MAX_ARRAY_INDEX = 999_999


Cpu = Annotated[
    int,
    Field(ge=LEAST["cpu"], le=_MAX_BIGINT, examples=[1000]),
    says("cpu is a whole number of millicores, at least 10; 1000 is one core."),
]
Mem = Annotated[
    int,
    Field(ge=LEAST["mem"], le=_MAX_BIGINT, examples=[1 << 30]),
    says("mem is a whole number of bytes, at least 4194304 (4 MiB)."),
]


def _any_slot(schema: dict[str, Any]) -> None:
    """cpu and mem by name, plus any accelerator slots."""
    schema |= {
        "additionalProperties": {"type": "integer", "minimum": 0},
        "examples": [{"cpu": 1000, "mem": 1 << 30}],
    }


_ACCELERATOR = re.compile(SLOT)


class SlotRequest(BaseModel):
    """cpu: millicores. mem: bytes. Both are required.

    Accelerators use the names from `GET /slot-kinds`, such as cuda.device (whole devices) or cuda.shares (thousandths
    of a device).
    """

    model_config = {"extra": "allow", "json_schema_extra": _any_slot}
    __pydantic_extra__: dict[
        str,
        Annotated[
            int,
            Field(ge=1, le=_MAX_BIGINT),
            says("An accelerator amount is a whole number of at least 1: devices, or thousandths of one."),
        ],
    ] = Field(init=False)

    cpu: Cpu
    mem: Mem

    @model_validator(mode="after")
    def _others_are_accelerators(self) -> Self:
        wrong = next((slot for slot in self.__pydantic_extra__ if not _ACCELERATOR.fullmatch(slot)), None)
        if wrong is not None:
            raise broken(
                f"{wrong[:60]} is not a slot. Use cpu, mem, or an accelerator such as cuda.device or cuda.shares."
            )
        return self


class _ReadAs:
    """For `Annotated`: validated by the model in the API, then a plain mapping."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            self._model.model_dump, handler.generate_schema(self._model)
        )


@dataclass(frozen=True, kw_only=True)
class MountRequest:
    """folder: id or name. path: mount point, absolute or relative to /home/work; default: /home/work/NAME. subpath:
    mount only this directory of the folder. read_only: mount without write access.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    folder: Annotated[str, Field(min_length=1, max_length=64)]
    path: MountPath | None = None
    subpath: Subpath = ""
    read_only: bool = False


@dataclass(frozen=True, kw_only=True)
class DependencyRequest:
    """session: id, unique prefix of it, or name; if no session has this name, that of an array. condition: how it, or
    the array, must end. array: the whole array that it names or belongs to.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    session: Annotated[str, Field(min_length=1, max_length=64)]
    condition: DependencyCondition = DependencyCondition.SUCCEEDED
    array: bool = False


@dataclass(frozen=True, kw_only=True)
class ClusterRole:
    """A group of containers of a cluster session, named NAME1, NAME2 ...; main is the main container.

    image, slots, shm_bytes: default: those of the session. command: what each runs, once, when all containers are up;
    default: it idles. env: besides that of the session.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    name: RoleName
    count: ContainerCount = 1
    image: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    slots: Annotated[Slots, _ReadAs(SlotRequest)] | None = None
    shm_bytes: ShmBytes | None = None
    command: Annotated[tuple[Argument, ...], Field(max_length=1000)] = ()
    env: Annotated[Mapping[EnvName, EnvValue], Field(max_length=200, json_schema_extra={"default": {}})] = (
        field(default_factory=dict)
    )


@dataclass(frozen=True, kw_only=True)
class ContainerRequest:
    """One container of a spec. number: within its role, from 1."""

    role: str
    number: int
    image: str
    slots: Slots
    shm_bytes: int | None
    command: tuple[str, ...]
    env: Mapping[str, str]

    @property
    def host(self) -> str:
        """Its name in the session's network."""
        return f"{self.role}{self.number}"


@dataclass(frozen=True, kw_only=True)
class ArrayRequest:
    """One session for each index from first to last. max_parallel: how many of them run at once; null: no limit."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    first: Annotated[int, Field(ge=0, le=MAX_ARRAY_INDEX)]
    last: Annotated[int, Field(ge=0, le=MAX_ARRAY_INDEX)]
    max_parallel: Annotated[int, Field(ge=1, le=MAX_ARRAY_INDEX)] | None = None

    @property
    def count(self) -> int:
        """The number of its sessions."""
        return self.last - self.first + 1


@dataclass(frozen=True, kw_only=True)
class SchedulingSpec:
    """The part of a spec that admission and the scheduler use; enough for a check.

    slots: of each container, in base units. project, group, node: id or name. alternative_groups: other groups that the
    session accepts, in order of preference; it starts in the first one that can take it, after `group`. containers: how
    many that are alike: main and sub1, sub2 ...; with roles, the number follows from them. roles: groups of containers
    that differ. placement, topology: of several containers. start_at: earliest start. rights: of the user inside.
    disk_bytes: what each container may write outside its folders; None: the default of the policy. after: the sessions
    that must end first. on_dependency_failure: once one of them has not ended as needed. array: of batch sessions; each
    has the other fields.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    slots: Annotated[Slots, _ReadAs(SlotRequest)]
    kind: Literal[SessionKind.INTERACTIVE, SessionKind.BATCH] = SessionKind.INTERACTIVE
    project: Annotated[str, Field(max_length=64)] | None = None
    group: Annotated[str, Field(max_length=64)] | None = None
    alternative_groups: AlternativeGroups = ()
    priority: Priority | None = None
    time_limit_s: TimeLimit | None = None
    start_at: StartTime | None = None
    rights: Rights = Rights.PLAIN
    disk_bytes: DiskBytes | None = None
    node: Annotated[str, Field(max_length=253)] | None = None
    mounts: Annotated[tuple[MountRequest, ...], Field(max_length=50)] = ()
    after: Annotated[tuple[DependencyRequest, ...], Field(max_length=50)] = ()
    on_dependency_failure: DependencyFailure = DependencyFailure.CANCEL
    containers: ContainerCount = 1
    roles: Annotated[tuple[ClusterRole, ...], Field(max_length=50)] = ()
    placement: ClusterPlacement = ClusterPlacement.SPREAD
    topology: Annotated[str, Field(min_length=1, max_length=317)] | None = None
    array: ArrayRequest | None = None

    @property
    def roles_in_order(self) -> tuple[ClusterRole, ...]:
        """The role of the main container, and those of the others."""
        main = next((role for role in self.roles if role.name == MAIN_ROLE), ClusterRole(name=MAIN_ROLE))
        if self.roles:
            return (main, *(role for role in self.roles if role.name != MAIN_ROLE))
        return (
            (main, ClusterRole(name=SUB_ROLE, count=self.containers - 1)) if self.containers > 1 else (main,)
        )

    @property
    def sizes(self) -> tuple[Slots, ...]:
        """The slots of each container, the main one first."""
        return tuple([role.slots or self.slots for role in self.roles_in_order for _ in range(role.count)])

    @property
    def mixed(self) -> tuple[Slots, ...]:
        """The slots of each container, if they differ; else empty."""
        sizes = self.sizes
        return sizes if any(one != sizes[0] for one in sizes[1:]) else ()


@dataclass(frozen=True, kw_only=True)
class SessionSpec(SchedulingSpec):
    """The requested session. After admission (`admission.admit`) names are resolved to ids and defaults and limits
    are applied.

    image: a name in the catalogue or a reference; "" for a check without an image. env: plain text in the API,
    encrypted by `environment.closed_spec` inside. command: main process of the main container of a batch session.
    retries: how often the command is repeated if it fails. on_failure: what a sub container that fails means for the
    others.

    bootstrap: script that runs once in each container before its command, and in an interactive session at its first
    start. shm_bytes: size of /dev/shm. workdir: absolute, or relative to the home. timezone, locale: for TZ and LANG.
    stop_signal, grace_s: how the main process is asked to end, and seconds until it is killed.
    """

    image: Annotated[str, Field(min_length=1, max_length=512, examples=["starter"])]
    name: SessionName | None = None
    description: Description = ""
    command: Annotated[tuple[Argument, ...], Field(max_length=1000)] = ()
    retries: Retries = 0
    on_failure: OnFailure = OnFailure.END
    bootstrap: Script = ""
    shm_bytes: ShmBytes | None = None
    workdir: MountPath | None = None
    timezone: TimeZone | None = None
    locale: Locale | None = None
    stop_signal: StopSignal | None = None
    grace_s: GraceS | None = None
    env: Annotated[Mapping[EnvName, EnvValue], Field(max_length=200, json_schema_extra={"default": {}})] = (
        field(default_factory=dict)
    )

    @property
    def container_requests(self) -> tuple[ContainerRequest, ...]:
        """What each container is to be, the main one first."""
        return tuple(
            [
                ContainerRequest(
                    role=role.name,
                    number=number,
                    image=role.image or self.image,
                    slots=role.slots or self.slots,
                    shm_bytes=role.shm_bytes or self.shm_bytes,
                    command=role.command or (self.command if role.name == MAIN_ROLE else ()),
                    env={**self.env, **role.env},
                )
                for role in self.roles_in_order
                for number in range(1, role.count + 1)
            ]
        )

    def to_json(self) -> dict[str, Any]:
        """The stored form, without defaults."""
        given = {name: value for name, value in asdict(self).items() if value != _DEFAULTS.get(name)}
        if self.start_at:
            given["start_at"] = self.start_at.isoformat()
        return given

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Load a stored spec, also of an earlier version; unknown fields are ignored."""
        known = {one.name for one in fields(cls)}
        given = {name: value for name, value in stored.items() if name in known}
        given["mounts"] = tuple(MountRequest(**each) for each in stored.get("mounts", ()))
        given["after"] = tuple(DependencyRequest(**each) for each in stored.get("after", ()))
        given["command"] = tuple(stored.get("command", ()))
        given["alternative_groups"] = tuple(stored.get("alternative_groups", ()))
        given["roles"] = tuple(
            ClusterRole(**{**each, "command": tuple(each.get("command", ()))})
            for each in stored.get("roles", ())
        )
        if "array" in stored:
            given["array"] = ArrayRequest(**stored["array"])
        if "start_at" in stored:
            given["start_at"] = datetime.fromisoformat(stored["start_at"])
        return cls(**given)


_DEFAULTS: Mapping[str, object] = {
    one.name: one.default_factory() if one.default_factory is not MISSING else one.default
    for one in fields(SessionSpec)
}
