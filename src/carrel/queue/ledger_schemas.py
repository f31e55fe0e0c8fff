"""API types of allocations and of holders over a limit."""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from carrel.http.paging import PageQuery
from carrel.limits.schemas import LimitsChange
from carrel.tenancy.schemas import Ceilings


class By(StrEnum):
    """Grouping of allocation sums."""

    NODE = "node"
    GROUP = "group"
    USER = "user"
    KEYPAIR = "keypair"
    PROJECT = "project"
    DOMAIN = "domain"


class HeldQuery(PageQuery):
    """Which allocation sums to list. sort: label or sessions."""

    by: By
    q: str | None = Field(default=None, max_length=100, description="part of the label")
    domain: str | None = Field(default=None, max_length=64, description="id or name of one domain")
    project: str | None = Field(default=None, max_length=64, description="id of one project, or a name")


class HeldView(BaseModel):
    """id: of the node, group, user, project or domain; by keypair: the access key, or "sign-in:" and a user's id.

    label: a name, an e-mail, or for a project "domain/project". slots: allocated amounts, in base units. sessions:
    the number of sessions.
    """

    id: str
    label: str
    slots: dict[str, int]
    sessions: int


class HeldList(BaseModel):
    """Only holders with allocations."""

    items: list[HeldView]
    next_cursor: str | None


class LimitsTry(BaseModel):
    """limits: the proposed changes; omitted limits keep their values."""

    model_config = ConfigDict(extra="forbid")

    limits: LimitsChange = LimitsChange()


class CeilingsTry(BaseModel):
    """ceilings: the proposed ceilings, complete."""

    model_config = ConfigDict(extra="forbid")

    ceilings: Ceilings


class OverView(BaseModel):
    """A holder over a limit.

    scope, id, label: the holder; a sign-in is a user without a keypair. slot: the limited slot; "sessions" for the
    number of sessions, "folders" and "folder_bytes" for storage. waiting: the limit is on pending sessions. ceiling:
    the limit. used: the current amount.
    """

    scope: Literal["keypair", "sign_in", "user", "project", "domain"]
    id: str
    label: str
    waiting: bool
    slot: str
    ceiling: int
    used: int


class OverList(BaseModel):
    """Empty: nobody is over a limit."""

    items: list[OverView]
