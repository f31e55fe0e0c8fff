"""API types of keypairs, tokens and SSH keys."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from carrel.http.validation import says
from carrel.tenancy.schemas import PolicyRef, UserRef

Name = Annotated[
    str,
    StringConstraints(max_length=64, strip_whitespace=True),
    says("A name has at most 64 characters."),
]
NeededName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=64, strip_whitespace=True),
    says("A name has 1 to 64 characters."),
]


class KeypairCreate(BaseModel):
    name: Name = ""


class KeypairUpdate(BaseModel):
    """Omitted fields keep their values. rate_limit: requests per 15 minutes; null: the installation's default."""

    name: Name = ""
    active: bool = True
    rate_limit: int | None = Field(default=None, ge=1, le=1_000_000)


class KeypairView(BaseModel):
    """rate_limit: requests per 15 minutes; null: the installation's default. policy: its resource policy."""

    access_key: str
    name: str
    owner: UserRef
    active: bool
    rate_limit: int | None
    policy: PolicyRef
    created_at: datetime
    rotated_at: datetime | None
    last_used_at: datetime | None


class KeypairList(BaseModel):
    items: list[KeypairView]
    next_cursor: str | None = None


class KeypairCreated(BaseModel):
    """The secret is shown only once."""

    access_key: str
    secret_key: str
    name: str
    created_at: datetime


class TokenCreate(BaseModel):
    """scopes: actions ("session.read"), all actions of a kind ("session.*"), or "*". expires_in_days null: never."""

    name: NeededName
    scopes: list[str] = Field(min_length=1, max_length=100)
    expires_in_days: int | None = Field(default=90, ge=1, le=366)


class TokenView(BaseModel):
    id: str
    name: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


class TokenList(BaseModel):
    items: list[TokenView]
    next_cursor: str | None = None


class TokenCreated(TokenView):
    """token: shown only once; sent as `Authorization: Bearer <token>`."""

    token: str


class SshKeyAdd(BaseModel):
    """public_key omitted: a pair is generated and the private key is returned."""

    name: NeededName
    public_key: str | None = Field(default=None, max_length=16_384)


class SshKeyView(BaseModel):
    id: str
    name: str
    public_key: str
    fingerprint: str
    created_at: datetime


class SshKeyList(BaseModel):
    items: list[SshKeyView]
    next_cursor: str | None = None


class SshKeyAdded(SshKeyView):
    """private_key: of a generated pair; shown only once."""

    private_key: str | None


class SshCertify(BaseModel):
    """minutes: how long the certificate is valid."""

    public_key: str = Field(max_length=16_384)
    minutes: int = Field(default=8 * 60, ge=1, le=24 * 60)


class SshCertificate(BaseModel):
    """certificate: the content of a -cert.pub file."""

    certificate: str
    expires_at: datetime
