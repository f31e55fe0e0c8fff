"""API types of users."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from carrel.core.ids import UserId
from carrel.http.paging import PageQuery
from carrel.permissions.actions import Role
from carrel.signin.logins.schemas import RecoveryLink
from carrel.tables.tenancy import UserState
from carrel.tenancy.schemas import (
    Description,
    DomainRef,
    Email,
    Networks,
    PersonName,
    PolicyRef,
    Preferences,
    ProjectMembership,
    Ref,
    SessionsChoice,
    Trouble,
    UserRef,
)

MAX_BATCH = 500
MAX_PURGE = 100
GivenRole = Literal[Role.USER, Role.DOMAIN_ADMIN, Role.SUPERADMIN]
GivenState = Literal[UserState.ACTIVE, UserState.INACTIVE, UserState.UNVERIFIED]
Password = Annotated[str, StringConstraints(min_length=1, max_length=1024)]
Projects = Annotated[list[Ref], Field(max_length=200)]


class UserCreate(BaseModel):
    """domain: id or name; default: your own. projects: ids or names in that domain. password: initial password, to be
    changed at the first sign-in unless must_change_password is false; generate_password generates one, link creates a
    one-time link to set one; either is returned only once. Without these they sign in with a provider, or get a link
    later.
    addresses: networks from which they may sign in; empty: any.
    """

    model_config = {"extra": "forbid"}

    email: Email
    name: PersonName
    domain: Ref | None = None
    role: GivenRole = Role.USER
    state: GivenState = UserState.ACTIVE
    projects: Projects = []
    password: Password | None = None
    generate_password: bool = False
    link: bool = False
    must_change_password: bool = True
    addresses: Networks = []
    description: Description = ""


class UserUpdate(BaseModel):
    """Omitted fields keep their values. projects: the complete list; administrators of a kept project stay
    administrators.

    domain: moves them, and removes projects and role unless the same request sets new ones. sessions: what to do with
    live sessions when the user is disabled or moved; omitted: a conflict that lists them, if any. When moved, they
    must end.
    """

    model_config = {"extra": "forbid"}

    name: PersonName = ""
    description: Description = ""
    state: GivenState = UserState.ACTIVE
    role: GivenRole = Role.USER
    domain: Ref = ""
    projects: Projects = []
    must_change_password: bool = False
    addresses: Networks = []
    sessions: SessionsChoice | None = None


class UserView(BaseModel):
    """projects: by name. second_factor: a second factor or passkey is set up. policy: limits of all their sessions.
    keypair_policy: limits of use without a keypair, and the default for new keypairs. used: slot -> allocation of all
    their sessions. slot_limits: of their policy; null: unlimited; "*": slots that are not listed.
    """

    id: UserId
    email: str
    name: str
    description: str
    role: Role
    state: UserState
    domain: DomainRef
    projects: list[ProjectMembership]
    must_change_password: bool
    second_factor: bool
    addresses: list[str]
    policy: PolicyRef
    keypair_policy: PolicyRef
    used: dict[str, int]
    slot_limits: dict[str, int | None]
    created_at: datetime
    last_seen_at: datetime | None


class UserDetail(UserView):
    """providers: names of linked identity providers. keypairs, logins, live_sessions: counts."""

    has_password: bool
    password_set_at: datetime | None
    providers: list[str]
    keypairs: int
    logins: int
    live_sessions: int


class UserCreated(UserDetail):
    """password: the generated one; link: to set one. Both are shown this once."""

    password: str | None = None
    link: RecoveryLink | None = None


class UserQuery(PageQuery):
    """Which users to list. sort: email, name, created_at or last_seen_at."""

    q: str | None = Field(default=None, max_length=100, description="part of e-mail or name")
    state: UserState | None = Field(default=None, description="omitted: all but purged ones")
    role: Role | None = Field(default=None, description="project_admin: of at least one project")
    domain: str | None = Field(default=None, max_length=64, description="id or name of one domain")
    project: str | None = Field(default=None, max_length=64, description="id of one project")


class UserList(BaseModel):
    items: list[UserView]
    next_cursor: str | None


class UserRow(BaseModel):
    """One row of a batch; errors are reported per row. Fields as in UserCreate; empty ones are filled from the
    defaults.
    """

    model_config = {"extra": "forbid"}

    email: str | None = Field(default=None, max_length=1000)
    name: str | None = Field(default=None, max_length=1000)
    domain: str | None = Field(default=None, max_length=1000)
    role: str | None = Field(default=None, max_length=100)
    state: str | None = Field(default=None, max_length=100)
    projects: list[str] | None = Field(default=None, max_length=200)
    password: str | None = Field(default=None, max_length=2000)
    generate_password: bool | None = None
    link: bool | None = None
    must_change_password: bool | None = None
    addresses: list[str] | None = Field(default=None, max_length=200)
    description: str | None = Field(default=None, max_length=5000)

    def given(self) -> dict[str, Any]:
        """What is not empty."""
        return {name: value for name, value in self if value not in (None, "", [])}


class UserBatch(BaseModel):
    """A batch of users. Hashing passwords is slow: send some tens of rows at a time to show progress."""

    model_config = {"extra": "forbid"}

    rows: Annotated[list[UserRow], Field(min_length=1)]
    defaults: UserRow = UserRow()


class UserMade(BaseModel):
    """row: index in the request, from 0. status "valid": a dry run found nothing wrong.

    password: the generated one; link: to set one. Both are shown this once.
    """

    row: int
    email: str
    status: Literal["created", "valid", "failed"]
    user: UserRef | None = None
    password: str | None = None
    link: RecoveryLink | None = None
    problems: list[Trouble] = []


class UsersMade(BaseModel):
    """One per row, in the same order. done: created, or valid in a dry run."""

    items: list[UserMade]
    done: int
    failed: int


class UserPurge(BaseModel):
    """confirm: the user's e-mail. sessions: "end", when some are live.

    folders_to: new owner of their folders, by e-mail or id; delete_folders: delete them permanently. One of both is
    required if they have any. Trashed folders are deleted in any case.
    """

    model_config = {"extra": "forbid"}

    confirm: str = Field(max_length=254)
    sessions: Literal[SessionsChoice.END] | None = None
    folders_to: Ref | None = None
    delete_folders: bool = False


class PurgeOne(BaseModel):
    """user: id or e-mail. confirm: the e-mail."""

    model_config = {"extra": "forbid"}

    user: Ref
    confirm: str = Field(max_length=254)


class UsersPurge(BaseModel):
    """sessions: "end", when some are live. folders_to, delete_folders: as of one."""

    model_config = {"extra": "forbid"}

    users: Annotated[list[PurgeOne], Field(min_length=1, max_length=MAX_PURGE)]
    sessions: Literal[SessionsChoice.END] | None = None
    folders_to: Ref | None = None
    delete_folders: bool = False


class UserPurged(BaseModel):
    """user: as requested. ended: live sessions that end now. folders: number of folders they had."""

    user: str
    status: Literal["purged", "failed"]
    id: UserId | None = None
    ended: list[str] = []
    folders: int = 0
    problem: Trouble | None = None


class UsersPurged(BaseModel):
    """One per requested user, in the same order."""

    items: list[UserPurged]
    purged: int
    failed: int


class ProfileUpdate(BaseModel):
    """Omitted fields keep their values; null resets a preference to the default of browser or installation."""

    model_config = {"extra": "forbid"}

    name: PersonName = ""
    preferences: Preferences = Preferences()
