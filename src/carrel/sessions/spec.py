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
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import CoreSchema, core_schema

from carrel.core.units import LEAST, Slots
from carrel.http.rules import EnvName, EnvValue, Locale, TimeZone, broken, says
from carrel.tables.session_states import SessionKind
from carrel.tenancy.schemas import SLOT

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
Retries = Annotated[int, Field(ge=0, le=100), says("The number of retries is a whole number from 0 to 100.")]
Argument = Annotated[
    str,
    StringConstraints(pattern=r"^[^\x00]*$", max_length=100_000),
    says("An argument of a command has at most 100,000 characters and no zero byte."),
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
StopSignal = Literal["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]
GraceS = Annotated[
    int, Field(ge=0, le=300), says("The grace period is a whole number of seconds from 0 to 300.")
]
_MAX_BIGINT = 2**62


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

    cpu: Annotated[
        int,
        Field(ge=LEAST["cpu"], le=_MAX_BIGINT, examples=[1000]),
        says("cpu is a whole number of millicores, at least 10; 1000 is one core."),
    ]
    mem: Annotated[
        int,
        Field(ge=LEAST["mem"], le=_MAX_BIGINT, examples=[1 << 30]),
        says("mem is a whole number of bytes, at least 4194304 (4 MiB)."),
    ]

    @model_validator(mode="after")
    def _others_are_accelerators(self) -> Self:
        if wrong := next(
            (slot for slot in self.__pydantic_extra__ if not _ACCELERATOR.fullmatch(slot)), None
        ):
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
class SchedulingSpec:
    """The part of a spec that admission and the scheduler use; enough for a check.

    slots: of each container, in base units. project, group, node: id or name. containers: how many; the API creates
    sessions with one. start_at: earliest start.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    slots: Annotated[Slots, _ReadAs(SlotRequest)]
    kind: Literal[SessionKind.INTERACTIVE, SessionKind.BATCH] = SessionKind.INTERACTIVE
    project: Annotated[str, Field(max_length=64)] | None = None
    group: Annotated[str, Field(max_length=64)] | None = None
    priority: Priority | None = None
    time_limit_s: TimeLimit | None = None
    start_at: AwareDatetime | None = None
    node: Annotated[str, Field(max_length=253)] | None = None
    mounts: Annotated[tuple[MountRequest, ...], Field(max_length=50)] = ()
    containers: Annotated[SkipJsonSchema[int], Field(ge=1, le=1)] = 1


@dataclass(frozen=True, kw_only=True)
class SessionSpec(SchedulingSpec):
    """The requested session. After admission (`admission.admit`) names are resolved to ids and defaults and limits
    are applied.

    image: a name in the catalogue or a reference; "" for a check without an image. env: plain text in the API,
    encrypted by `environment.closed` inside. command: main process of a batch session. retries: how often the command
    is repeated if it fails.

    bootstrap: script that runs once before the command, and in an interactive session at its first start. shm_bytes:
    size of /dev/shm. workdir: absolute, or relative to the home. timezone, locale: for TZ and LANG. stop_signal,
    grace_s: how the main process is asked to end, and seconds until it is killed.
    """

    image: Annotated[str, Field(min_length=1, max_length=512, examples=["starter"])]
    name: SessionName | None = None
    description: Description = ""
    command: Annotated[tuple[Argument, ...], Field(max_length=1000)] = ()
    retries: Retries = 0
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
        given["command"] = tuple(stored.get("command", ()))
        if "start_at" in stored:
            given["start_at"] = datetime.fromisoformat(stored["start_at"])
        return cls(**given)


_DEFAULTS: Mapping[str, object] = {
    one.name: one.default_factory() if one.default_factory is not MISSING else one.default
    for one in fields(SessionSpec)
}
