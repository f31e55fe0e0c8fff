"""API types of identity providers."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from carrel.http.query import DECIMAL, QueryBool
from carrel.http.rules import says
from carrel.tenancy.schemas import DomainRef, ProjectRef, Ref

ProviderName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$"),
    says("A provider's name is part of addresses: 1 to 40 small letters, digits and -, no - at either end."),
]
_Group = Annotated[str, StringConstraints(min_length=1, max_length=1024, strip_whitespace=True)]
Settings = Annotated[dict[str, Any], Field(max_length=50)]


class ProviderKind(BaseModel):
    """redirects: people are sent there with their browser; otherwise they type name and password here.

    settings: JSON schema of what a provider of the kind is set up with; secrets are writeOnly.
    """

    kind: str
    title: str
    description: str
    redirects: bool
    settings: dict[str, Any]


class ProviderKindList(BaseModel):
    items: list[ProviderKind]
    next_cursor: str | None = None


class GroupRule(BaseModel):
    """What a group at the provider gives: a project, a role, or both.

    group: as the provider names it; of a directory the whole DN, or its first value (`staff` for
    `cn=staff,ou=groups,...`). project: id or name in the provider's domain.
    """

    model_config = ConfigDict(extra="forbid")

    group: _Group
    project: Ref | None = None
    admin: bool = Field(default=False, description="Whether they administer the project.")
    role: Literal["domain_admin", "superadmin"] | None = None


class GroupRuleView(BaseModel):
    """project: null too when it does not exist any more."""

    group: str
    project: ProjectRef | None
    admin: bool
    role: Literal["domain_admin", "superadmin"] | None


class ProviderCreate(BaseModel):
    """kind: as `GET /provider-kinds` names it. settings: as in its schema; omitted ones use defaults.

    domain: id or name; where people who come for the first time are made.
    """

    model_config = ConfigDict(extra="forbid")

    name: ProviderName
    kind: str = Field(max_length=30, pattern=r"^[a-z0-9_.-]+$")
    active: bool = True
    domain: Ref
    settings: Settings = {}
    mapping: list[GroupRule] = Field(default=[], max_length=500)


class ProviderUpdate(BaseModel):
    """Only given fields change; mapping is replaced completely. settings: given ones change; null resets one to its
    default. Secrets must be sent again when the provider moves to another server.
    """

    model_config = ConfigDict(extra="forbid")

    active: bool = True
    domain: Ref = ""
    settings: Settings = {}
    mapping: list[GroupRule] = Field(default=[], max_length=500)


class ProviderView(BaseModel):
    """settings: those that were given, without secrets. secrets: names of those that are set; they are never shown.

    server: where it is. redirect_uri: what to register at a provider that people are sent to. people: how many have
    signed in by it. sign_ins: how many are signed in by it now, which ends when it is switched off or removed.
    """

    id: str
    name: str
    kind: str
    active: bool
    domain: DomainRef
    settings: dict[str, Any]
    secrets: list[str]
    server: str
    mapping: list[GroupRuleView]
    redirect_uri: str | None
    people: int
    sign_ins: int
    created_at: datetime


class ProviderList(BaseModel):
    items: list[ProviderView]
    next_cursor: str | None = None


class ProviderTest(BaseModel):
    """login: somebody to search a directory for; without it, only the connection is tried."""

    model_config = ConfigDict(extra="forbid")

    login: str | None = Field(default=None, min_length=1, max_length=254)


class ProviderTestStep(BaseModel):
    """name: as its kind calls it; of OpenID Connect "discovery" or "keys", of LDAP "connection", "bind", ..."""

    name: str
    ok: bool
    sentence: str


class ProviderTestResult(BaseModel):
    """steps: in the order they were taken; the first that fails is the last."""

    ok: bool
    steps: list[ProviderTestStep]


class OfferedProvider(BaseModel):
    """For the sign-in page. start: where the button leads; null: the form takes what people have there."""

    name: str
    label: str
    kind: str
    start: str | None


class StartQuery(BaseModel):
    """return_to: the page to come back to. port, challenge: of a command line that waits on this machine.

    fresh: have the provider ask who it is, if that is longer ago than a dangerous change allows.
    """

    return_to: str = Field(default="/", max_length=2000)
    fresh: QueryBool = False
    port: Annotated[int, Field(ge=1024, le=65_535), DECIMAL] | None = None
    challenge: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9_-]{43}$", description="SHA-256 of the verifier, in base64url"
    )


class CallbackQuery(BaseModel):
    """What an OpenID provider sends back."""

    state: str = Field(default="", max_length=200)
    code: str = Field(default="", max_length=8000)
    iss: str = Field(default="", max_length=1024)
    error: str = Field(default="", max_length=200)


class Exchange(BaseModel):
    """code: as it came to the waiting command line. verifier: what its challenge was made from."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(max_length=200)
    verifier: str = Field(min_length=43, max_length=128, pattern=r"^[A-Za-z0-9._~-]+$")
