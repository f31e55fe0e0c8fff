"""API types that all kinds of tenants share."""

import re
from enum import StrEnum
from ipaddress import ip_network
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from carrel.core.ids import DomainId, PolicyId, ProjectId, UserId
from carrel.http.validation import SLOT, Locale, TimeZone, says
from carrel.permissions.actions import Role

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def _one_line(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("control characters")
    return text


def _network(text: str) -> str:
    return str(ip_network(text.strip(), strict=False))


PersonName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=64, strip_whitespace=True),
    AfterValidator(_one_line),
    says("A name has 1 to 64 characters, on one line."),
]
PlaceName = Annotated[
    str,
    StringConstraints(pattern=r"^[^\W_](?:[\w. -]*[\w.])?$", max_length=64, strip_whitespace=True),
    says("A name has 1 to 64 letters, digits, _ . - and spaces, and begins with a letter or a digit."),
]
Description = Annotated[
    str,
    StringConstraints(max_length=500, pattern=r"^[^\x00]*$"),
    says("A description has at most 500 characters and no NUL."),
]
Email = Annotated[
    str,
    StringConstraints(
        pattern=r"^[^\s@<>()\[\],;:\"\\\x00-\x1f\x7f]{1,64}@[^\s@<>()\[\],;:\"\\\x00-\x1f\x7f]+$",
        max_length=254,
        strip_whitespace=True,
    ),
    says("An e-mail looks like ada@example.org: at most 64 characters before the @, 254 in all, no spaces."),
]
Network = Annotated[
    str,
    StringConstraints(max_length=64),
    AfterValidator(_network),
    says("An address is written 192.0.2.7 or 2001:db8::7, a network 192.0.2.0/24."),
]
Networks = Annotated[list[Network], Field(max_length=100)]
CeilingName = Annotated[
    str,
    StringConstraints(pattern=rf"^(?:sessions|{SLOT})$"),
    says("A limit is for cpu, mem, sessions, or an accelerator such as cuda.device or cuda.shares."),
]
Amount = Annotated[
    int,
    Field(ge=0, le=2**62),
    says("A limit is a whole number of at least 0 in the slot's base unit; omit the slot for no limit."),
]
Ceilings = Annotated[
    dict[CeilingName, Amount], Field(max_length=50, examples=[{"cpu": 64000, "mem": 1 << 38}])
]
Ref = Annotated[
    str,
    StringConstraints(min_length=1, max_length=254, pattern=r"^[^\x00]*$"),
    says("An id, a name or an e-mail has 1 to 254 characters."),
]


class SessionsChoice(StrEnum):
    """What happens to live sessions."""

    KEEP = "keep"
    END = "end"


class DomainRef(BaseModel):
    id: DomainId
    name: str


class ProjectRef(BaseModel):
    id: ProjectId
    name: str


class ProjectMembership(ProjectRef):
    """admin: whether the user administers it."""

    admin: bool


class UserRef(BaseModel):
    id: UserId
    email: str


class PolicyRef(BaseModel):
    id: PolicyId
    name: str


class Preferences(BaseModel):
    """
    Preferences of a user. null: the default of browser or installation. shell: for terminals, such as "zsh".
    notifications: of one's own sessions (the default), or of all that the user can see. timezone, locale: of new
    sessions.
    """

    model_config = {"extra": "forbid"}

    language: Literal["en", "ko", "ja"] | None = None
    theme: Literal["light", "dark", "auto"] | None = None
    notifications: Literal["own", "all"] | None = None
    shell: (
        Annotated[
            str,
            StringConstraints(pattern=r"^/?[A-Za-z0-9][A-Za-z0-9_./-]{0,63}$"),
            says("A shell is a command such as zsh, or a path such as /bin/zsh."),
        ]
        | None
    ) = None
    timezone: TimeZone | None = None
    locale: Locale | None = None


class UserProfile(BaseModel):
    id: UserId
    email: str
    name: str
    role: Role
    domain: DomainRef
    preferences: Preferences = Preferences()


class Trouble(BaseModel):
    """Why one item of a batch failed: the fields of a problem."""

    code: str
    detail: str
    hint: str = ""
    field: str | None = None
