"""API types of identity providers."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from carrel.http.query import DECIMAL, QueryBool
from carrel.http.validation import says
from carrel.tenancy.schemas import DomainRef, ProjectRef, Ref

ProviderName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$"),
    says(
        "A provider's name has 1 to 40 lowercase letters, digits and hyphens, with no hyphen at the start or end."
    ),
]
_Group = Annotated[str, StringConstraints(min_length=1, max_length=1024, strip_whitespace=True)]
Settings = Annotated[dict[str, Any], Field(max_length=50)]


class ProviderKind(BaseModel):
    """redirects: browsers are redirected to the provider; otherwise users enter name and password here.

    settings: JSON schema of the settings of this kind; secrets are writeOnly.
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
    """Grants of a group at the provider: a project, a role, or both.

    group: its name at the provider; for a directory the full DN, or its first value (`staff` for
    `cn=staff,ou=groups,...`). project: id or name in the provider's domain.
    """

    model_config = ConfigDict(extra="forbid")

    group: _Group
    project: Ref | None = None
    admin: bool = Field(default=False, description="Whether they administer the project.")
    role: Literal["domain_admin", "superadmin"] | None = None


class GroupRuleView(BaseModel):
    """project: null also if it no longer exists."""

    group: str
    project: ProjectRef | None
    admin: bool
    role: Literal["domain_admin", "superadmin"] | None


class ProviderCreate(BaseModel):
    """kind: as in `GET /provider-kinds`. settings: as in its schema; omitted ones use defaults.

    domain: id or name; where new users are created.
    """

    model_config = ConfigDict(extra="forbid")

    name: ProviderName
    kind: str = Field(max_length=30, pattern=r"^[a-z0-9_.-]+$")
    active: bool = True
    domain: Ref
    settings: Settings = {}
    mapping: list[GroupRule] = Field(default=[], max_length=500)


class ProviderUpdate(BaseModel):
    """Omitted fields keep their values; mapping is replaced completely.

    settings: given ones change; null resets one to its default. Secrets must be sent again when the provider moves to
    another server.
    """

    model_config = ConfigDict(extra="forbid")

    active: bool = True
    domain: Ref = ""
    settings: Settings = {}
    mapping: list[GroupRule] = Field(default=[], max_length=500)


class ProviderView(BaseModel):
    """settings: the given ones, without secrets. secrets: names of the secrets that are set; values are never shown.

    server: its address. redirect_uri: to register at a provider that redirects. people: number of users who have signed
    in by it. sign_ins: number of active sign-ins by it, which end when it is disabled or removed.
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
    """login: a user to look up in a directory; omitted: only the connection is tested."""

    model_config = ConfigDict(extra="forbid")

    login: str | None = Field(default=None, min_length=1, max_length=254)


class ProviderTestStep(BaseModel):
    """name: depends on the kind; for OpenID Connect "discovery" or "keys", for LDAP "connection", "bind", ..."""

    name: str
    ok: bool
    sentence: str


class ProviderTestResult(BaseModel):
    """steps: in execution order; the first failed one is the last."""

    ok: bool
    steps: list[ProviderTestStep]


class OfferedProvider(BaseModel):
    """A provider on the sign-in page. start: target of its button; null: users enter their credentials in the form."""

    name: str
    label: str
    kind: str
    start: str | None


class StartQuery(BaseModel):
    """return_to: page to return to. port, challenge: of a command line that waits on this machine.

    fresh: require re-authentication at the provider if the last one is too old for dangerous changes.
    """

    return_to: str = Field(default="/", max_length=2000)
    fresh: QueryBool = False
    port: Annotated[int, Field(ge=1024, le=65_535), DECIMAL] | None = None
    challenge: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9_-]{43}$", description="SHA-256 of the verifier, in base64url"
    )


class CallbackQuery(BaseModel):
    """The parameters of an OpenID provider's redirect."""

    state: str = Field(default="", max_length=200)
    code: str = Field(default="", max_length=8000)
    iss: str = Field(default="", max_length=1024)
    error: str = Field(default="", max_length=200)


class Exchange(BaseModel):
    """code: as received by the waiting command line. verifier: of its challenge."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(max_length=200)
    verifier: str = Field(min_length=43, max_length=128, pattern=r"^[A-Za-z0-9._~-]+$")
