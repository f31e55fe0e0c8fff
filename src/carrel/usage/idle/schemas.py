"""Wire types of idle sessions."""

from datetime import datetime

from pydantic import BaseModel

from carrel.core.ids import SessionId
from carrel.usage.idle.rules import IdleRule


class IdleRuleView(BaseModel):
    """rule: traffic, use, or lifetime, which is no sign of idleness and nothing puts off. limit_s: how long may be.

    since: from when on that counts; null: it counts as in use by this rule. ends_at: when it is long enough.
    why: the reason that it would end with.
    """

    rule: IdleRule
    limit_s: int
    since: datetime | None
    ends_at: datetime | None
    why: str


class IdleView(BaseModel):
    """rules: those that apply to it while it runs. active_at: when an app, a terminal or a command of it was last used,
    to half a minute. kept_at: when somebody last said that it is in use. idle_ends_at: when it ends, once people were
    warned.
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
