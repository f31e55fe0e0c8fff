"""API types of resource policies, and the stored shape of their limits.

A limit is a whole number or "unlimited", which is always explicit: never null and never missing.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
)

from carrel.core.errors import Invalid
from carrel.core.ids import PolicyId
from carrel.http.paging import PageQuery
from carrel.http.validation import SLOT, broken, says
from carrel.tables.limits import PolicyKind
from carrel.tables.session_states import Rights
from carrel.tenancy.schemas import Description, PlaceName, PolicyRef, Ref

_SENTENCE = 'A limit is a whole number of at least {least}, or "unlimited".'
Most = Annotated[
    Annotated[int, Field(ge=0, le=2**62)] | Literal["unlimited"], says(_SENTENCE.format(least=0))
]
MostFromOne = Annotated[
    Annotated[int, Field(ge=1, le=2**31 - 1)] | Literal["unlimited"], says(_SENTENCE.format(least=1))
]
Priority = Annotated[
    int, Field(ge=0, le=100), says("The highest priority is a whole number from 0 to 100; 50 is the default.")
]
_Slot = Annotated[
    str,
    StringConstraints(pattern=r"^(?:\*|[a-z][a-z0-9_.-]{0,62})$"),
    says("A slot is named like cpu, mem or cuda.device; * stands for all other slots."),
]
SlotLimits = Annotated[
    dict[_Slot, Most],
    Field(max_length=50, examples=[{"cpu": 64000, "mem": 1 << 38, "*": "unlimited"}]),
]
_KNOWN_SLOT = re.compile(rf"\*|{SLOT}")


def _that_there_can_be(slots: dict[str, Any]) -> dict[str, Any]:
    """Validates input, not stored values: a misspelt name would limit nothing."""
    if wrong := next((slot for slot in slots if not _KNOWN_SLOT.fullmatch(slot)), None):
        raise broken(
            f"{wrong} is not a slot. Use cpu, mem, an accelerator such as cuda.device or cuda.shares,"
            " or * for all other slots."
        )
    return slots


WrittenSlots = Annotated[SlotLimits, AfterValidator(_that_there_can_be)]
_HostName = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[^\x00]*$")]
StorageHosts = Annotated[
    Annotated[list[_HostName], Field(max_length=200)] | Literal["unlimited"],
    says('The storage hosts are a list of names, or "unlimited".'),
]


class _Limits(BaseModel):
    model_config = ConfigDict(extra="forbid")


_Measure = Annotated[str, StringConstraints(pattern=r"^(?:cpu|mem|accelerator|accelerator_mem)$")]
_Percent = Annotated[int, Field(ge=1, le=100)]


class IdleUse(_Limits):
    """A session is idle if it used less than each of these percentages of its slots in every minute of the window.
    below: for cpu, mem, accelerator, accelerator_mem (means of a container's devices, the highest of its containers);
    slots that a session does not hold are ignored. A minute without data counts as busy; one in which only the use of
    accelerators is unknown is left out. grace_s: time after the start that is not checked.
    """

    window_s: Annotated[int, Field(ge=120, le=86_400)]
    grace_s: Annotated[int, Field(ge=0, le=30 * 86_400)]
    below: Annotated[dict[_Measure, _Percent], Field(min_length=1, examples=[{"cpu": 5, "accelerator": 5}])]


IdleTimeout = Annotated[
    Annotated[int, Field(ge=60, le=2**31 - 1)] | Literal["unlimited"],
    says('An idle timeout is a whole number of seconds, at least 60, or "unlimited".'),
]
IdleUseLimit = Annotated[
    IdleUse | Literal["unlimited"],
    says(
        "An idle rule has a window of 120 to 86400 seconds, a grace period of 0 to 2592000 seconds, and thresholds of"
        ' 1 to 100 percent for cpu, mem, accelerator or accelerator_mem; or it is "unlimited".'
    ),
]


LogBytes = Annotated[
    Annotated[int, Field(ge=1 << 20, le=2**62)] | Literal["unlimited"],
    says('A log size is a whole number of bytes, at least 1048576, or "unlimited".'),
]


DiskBytes = Annotated[
    Annotated[int, Field(ge=1 << 26, le=2**60)] | Literal["unlimited"],
    says('The disk of a session is a whole number of bytes, at least 67108864, or "unlimited".'),
]
DEFAULT_DISK = 20 << 30


class KeypairLimits(_Limits):
    """Limits of one keypair, or of one user without a keypair.

    slots, pending_slots: slot -> most that its running, or pending, sessions may total; "*": any other slot. A slot
    that is neither named nor covered by "*" cannot be used. sessions, pending_sessions: most at once.
    containers_per_session, lifetime_s: of each session. idle_timeout_s: a session ends after this long without app,
    terminal or command traffic. idle_use: a session with usage below these thresholds ends. max_priority: the highest
    priority it may request. storage_hosts: names of the hosts on which it may create folders, among those open to its
    owner. log_bytes: kept of the log of each container, compressed: its beginning and its end. max_rights: the most
    that its sessions may have inside, plain or root. max_disk_bytes: the most that each container may be allowed to
    write outside its folders; default_disk_bytes: for sessions that request nothing.
    """

    slots: SlotLimits
    sessions: Most
    pending_sessions: Most
    pending_slots: SlotLimits
    containers_per_session: MostFromOne
    lifetime_s: MostFromOne
    idle_timeout_s: IdleTimeout
    idle_use: IdleUseLimit
    max_priority: Priority
    storage_hosts: StorageHosts
    log_bytes: LogBytes
    max_rights: Rights = Rights.PLAIN
    default_disk_bytes: DiskBytes = DEFAULT_DISK
    max_disk_bytes: DiskBytes = "unlimited"


class UserLimits(_Limits):
    """Limits of one user over all keypairs. slots: as for a keypair. folders: most that they may own.
    environment_bytes: what the versions of their environments may add in total to the images below.
    """

    slots: SlotLimits
    sessions: Most
    folders: Most
    folder_bytes: Most
    environment_bytes: Most = "unlimited"


class ProjectLimits(_Limits):
    """Limits of the folders and environments of one project, and max_rights: the most that its sessions may have
    inside, if the policies of their keypairs allow it. Its sessions are further limited by its ceilings.
    """

    folders: Most
    folder_bytes: Most
    environment_bytes: Most = "unlimited"
    max_rights: Rights = Rights.ROOT


AnyLimits = KeypairLimits | UserLimits | ProjectLimits
LIMITS: dict[PolicyKind, type[AnyLimits]] = {
    PolicyKind.KEYPAIR: KeypairLimits,
    PolicyKind.USER: UserLimits,
    PolicyKind.PROJECT: ProjectLimits,
}


class LimitsChange(_Limits):
    """Limits to change. Omitted limits keep their values; slots, lists and idle_use are replaced completely."""

    slots: WrittenSlots = {}
    sessions: Most = 0
    pending_sessions: Most = 0
    pending_slots: WrittenSlots = {}
    containers_per_session: MostFromOne = 1
    lifetime_s: MostFromOne = 1
    idle_timeout_s: IdleTimeout = 60
    idle_use: IdleUseLimit = "unlimited"
    max_priority: Priority = 0
    storage_hosts: StorageHosts = []
    log_bytes: LogBytes = "unlimited"
    max_rights: Rights = Rights.PLAIN
    default_disk_bytes: DiskBytes = DEFAULT_DISK
    max_disk_bytes: DiskBytes = "unlimited"
    folders: Most = 0
    folder_bytes: Most = 0
    environment_bytes: Most = 0

    def given(self) -> dict[str, Any]:
        """The limits to change."""
        return self.model_dump(exclude_unset=True)


def require_limits_of(kind: PolicyKind, named: Iterable[str]) -> None:
    """Check that policies of the kind have all of these limits. Raises: Invalid."""
    known = LIMITS[kind].model_fields
    for limit in named:
        if limit not in known:
            raise Invalid(
                "policy.no_such_limit",
                f"Policies for {kind}s have no limit {limit}.",
                hint="It has " + ", ".join(known) + ".",
                field=f"limits.{limit}",
            )


class PolicyCreate(BaseModel):
    """limits: all limits of the kind. name: unique within its kind, case-insensitive."""

    model_config = ConfigDict(extra="forbid")

    kind: PolicyKind
    name: PlaceName
    description: Description = ""
    limits: AnyLimits

    @field_validator("limits", mode="before")
    @classmethod
    def _of_its_kind(cls, value: object, info: ValidationInfo) -> object:
        kind = info.data.get("kind")
        if kind and isinstance(value, dict):
            require_limits_of(kind, value)
            LimitsChange.model_validate(value)
        return LIMITS[kind].model_validate(value) if kind else value


class PolicyUpdate(BaseModel):
    """Omitted fields keep their values. Changed limits take effect at the next scheduling decision; no session ends."""

    model_config = ConfigDict(extra="forbid")

    name: PlaceName = ""
    description: Description = ""
    limits: LimitsChange = LimitsChange()


class PolicyCopy(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: PlaceName


_Holders = Annotated[list[Ref], Field(max_length=500)]


class PolicyAssign(BaseModel):
    """The new holders of the policy, replacing their current one. Existing holders keep it.

    keypairs: access keys. users, sign_ins: ids or e-mails. projects: ids or names. A policy for keypairs is given to
    keypairs and sign_ins, the latter for use without a keypair, and as the default for new keypairs.
    """

    model_config = ConfigDict(extra="forbid")

    keypairs: _Holders = []
    sign_ins: _Holders = []
    users: _Holders = []
    projects: _Holders = []


class PolicyHolders(BaseModel):
    """Number of holders, among those that you administer."""

    keypairs: int
    sign_ins: int
    users: int
    projects: int


class PolicyView(BaseModel):
    """default: the policy assigned by default; it cannot be deleted."""

    id: PolicyId
    kind: PolicyKind
    name: str
    description: str
    limits: AnyLimits
    used_by: PolicyHolders
    default: bool
    created_at: datetime


class PolicyQuery(PageQuery):
    """Which policies to list. sort: name or created_at."""

    kind: PolicyKind | None = None
    q: str | None = Field(default=None, max_length=100, description="part of the name")


class PolicyList(BaseModel):
    items: list[PolicyView]
    next_cursor: str | None


class OwnPolicy(BaseModel):
    """scope, id, label: what it limits; a sign-in is use without a keypair."""

    scope: Literal["sign_in", "keypair", "user", "project"]
    id: str
    label: str
    policy: PolicyRef
    limits: AnyLimits


class OwnPolicyList(BaseModel):
    items: list[OwnPolicy]
