"""Wire types of people."""

from datetime import datetime

from pydantic import BaseModel, Field

from carrel.core.ids import DomainId, ProjectId, UserId
from carrel.policy.actions import Role


class LoginRequest(BaseModel):
    email: str = Field(max_length=254, examples=["ada@example.org"])
    password: str = Field(max_length=1024)


class DomainRef(BaseModel):
    id: DomainId
    name: str


class ProjectRef(BaseModel):
    id: ProjectId
    name: str


class UserProfile(BaseModel):
    id: UserId
    email: str
    name: str
    role: Role
    domain: DomainRef


class Me(BaseModel):
    """csrf_token: to be repeated in X-Carrel-CSRF by pages; null when a keypair was used."""

    user: UserProfile
    projects: list[ProjectRef]
    csrf_token: str | None


class KeypairView(BaseModel):
    access_key: str
    created_at: datetime
    last_used_at: datetime | None
    active: bool


class KeypairList(BaseModel):
    items: list[KeypairView]
    next_cursor: str | None = None


class KeypairCreated(BaseModel):
    """The secret is shown this once."""

    access_key: str
    secret_key: str
    created_at: datetime
