"""Wire types of signing in."""

from pydantic import BaseModel, Field

from carrel.tenancy.schemas import ProjectRef, UserProfile


class LoginRequest(BaseModel):
    email: str = Field(max_length=254, examples=["ada@example.org"])
    password: str = Field(max_length=1024)


class ProjectMembership(ProjectRef):
    """admin: whether you administer it."""

    admin: bool


class Me(BaseModel):
    """csrf_token: to be repeated in X-Carrel-CSRF by pages; null when a keypair or token was used.

    pending: what the sign-in still needs: "factor", "password" or "enrol"; null when it is complete.
    actions: what you may do, each with how far: "own", "project", "domain" or "all".
    """

    user: UserProfile
    projects: list[ProjectMembership]
    csrf_token: str | None
    pending: str | None = None
    actions: dict[str, str]
