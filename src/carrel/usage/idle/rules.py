"""Idle rules: since when a session is idle and when it ends. Pure.

A policy has two idle rules; the one that ends the session first applies:

    traffic   no app, terminal or command traffic for a given time. Interactive sessions only.
    use every measure stayed below its percentage in every minute of a window. A minute with missing data counts as
    busy; one in which only the use of accelerators is missing proves nothing and is left out.

"Keep" resets both clocks to now. The lifetime is shown with them; `controllers/lifetime.py` enforces it and nothing
extends it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from carrel.core.units import format_duration
from carrel.tables.policies import KeypairPolicy, UseLimit

MINUTE = timedelta(minutes=1)
LATE = MINUTE
"""The delay until activity is visible: traffic is flushed periodically (`activity`), and a minute is evaluated when
it is over.
"""
_SHORTEST_NOTICE_S, _LONGEST_NOTICE_S = 60, 600
LONGEST_NOTICE = timedelta(seconds=_LONGEST_NOTICE_S)
_VISITED = frozenset({"interactive"})
_OF_DEVICES = frozenset({"accelerator", "accelerator_mem"})
"""Measures that may be unknown for a time."""
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
    """None: no such rule. use: thresholds in percent of the session's slots; not evaluated during grace_s."""

    traffic_s: int | None = None
    use: UseLimit | None = None
    lifetime_s: int | None = None


@dataclass(frozen=True)
class Life:
    """Inputs of the rules for a running session. accelerated: it holds accelerators. limit_used_s: how much of its time
    limit it had used before it started.
    """

    kind: str
    started_at: datetime
    active_at: datetime | None = None
    kept_at: datetime | None = None
    exempt: bool = False
    accelerated: bool = False
    limit_used_s: int = 0


@dataclass(frozen=True)
class Minute:
    """Mean usage in the minute that begins at `at`, in percent; a missing measure is unknown."""

    at: datetime
    percent: Mapping[str, float]


@dataclass(frozen=True)
class Finding:
    """The result of one rule. since: idle since; None: not idle. ends_at: when the rule ends the session. why: the
    reason it would end with, with the measured means of the window. measured: these means, in percent. suspended: the
    last minute proves nothing, so it neither warns nor ends now.
    """

    rule: IdleRule
    limit_s: int
    why: str
    since: datetime | None = None
    ends_at: datetime | None = None
    measured: Mapping[str, float] = field(default_factory=dict)
    suspended: bool = False

    @property
    def notice(self) -> timedelta:
        """How long before the end the warning is sent."""
        return timedelta(seconds=min(_LONGEST_NOTICE_S, max(_SHORTEST_NOTICE_S, self.limit_s / 10)))


class IdleAction(StrEnum):
    """The action due for a session."""

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
    """Build the rules from a policy. lifetime_s: of the session."""
    return Rules(traffic_s=policy.idle_timeout_s, use=policy.idle_use, lifetime_s=lifetime_s)


def findings(rules: Rules, life: Life, minutes: Iterable[Minute], now: datetime) -> list[Finding]:
    """The result of each applicable rule, in the order of `IdleRule`. minutes: at least those of the window, in any
    order, with gaps allowed.
    """
    findings: list[Finding] = []
    if rules.traffic_s and life.kind in _VISITED:
        why = f"Idle: no traffic for {format_duration(rules.traffic_s)}."
        since = max(filter(None, (life.started_at, life.active_at, life.kept_at)))
        findings.append(
            _counted(Finding(IdleRule.TRAFFIC, rules.traffic_s, why), None if life.exempt else since)
        )
    if rules.use and (measures := _measures(rules.use, life)):
        known = list(minutes)
        quiet, suspended = _quiet_since(rules.use, measures, life, known, now)
        means = _means(rules.use, known, now)
        why = _used_little(rules.use, measures, means)
        measured = {measure: means[measure] for measure in measures if measure in means}
        use = Finding(IdleRule.USE, rules.use.window_s, why, measured=measured, suspended=suspended)
        findings.append(_counted(use, None if life.exempt else quiet))
    if rules.lifetime_s:
        findings.append(at_limit(rules.lifetime_s, life.started_at, life.limit_used_s))
    return findings


def first_to_end(findings: Iterable[Finding]) -> Finding | None:
    """The finding that ends it first; None if it is not idle."""
    idle = [
        one
        for one in findings
        if one.ends_at is not None and one.rule is not IdleRule.LIFETIME and not one.suspended
    ]
    return min(idle, key=lambda one: (one.ends_at, one.rule), default=None)


def decide(finding: Finding | None, warned_of: datetime | None, now: datetime) -> Decision:
    """found: from `first_to_end`. warned_of: the announced end, if any. No session ends without a warning: if the
    policy changed or no leader ran at warning time, both the warning and the end are late. The session may be used
    until the announced end, so it ends only once such activity would be visible.
    """
    if (
        finding is None
        or finding.since is None
        or finding.ends_at is None
        or now < _near(finding, finding.since, finding.ends_at)
    ):
        return Decision(IdleAction.CLEAR if warned_of else IdleAction.NOTHING)
    if warned_of is None:
        return Decision(IdleAction.WARN, max(finding.ends_at, now + finding.notice))
    if finding.ends_at > warned_of:
        # Another rule applies now and ends it slightly later.
        return Decision(IdleAction.WARN, finding.ends_at)
    return Decision(IdleAction.END if now >= warned_of + LATE else IdleAction.NOTHING)


