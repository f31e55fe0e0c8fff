"""Wire types of what is held, and of who would be over a limit."""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from carrel.http.paging import PageQuery
from carrel.limits.schemas import LimitsChange
from carrel.tenancy.schemas import Ceilings


class By(StrEnum):
    """What sums over the ledger are grouped by."""

    NODE = "node"
    GROUP = "group"
    USER = "user"
    KEYPAIR = "keypair"
    PROJECT = "project"
    DOMAIN = "domain"


class HeldQuery(PageQuery):
    """Which sums to list. sort: label or sessions."""

    by: By
    q: str | None = Field(default=None, max_length=100, description="part of the label")
    domain: str | None = Field(default=None, max_length=64, description="id or name of one domain")
    project: str | None = Field(default=None, max_length=64, description="id of one project, or a name")


class HeldView(BaseModel):
    """id: of the node, group, user, project or domain; by keypair: the access key, or "sign-in:" and a user's id.

    label: a name, an e-mail, or for a project "domain/project". slots: what is held, in base units. sessions: how
    many hold it.
    """

    id: str
    label: str
    slots: dict[str, int]
    sessions: int


class HeldList(BaseModel):
    """Only those that hold something."""

    items: list[HeldView]
    next_cursor: str | None


class LimitsTry(BaseModel):
    """limits: as one would change them; those that are left out are taken as they are."""

    model_config = ConfigDict(extra="forbid")

    limits: LimitsChange = LimitsChange()


class CeilingsTry(BaseModel):
    """ceilings: as one would set them, as a whole."""

    model_config = ConfigDict(extra="forbid")

    ceilings: Ceilings


class OverView(BaseModel):
    """Somebody who has more than a limit allows.

    scope, id, label: who; a sign-in is a user without a keypair. slot: of what, "sessions" for how many they have,
    "folders" and "folder_bytes" for what they keep.
    waiting: what waits is too much, and not what is held. ceiling: the most. used: what there is now.
    """

    scope: Literal["keypair", "sign_in", "user", "project", "domain"]
    id: str
    label: str
    waiting: bool
    slot: str
    ceiling: int
    used: int


class OverList(BaseModel):
    """Empty: nobody is over."""

    items: list[OverView]
