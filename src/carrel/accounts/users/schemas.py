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
    """domain: id or name; your own when left out. projects: ids or names in that domain.

    password: theirs, to be changed at the first sign-in unless must_change_password is false; generate_password
    makes one, link makes a one-time link to set one: the answer shows either once. With none of these they
    sign in by a provider, or get a link later.
    addresses: networks that they may sign in from; empty: any.
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

    domain: moves them, out of all projects and out of office, unless the same request gives new ones.
    sessions: what becomes of live ones when they are disabled or moved; left out, the answer is a conflict
    that names them, if any. When moved, they must end.
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
    """projects: by name. second_factor: whether they have one that is set up, or a passkey.

    policy: what all their sessions may hold together. keypair_policy: what they may do without a keypair; new
    keypairs get it.
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
    created_at: datetime
    last_seen_at: datetime | None


class UserDetail(UserView):
    """providers: names of the identity providers that know them. keypairs, logins, live_sessions: how many."""

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
    state: UserState | None = Field(default=None, description="left out: all but the purged")
    role: Role | None = Field(default=None, description="project_admin: of at least one project")
    domain: str | None = Field(default=None, max_length=64, description="id or name of one domain")
    project: str | None = Field(default=None, max_length=64, description="id of one project")


class UserList(BaseModel):
    items: list[UserView]
    next_cursor: str | None


class UserRow(BaseModel):
    """One of many to be made, as somebody wrote it: what is wrong with it is said of this row alone.

    The fields mean what they mean in UserCreate. Empty ones are filled from the defaults.
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
    """Many at once. Passwords take a while to hash: send some tens of rows at a time to show how far it is."""

    model_config = {"extra": "forbid"}

    rows: Annotated[list[UserRow], Field(min_length=1)]
    defaults: UserRow = UserRow()


class UserMade(BaseModel):
    """row: its place in the request, from 0 on. status "valid": a dry run found nothing wrong.

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
    """One for each row, in their order. done: created, or valid in a dry run."""

    items: list[UserMade]
    done: int
    failed: int


class UserPurge(BaseModel):
    """confirm: the user's e-mail. sessions: "end", when some are live.

    folders_to: who gets their folders, by e-mail or id; delete_folders: they are deleted for good. One of both, when
    they have any. What is in their trash is deleted in any case.
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
    """user: as it was asked for. ended: sessions that were live and end now. folders: how many they had."""

    user: str
    status: Literal["purged", "failed"]
    id: UserId | None = None
    ended: list[str] = []
    folders: int = 0
    problem: Trouble | None = None


class UsersPurged(BaseModel):
    """One for each user asked for, in that order."""

    items: list[UserPurged]
    purged: int
    failed: int


class ProfileUpdate(BaseModel):
    """Omitted fields keep their values; null resets a preference to the default of browser or installation."""

    model_config = {"extra": "forbid"}

    name: PersonName = ""
    preferences: Preferences = Preferences()
