"""API types of idle sessions."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from carrel.core.ids import SessionId
from carrel.limits.schemas import IdleTimeout, IdleUseLimit
from carrel.tables.policies import UNLIMITED
from carrel.tables.session_states import SessionKind
from carrel.tenancy.schemas import ProjectRef, Ref, UserRef
from carrel.usage.idle.rules import IdleRule


class IdleRuleView(BaseModel):
    """rule: traffic, use, or lifetime, which is independent of idleness and cannot be extended. limit_s: the rule's
    limit. since: start of the idle time; null: in use by this rule. ends_at: when the rule ends it. why: the reason
    it would end with.
    """

    rule: IdleRule
    limit_s: int
    since: datetime | None
    ends_at: datetime | None
    why: str


class IdleView(BaseModel):
    """rules: those that apply while it runs. active_at: last app, terminal or command traffic, to half a minute.
    kept_at: when it was last marked as in use. idle_ends_at: when it ends, set with the warning.
    """

    session: SessionId
    exempt: bool
    active_at: datetime | None
    kept_at: datetime | None
    idle_ends_at: datetime | None
    rules: list[IdleRuleView]


class DryRunRequest(BaseModel):
    """Idle rules to try on past sessions, in the terms of a keypair policy. policy: only the sessions that follow it
    now, with its rules for those that are omitted; without it: all sessions. days: how far to look back. cursor:
    `next_cursor` of the page before.
    """

    model_config = {"extra": "forbid"}

    policy: Ref | None = None
    idle_timeout_s: IdleTimeout = UNLIMITED
    idle_use: IdleUseLimit = UNLIMITED
    days: Annotated[int, Field(ge=1, le=31)] = 30
    cursor: Annotated[str | None, Field(max_length=200)] = None


class DryRunEnding(BaseModel):
    """A session that the rules would have ended. ended_at: when it did end; null: it still runs. ends_at: when the
    rules would have ended it. freed_s: the time between. slots: of all its containers. why: the reason it would have
    ended with. measured: mean usage in the window of the rule `use`, in percent, by measure.
    """

    session: SessionId
    name: str
    kind: SessionKind
    owner: UserRef
    project: ProjectRef
    slots: dict[str, int]
    started_at: datetime
    ended_at: datetime | None
    ends_at: datetime
    freed_s: int
    rule: IdleRule
    why: str
    measured: dict[str, float]


class DryRunPage(BaseModel):
    """items: by session id. checked, total: numbers of sessions, so far and altogether. next_cursor: null when all are
    checked.
    """

    items: list[DryRunEnding]
    checked: int
    total: int
    next_cursor: str | None


class ExemptionUpdate(BaseModel):
    model_config = {"extra": "forbid"}

    exempt: bool
