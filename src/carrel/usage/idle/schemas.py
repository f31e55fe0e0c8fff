"""API types of idle sessions."""

from datetime import datetime

from pydantic import BaseModel

from carrel.core.ids import SessionId
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


class ExemptionUpdate(BaseModel):
    model_config = {"extra": "forbid"}

    exempt: bool
