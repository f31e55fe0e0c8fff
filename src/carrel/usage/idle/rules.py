"""Is a session idle, since when, and when does it end? Pure: everything that counts is an argument.

Two rules of the policy may call it idle, and the one that ends it first counts:

    traffic   no app, terminal or command for so long. Only of interactive sessions: nobody visits the others.
    use       in every minute of a window, all that is measured stayed below its percentage. A minute of which
              something is not known proves nothing, so the session counts as busy in it.

Whoever keeps a session sets both clocks to now. The lifetime is shown beside them; it ends sessions by itself
(`controllers/lifetime.py`) and nothing puts it off.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from carrel.core.units import format_duration
from carrel.tables.policies import KeypairPolicy, UseLimit

MINUTE = timedelta(minutes=1)
LATE = MINUTE
"""How late it may become known that a session is used: traffic is written down now and then (`activity`), and a
minute is looked at when it is over."""
_SHORTEST_NOTICE_S, _LONGEST_NOTICE_S = 60, 600
_VISITED = frozenset({"interactive"})
_ALWAYS_HELD = frozenset({"cpu", "mem"})
_WORDS = {
    "cpu": "CPU",
    "mem": "memory",
    "accelerator": "accelerators",
    "accelerator_mem": "accelerator memory",
}


class IdleRule(StrEnum):
    TRAFFIC = "traffic"
    USE = "use"
    LIFETIME = "lifetime"


@dataclass(frozen=True)
class Rules:
    """None: there is no such rule. use: below is in percent of what the session holds; in grace_s nothing counts."""

    traffic_s: int | None = None
    use: UseLimit | None = None
    lifetime_s: int | None = None


@dataclass(frozen=True)
class Life:
    """What is known of a running session. accelerated: it holds accelerators."""

    kind: str
    started_at: datetime
    active_at: datetime | None = None
    kept_at: datetime | None = None
    exempt: bool = False
    accelerated: bool = False


@dataclass(frozen=True)
class Minute:
    """Mean use in the minute that begins at `at`, in percent; a measure that is not there is not known."""

    at: datetime
    percent: Mapping[str, float]


@dataclass(frozen=True)
class Finding:
    """What one rule says. since: from when on it counts as idle; None: it does not. ends_at: when that is long
    enough. why: the reason that it would end with.
    """

    rule: IdleRule
    limit_s: int
    why: str
    since: datetime | None = None
    ends_at: datetime | None = None

    @property
    def notice(self) -> timedelta:
        """How long before its end people are told."""
        return timedelta(seconds=min(_LONGEST_NOTICE_S, max(_SHORTEST_NOTICE_S, self.limit_s / 10)))


class IdleAction(StrEnum):
    """What is to be done about a session now."""

    NOTHING = "nothing"
    WARN = "warn"
    CLEAR = "clear"
    END = "end"


@dataclass(frozen=True)
class Decision:
    """ends_at: with WARN."""

    step: IdleAction
    ends_at: datetime | None = None


def rules_of(policy: KeypairPolicy, lifetime_s: int | None = None) -> Rules:
    """What a policy says. lifetime_s: what the session itself was given."""
    return Rules(traffic_s=policy.idle_timeout_s, use=policy.idle_use, lifetime_s=lifetime_s)


def findings(rules: Rules, life: Life, minutes: Iterable[Minute], now: datetime) -> list[Finding]:
    """What each rule that applies to the session says of it, in the order of `IdleRule`.

    minutes: those of the window at least; they may come in any order and have gaps.
    """
    found: list[Finding] = []
    if rules.traffic_s and life.kind in _VISITED:
        why = f"Idle: no traffic for {format_duration(rules.traffic_s)}."
        since = max(filter(None, (life.started_at, life.active_at, life.kept_at)))
        found.append(
            _counted(Finding(IdleRule.TRAFFIC, rules.traffic_s, why), None if life.exempt else since)
        )
    if rules.use and (measures := _measures(rules.use, life)):
        quiet = None if life.exempt else _quiet_since(rules.use, measures, life, minutes, now)
        found.append(
            _counted(Finding(IdleRule.USE, rules.use.window_s, _used_little(rules.use, measures)), quiet)
        )
    if rules.lifetime_s:
        why = f"It reached its time limit of {timedelta(seconds=rules.lifetime_s)}."
        found.append(_counted(Finding(IdleRule.LIFETIME, rules.lifetime_s, why), life.started_at))
    return found


def first_to_end(found: Iterable[Finding]) -> Finding | None:
    """The finding by which it would end first for being idle; None when it is not idle at all."""
    idle = [one for one in found if one.ends_at is not None and one.rule is not IdleRule.LIFETIME]
    return min(idle, key=lambda one: (one.ends_at, one.rule), default=None)


def decide(found: Finding | None, warned_of: datetime | None, now: datetime) -> Decision:
    """found: as `first_to_end`. warned_of: the end that people were told of, if they were.

    Nobody is ended without having been told, even if a policy changed, or nobody was there to tell, when it
    was time: then they get the notice late, and end late. Until the end that they were told they can still use it,
    so that it ends only when that would be known.
    """
    if (
        found is None
        or found.since is None
        or found.ends_at is None
        or now < _near(found, found.since, found.ends_at)
    ):
        return Decision(IdleAction.CLEAR if warned_of else IdleAction.NOTHING)
    if warned_of is None:
        return Decision(IdleAction.WARN, max(found.ends_at, now + found.notice))
    if found.ends_at > warned_of:
        # Another rule is what would end it now, and a little later.
        return Decision(IdleAction.WARN, found.ends_at)
    return Decision(IdleAction.END if now >= warned_of + LATE else IdleAction.NOTHING)


def _near(found: Finding, since: datetime, ends_at: datetime) -> datetime:
    """When people are told: not while it may have been used all the time."""
    return max(ends_at - found.notice, since + LATE)


def as_told(found: Finding, warned_of: datetime | None) -> Finding:
    """The finding as people are shown it: nobody is ended before the time that they were told."""
    sooner = warned_of is not None and found.ends_at is not None and found.ends_at < warned_of
    return replace(found, ends_at=warned_of) if sooner and found.rule is not IdleRule.LIFETIME else found


def look_again_at(rule: UseLimit, found: Sequence[Finding], now: datetime) -> datetime:
    """When what it uses can next make a difference: before that, minutes need not be read.

    A session that was busy in the last minute cannot be idle before a whole window has passed.
    """
    use = next((one for one in found if one.rule is IdleRule.USE), None)
    if use is None:
        return now
    since = use.since or now - MINUTE
    return since + timedelta(seconds=rule.window_s) - use.notice


def _counted(finding: Finding, since: datetime | None) -> Finding:
    ends_at = since + timedelta(seconds=finding.limit_s) if since else None
    return Finding(finding.rule, finding.limit_s, finding.why, since, ends_at)


def _measures(rule: UseLimit, life: Life) -> list[str]:
    """What the rule looks at in this session: nobody is idle for not using what they do not hold."""
    return [
        measure
        for measure in _WORDS
        if measure in rule.below and (measure in _ALWAYS_HELD or life.accelerated)
    ]


def _used_little(rule: UseLimit, measures: Iterable[str]) -> str:
    said = ", ".join(f"{_WORDS[measure]} below {rule.below[measure]} %" for measure in measures)
    return f"Idle: it used little for {format_duration(rule.window_s)} ({said})."


def _quiet_since(
    rule: UseLimit, measures: Iterable[str], life: Life, minutes: Iterable[Minute], now: datetime
) -> datetime | None:
    """Where the unbroken run of quiet minutes begins that lasts until now; None when there is none."""
    begin = life.started_at + timedelta(seconds=rule.grace_s)
    if life.kept_at:
        begin = max(begin, life.kept_at)
    known = {minute.at: minute.percent for minute in minutes}
    # The minute that is not over yet says nothing.
    at = now.replace(second=0, microsecond=0) - MINUTE
    since: datetime | None = None
    while at >= begin and at in known and _quiet(known[at], rule, measures):
        since, at = at, at - MINUTE
    return since


def _quiet(percent: Mapping[str, float], rule: UseLimit, measures: Iterable[str]) -> bool:
    return all(measure in percent and percent[measure] < rule.below[measure] for measure in measures)
