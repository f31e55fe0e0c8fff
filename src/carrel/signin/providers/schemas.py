"""Wire types of identity providers, and the shape of what is kept of their settings."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from carrel.http.query import DECIMAL, QueryBool
from carrel.http.rules import says
from carrel.site.schemas import EmailDomain
from carrel.tenancy.schemas import DomainRef, ProjectRef, Ref

ProviderName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$"),
    says("A provider's name is part of addresses: 1 to 40 small letters, digits and -, no - at either end."),
]
_Word = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[\x21-\x7e]+$")]
_Text = Annotated[str, StringConstraints(max_length=1024, strip_whitespace=True)]
_Given = Annotated[str, StringConstraints(min_length=1, max_length=1024, strip_whitespace=True)]
_Pem = Annotated[str, StringConstraints(max_length=100_000)]


class ProviderKind(StrEnum):
    OIDC = "oidc"
    LDAP = "ldap"


class LdapTls(StrEnum):
    """NONE: in the open, for a server on this machine. STARTTLS: begins in the open. TLS: ldaps."""

    NONE = "none"
    STARTTLS = "starttls"
    TLS = "tls"


class _Options(BaseModel):
    """What every kind of provider has."""

    model_config = ConfigDict(extra="forbid")

    label: str = Field(
        default="", max_length=64, description="What the sign-in page calls it; empty: its name."
    )
    create_users: bool = Field(
        default=True, description="Whether people who come for the first time get an account."
    )
    trusted_email_domains: list[EmailDomain] = Field(
        default=[],
        max_length=100,
        description="Where this provider decides whose an e-mail is: an account "
        "that has the e-mail already is given to whoever the provider says has it.",
    )
    may_appoint_superadmins: bool = Field(
        default=False, description="Whether its groups may make superadmins."
    )
    ca: _Pem = Field(
        default="", description="Certificates (PEM) to trust besides those that this machine trusts."
    )


class OidcOptions(_Options):
    """An OpenID provider."""

    issuer: Annotated[
        str,
        StringConstraints(pattern=r"^https?://[^\s?#@]+$", max_length=1024, strip_whitespace=True),
        says("An issuer is an address such as https://login.example.org, without ? and #."),
    ] = Field(examples=["https://login.example.org/realms/staff"])
    client_id: _Given = Field(examples=["carrel"])
    scopes: list[_Word] = Field(default=["openid", "email", "profile"], max_length=20)
    email_claim: _Word = "email"
    name_claim: _Word = "name"
    groups_claim: _Word = "groups"
    require_verified_email: bool = Field(
        default=True, description="Whether the provider must say of the e-mail that it is verified."
    )
    sign_in_confirms: bool = Field(
        default=False,
        description="Whether coming from the provider proves who it is where it does not say when "
        "the person proved it (`auth_time`), so that dangerous changes are open for 15 minutes.",
    )
    trusted_factors: list[_Word] = Field(
        default=[],
        max_length=20,
        examples=[["mfa"]],
        description="Values of `amr` or `acr` that stand for a "
        "second factor at the provider; whoever comes with one is not asked for another here.",
    )


class LdapOptions(_Options):
    """A directory. In filters {login} is what was typed, {dn} the person's name in the directory."""

    host: Annotated[
        str,
        StringConstraints(pattern=r"^[A-Za-z0-9.:_-]+$", max_length=253, strip_whitespace=True),
        says("A directory's host is a name or an address, such as ldap.example.org."),
    ] = Field(examples=["ldap.example.org"])
    port: int | None = Field(default=None, ge=1, le=65_535, description="null: 389, or 636 for TLS.")
    tls: LdapTls = LdapTls.STARTTLS
    bind_dn: _Text = Field(default="", description="Who searches the directory; empty: nobody in particular.")
    user_base: _Given = Field(examples=["ou=people,dc=example,dc=org"])
    user_filter: _Given = "(&(objectClass=person)(|(uid={login})(mail={login})))"
    subject_attribute: _Word = Field(
        default="entryUUID", description="What never changes and is never given to somebody else."
    )
    email_attribute: _Word = "mail"
    name_attribute: _Word = "cn"
    groups_attribute: _Word = Field(
        default="memberOf", description="Holds a person's groups, where it exists."
    )
    group_base: _Text = Field(default="", description="Where groups are searched for; empty: they are not.")
    group_filter: _Given = "(member={dn})"


def options_of(kind: str, values: Mapping[str, Any]) -> OidcOptions | LdapOptions:
    """The settings of a provider as they are kept; what an earlier version did not know is as usual."""
    return (OidcOptions if kind == ProviderKind.OIDC else LdapOptions).model_validate(values)


class GroupRule(BaseModel):
    """What a group at the provider gives: a project, a role, or both.

    group: as the provider names it; of a directory the whole DN, or its first value (`staff` for
    `cn=staff,ou=groups,...`). project: id or name in the provider's domain.
    """

    model_config = ConfigDict(extra="forbid")

    group: _Given
    project: Ref | None = None
    admin: bool = Field(default=False, description="Whether they administer the project.")
    role: Literal["domain_admin", "superadmin"] | None = None


class GroupRuleView(BaseModel):
    """project: null too when it does not exist any more."""

    group: str
    project: ProjectRef | None
    admin: bool
    role: Literal["domain_admin", "superadmin"] | None


_Secret = Annotated[str, StringConstraints(min_length=1, max_length=1024)]


class ProviderCreate(BaseModel):
    """Exactly one of oidc and ldap. secret: the client's secret, or the password of bind_dn; never shown again.

    domain: id or name; where people who come for the first time are made.
    """

    model_config = ConfigDict(extra="forbid")

    name: ProviderName
    active: bool = True
    domain: Ref
    oidc: OidcOptions | None = None
    ldap: LdapOptions | None = None
    secret: _Secret | None = None
    mapping: list[GroupRule] = Field(default=[], max_length=500)


class ProviderUpdate(BaseModel):
    """Only what is present changes; oidc, ldap and mapping are replaced as a whole. secret null: taken away."""

    model_config = ConfigDict(extra="forbid")

    active: bool = True
    domain: Ref = ""
    oidc: OidcOptions | None = None
    ldap: LdapOptions | None = None
    secret: _Secret | None = None
    mapping: list[GroupRule] = Field(default=[], max_length=500)


class ProviderView(BaseModel):
    """redirect_uri: what to register at an OpenID provider. people: how many have signed in by it.

    sign_ins: how many are signed in by it now, which ends when it is switched off or removed.
    """

    id: str
    name: str
    kind: ProviderKind
    active: bool
    domain: DomainRef
    oidc: OidcOptions | None
    ldap: LdapOptions | None
    secret_set: bool
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
    """name: "discovery" or "keys"; of a directory "connection", "bind", "search" or "person"."""

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
    kind: ProviderKind
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