def decide_at_limit(finding: Finding, warned_of: datetime | None, now: datetime) -> Decision:
    """finding: of the time limit. Unlike an idle session, it ends at its limit even if there was no time to warn. A
    limit as short as the notice is known to whoever has just set it.
    """
    if finding.ends_at is None:
        return Decision(IdleAction.NOTHING)
    if now >= finding.ends_at:
        return Decision(IdleAction.END)
    near = now >= finding.ends_at - finding.notice
    if near and finding.limit_s > _SHORTEST_NOTICE_S and warned_of != finding.ends_at:
        return Decision(IdleAction.WARN, finding.ends_at)
    return Decision(IdleAction.NOTHING)


def at_limit(limit_s: int, started_at: datetime, used_s: int) -> Finding:
    """The result of the time limit. used_s: how much of it was used before this start."""
    why = f"It reached its time limit of {timedelta(seconds=limit_s)}."
    return _counted(Finding(IdleRule.LIFETIME, limit_s, why), started_at - timedelta(seconds=used_s))


def _near(finding: Finding, since: datetime, ends_at: datetime) -> datetime:
    """When the warning is due: only once missing activity would be visible."""
    return max(ends_at - finding.notice, since + LATE)


def as_announced(finding: Finding, warned_of: datetime | None) -> Finding:
    """The finding for display: the session does not end before the announced time."""
    sooner = warned_of is not None and finding.ends_at is not None and finding.ends_at < warned_of
    return (
        replace(finding, ends_at=warned_of) if sooner and finding.rule is not IdleRule.LIFETIME else finding
    )


def lookback(rule: UseLimit) -> timedelta:
    """How far back minutes matter: some of those in the window may prove nothing."""
    return timedelta(seconds=2 * rule.window_s) + 2 * MINUTE


def look_again_at(rule: UseLimit, findings: Sequence[Finding], now: datetime) -> datetime:
    """When usage can next matter; before that, minutes need not be read.

    A session that was busy in the last minute cannot be idle before a whole window has passed.
    """
    use = next((one for one in findings if one.rule is IdleRule.USE), None)
    if use is None:
        return now
    since = use.since or now - MINUTE
    return since + timedelta(seconds=rule.window_s) - use.notice


def _counted(finding: Finding, since: datetime | None) -> Finding:
    ends_at = since + timedelta(seconds=finding.limit_s) if since else None
    return replace(finding, since=since, ends_at=ends_at)


def _measures(rule: UseLimit, life: Life) -> list[str]:
    """The measures that apply to this session: slots that it does not hold are ignored."""
    return [
        measure
        for measure in _WORDS
        if measure in rule.below and (measure in _ALWAYS_HELD or life.accelerated)
    ]


def _used_little(rule: UseLimit, measures: Iterable[str], means: Mapping[str, float]) -> str:
    parts = ", ".join(
        f"{_WORDS[measure]}{_percent(means.get(measure))} below {rule.below[measure]} %"
        for measure in measures
    )
    return f"Idle: low utilization for {format_duration(rule.window_s)} ({parts})."


def _percent(mean: float | None) -> str:
    return "" if mean is None else f" {mean:.1f} %,"


def _means(rule: UseLimit, minutes: Iterable[Minute], now: datetime) -> dict[str, float]:
    """Mean of each measure in the window that ends now, as far as it is known."""
    since = now - timedelta(seconds=rule.window_s) - MINUTE
    figures: dict[str, list[float]] = {}
    for minute in minutes:
        if minute.at >= since:
            for measure, percent in minute.percent.items():
                figures.setdefault(measure, []).append(percent)
    return {measure: sum(known) / len(known) for measure, known in figures.items()}


def _quiet_since(
    rule: UseLimit, measures: Iterable[str], life: Life, minutes: Iterable[Minute], now: datetime
) -> tuple[datetime | None, bool]:
    """The start of the uninterrupted run of quiet minutes until now; None if there is none. Minutes that prove nothing
    make it that much later: they neither interrupt the run nor count. True if the last one is such a minute.
    """
    begin = life.started_at + timedelta(seconds=rule.grace_s)
    if life.kept_at:
        begin = max(begin, life.kept_at)
    known = {minute.at: minute.percent for minute in minutes}
    # The current minute is incomplete and ignored.
    at = now.replace(second=0, microsecond=0) - MINUTE
    end, proofs = at + MINUTE, list[bool]()
    while at >= begin and at in known and _may_be_quiet(known[at], rule, measures):
        proofs.append(all(measure in known[at] for measure in measures))
        at -= MINUTE
    return (end - sum(proofs) * MINUTE if any(proofs) else None), proofs[:1] == [False]


def _may_be_quiet(percent: Mapping[str, float], rule: UseLimit, measures: Iterable[str]) -> bool:
    """False if a measure was not below its percentage, or is missing and not of devices."""
    return all(
        percent[measure] < rule.below[measure] if measure in percent else measure in _OF_DEVICES
        for measure in measures
    )
