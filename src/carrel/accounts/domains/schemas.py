"""API types of domains."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from carrel.core.ids import DomainId
from carrel.http.paging import PageQuery
from carrel.http.query import QueryBool
from carrel.tenancy.schemas import Ceilings, Description, PlaceName, UserRef

_Name = Annotated[str, StringConstraints(min_length=1, max_length=255)]
Names = Annotated[list[_Name], Field(max_length=200)] | None
_Registry = Annotated[
    str,
    StringConstraints(
        to_lower=True, max_length=255, pattern=r"^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$"
    ),
]
Registries = (
    Annotated[
        list[_Registry],
        Field(max_length=200, examples=[["registry.example.org", "registry.example.org:5000"]]),
    ]
    | None
)


class DomainCreate(BaseModel):
    """ceilings: slot -> most that its sessions may hold in total; omitted slots are not limited. resource_groups,
    registries, storage_hosts: names that it may use; null: all. A registry is a host or host:port; images built on
    the engine (localhost/...) have no registry and are always allowed.
    """

    model_config = {"extra": "forbid"}

    name: PlaceName
    description: Description = ""
    active: bool = True
    ceilings: Ceilings = {}
    resource_groups: Names = None
    registries: Registries = None
    storage_hosts: Names = None


class DomainUpdate(BaseModel):
    """Omitted fields keep their values; given lists and ceilings are replaced completely. active false: its users are
    signed out and it accepts no new sessions; running ones continue.
    """

    model_config = {"extra": "forbid"}

    name: PlaceName = ""
    description: Description = ""
    active: bool = True
    ceilings: Ceilings = {}
    resource_groups: Names = None
    registries: Registries = None
    storage_hosts: Names = None


class DomainView(BaseModel):
    """users, projects, live_sessions: counts, without archived projects.

    used: slot -> allocation of its sessions. admins: its active administrators, by e-mail.
    """

    id: DomainId
    name: str
    description: str
    active: bool
    ceilings: dict[str, int]
    resource_groups: list[str] | None
    registries: list[str] | None
    storage_hosts: list[str] | None
    created_at: datetime
    users: int
    projects: int
    live_sessions: int
    used: dict[str, int]
    admins: list[UserRef]


class DomainQuery(PageQuery):
    """Which domains to list. sort: name or created_at."""

    q: str | None = Field(default=None, max_length=100, description="part of the name")
    active: QueryBool | None = None


class DomainList(BaseModel):
    items: list[DomainView]
    next_cursor: str | None
