"""Wire types of tenants."""

from pydantic import BaseModel

from carrel.core.ids import DomainId, ProjectId, UserId
from carrel.policy.actions import Role


class DomainRef(BaseModel):
    id: DomainId
    name: str


class ProjectRef(BaseModel):
    id: ProjectId
    name: str


class UserRef(BaseModel):
    id: UserId
    email: str


class UserProfile(BaseModel):
    id: UserId
    email: str
    name: str
    role: Role
    domain: DomainRef
