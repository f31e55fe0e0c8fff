"""Wire types of resource policies, and the shape of what is kept of their limits.

A limit is a whole number or "unlimited", which is always written out: it is never null, and never missing.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationInfo, field_validator

from carrel.core.ids import PolicyId
from carrel.http.paging import PageQuery
from carrel.http.rules import says
from carrel.limits.model import PolicyKind
from carrel.tenancy.schemas import Description, PlaceName, PolicyRef, Ref

_SENTENCE = 'A limit is a whole number from {least} on, or "unlimited".'
Most = Annotated[
    Annotated[int, Field(ge=0, le=2**62)] | Literal["unlimited"], says(_SENTENCE.format(least=0))
]
MostFromOne = Annotated[
    Annotated[int, Field(ge=1, le=2**31 - 1)] | Literal["unlimited"], says(_SENTENCE.format(least=1))
]
Priority = Annotated[
    int, Field(ge=0, le=100), says("The highest priority is a whole number from 0 to 100; 50 is everybody's.")
]
_Slot = Annotated[
    str,
    StringConstraints(pattern=r"^(?:\*|[a-z][a-z0-9_.-]{0,62})$"),
    says("A slot is named like cpu, mem or cuda.device; * stands for all that are not named."),
]
SlotLimits = Annotated[
    dict[_Slot, Most],
    Field(max_length=50, examples=[{"cpu": 64000, "mem": 1 << 38, "*": "unlimited"}]),
]


class _Limits(BaseModel):
    model_config = ConfigDict(extra="forbid")


class KeypairLimits(_Limits):
    """What holds for everything done by one keypair, or by one person without any.

    slots, pending_slots: slot -> most that its sessions may hold together, or wait for; "*": any slot that is not
    named. A slot that is neither named nor under "*" cannot be used at all. sessions, pending_sessions: how many
    at once. containers_per_session, lifetime_s: of each session. max_priority: the highest that it may ask for.
    """

    slots: SlotLimits
    sessions: Most
    pending_sessions: Most
    pending_slots: SlotLimits
    containers_per_session: MostFromOne
    lifetime_s: MostFromOne
    max_priority: Priority


class UserLimits(_Limits):
    """What holds for one person, by whichever keypair. slots: as those of a keypair. folders: that they own."""

    slots: SlotLimits
    sessions: Most
    folders: Most
    folder_bytes: Most


class ProjectLimits(_Limits):
    """What holds for the folders of one project; what its sessions may hold is its ceiling."""

    folders: Most
    folder_bytes: Most


AnyLimits = KeypairLimits | UserLimits | ProjectLimits
LIMITS: dict[PolicyKind, type[AnyLimits]] = {
    PolicyKind.KEYPAIR: KeypairLimits,
    PolicyKind.USER: UserLimits,
    PolicyKind.PROJECT: ProjectLimits,
}


class LimitsChange(_Limits):
    """Single limits, of those that the policy's kind has. What is left out stays; slots are replaced as a whole."""

    slots: SlotLimits = {}
    sessions: Most = 0
    pending_sessions: Most = 0
    pending_slots: SlotLimits = {}
    containers_per_session: MostFromOne = 1
    lifetime_s: MostFromOne = 1
    max_priority: Priority = 0
    folders: Most = 0
    folder_bytes: Most = 0

    def given(self) -> dict[str, Any]:
        """What is to change."""
        return self.model_dump(exclude_unset=True)


class PolicyCreate(BaseModel):
    """limits: all of the kind's. Its name is unique among those of its kind, whatever the case of its letters."""

    model_config = ConfigDict(extra="forbid")

    kind: PolicyKind
    name: PlaceName
    description: Description = ""
    limits: AnyLimits

    @field_validator("limits", mode="before")
    @classmethod
    def _of_its_kind(cls, value: object, info: ValidationInfo) -> object:
        kind = info.data.get("kind")
        return LIMITS[kind].model_validate(value) if kind else value


class PolicyUpdate(BaseModel):
    """What is left out stays. A change of limits holds from the scheduler's next decision on; nothing is ended."""

    model_config = ConfigDict(extra="forbid")

    name: PlaceName = ""
    description: Description = ""
    limits: LimitsChange = LimitsChange()


class PolicyCopy(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: PlaceName


_Holders = Annotated[list[Ref], Field(max_length=500)]


class PolicyAssign(BaseModel):
    """Who gets the policy: what they had before holds no more. Those who have it and are not named keep it.

    keypairs: access keys. users, sign_ins: ids or e-mails. projects: ids or names. A policy for keypairs is given to
    keypairs and sign_ins, the latter for what people do without a keypair, and for their new keypairs.
    """

    model_config = ConfigDict(extra="forbid")

    keypairs: _Holders = []
    sign_ins: _Holders = []
    users: _Holders = []
    projects: _Holders = []


class PolicyHolders(BaseModel):
    """How many have the policy, of those that you administer."""

    keypairs: int
    sign_ins: int
    users: int
    projects: int


class PolicyView(BaseModel):
    """default: what everybody has until somebody says otherwise; it stays."""

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
    """scope, id, label: what of yours it limits; a sign-in is what you do without a keypair."""

    scope: Literal["sign_in", "keypair", "user", "project"]
    id: str
    label: str
    policy: PolicyRef
    limits: AnyLimits


class OwnPolicyList(BaseModel):
    items: list[OwnPolicy]
