"""API types of projects and their members."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from carrel.core.ids import ProjectId, UserId
from carrel.folders.schemas import MountedIn
from carrel.http.paging import PageQuery
from carrel.http.query import QueryBool
from carrel.tables.tenancy import UserState
from carrel.tenancy.schemas import (
    Ceilings,
    Description,
    DomainRef,
    PlaceName,
    PolicyRef,
    Ref,
    SessionsChoice,
    Trouble,
    UserRef,
)


class ProjectCreate(BaseModel):
    """domain: id or name; default: your own. ceilings: as for a domain."""

    model_config = {"extra": "forbid"}

    name: PlaceName
    domain: Ref | None = None
    description: Description = ""
    ceilings: Ceilings = {}


class ProjectUpdate(BaseModel):
    """Omitted fields keep their values; given ones are replaced completely."""

    model_config = {"extra": "forbid"}

    name: PlaceName = ""
    description: Description = ""
    ceilings: Ceilings = {}


class ProjectArchive(BaseModel):
    """sessions: what to do with live sessions; omitted: a conflict that lists them, if any."""

    model_config = {"extra": "forbid"}

    sessions: SessionsChoice | None = None


class ProjectView(BaseModel):
    """archived_at: when it was archived; null: active. admins: by e-mail. members, live_sessions: counts.
    used: slot -> allocation of its sessions. had_sessions: it ever had a session, so it cannot be deleted. policy:
    limits of its folders.
    """

    id: ProjectId
    name: str
    description: str
    domain: DomainRef
    ceilings: dict[str, int]
    archived_at: datetime | None
    created_at: datetime
    members: int
    live_sessions: int
    used: dict[str, int]
    had_sessions: bool
    policy: PolicyRef
    admins: list[UserRef]


class ProjectQuery(PageQuery):
    """Which projects to list. sort: name or created_at."""

    q: str | None = Field(default=None, max_length=100, description="part of the name")
    domain: str | None = Field(default=None, max_length=64, description="id or name of one domain")
    archived: QueryBool | None = Field(
        default=None, description="true: only archived ones; false: none of them; omitted: all"
    )


class ProjectList(BaseModel):
    items: list[ProjectView]
    next_cursor: str | None


class MemberView(BaseModel):
    id: UserId
    email: str
    name: str
    state: UserState
    admin: bool


class MemberQuery(PageQuery):
    """Which members to list. sort: email."""

    q: str | None = Field(default=None, max_length=100, description="part of e-mail or name")
    admin: QueryBool | None = None


class MemberList(BaseModel):
    items: list[MemberView]
    next_cursor: str | None


class MembersAdd(BaseModel):
    """users: ids or e-mails. admin: make them administrators of the project too."""

    model_config = {"extra": "forbid"}

    users: Annotated[list[Ref], Field(min_length=1, max_length=500)]
    admin: bool = False


class MemberRemoved(BaseModel):
    """still_mounted: their live sessions that keep mounts of the project's folders until they end."""

    still_mounted: list[MountedIn]


class MemberUpdate(BaseModel):
    model_config = {"extra": "forbid"}

    admin: bool


class MemberAdded(BaseModel):
    """user: as requested. member: null if it failed, with the reason in problem."""

    user: str
    status: Literal["added", "already", "failed"]
    member: MemberView | None = None
    problem: Trouble | None = None


class MembersAdded(BaseModel):
    """One per requested user, in the same order."""

    items: list[MemberAdded]
    added: int
    failed: int
