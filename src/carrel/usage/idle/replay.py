"""Replays the past of a session under idle rules: when they would have ended it. Pure.

The rules decide, exactly as for a running session: they are evaluated whenever the controller would have to look.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from carrel.usage.idle import rules
from carrel.usage.idle.rules import MINUTE, Finding, IdleAction, IdleRule, Life, Minute, Rules


@dataclass(frozen=True)
class Past:
    """A session as it was. begin, end: of the known part of its life. keeps: when it was marked as in use. minutes:
    oldest first, with gaps allowed. Traffic before the last one (of `life`) is not known and counts as use.
    """

    life: Life
    begin: datetime
    end: datetime
    keeps: Sequence[datetime]
    minutes: Sequence[Minute]


@dataclass(frozen=True)
class ProposedEnd:
    """at: when the session would have ended, after the warning. finding: the reason."""

    at: datetime
    finding: Finding


def ending(proposed: Rules, past: Past) -> ProposedEnd | None:
    """When these rules would have ended the session; None: not in its time."""
    times = [minute.at for minute in past.minutes]
    now, warned_of = past.begin, None
    while now <= past.end:
        window = past.minutes[_oldest(proposed, times, now) : bisect_left(times, now)]
        findings = rules.findings(proposed, _at(past, now), window, now)
        first = rules.first_to_end(findings)
        decided = rules.decide(first, warned_of, now)
        match decided.step:
            case IdleAction.END if first:
                return ProposedEnd(now, first)
            case IdleAction.WARN | IdleAction.CLEAR:
                warned_of = decided.ends_at
        following = now + MINUTE if warned_of else _next_look(proposed, findings, now)
        if following is None:
            return None
        now = max(following, now + MINUTE)
    return None


def _oldest(proposed: Rules, times: Sequence[datetime], now: datetime) -> int:
    """The index of the first minute that the controller would read."""
    if proposed.use is None:
        return len(times)
    return bisect_left(times, now - rules.lookback(proposed.use))


def _at(past: Past, now: datetime) -> Life:
    kept = bisect_right(past.keeps, now)
    return replace(past.life, kept_at=past.keeps[kept - 1] if kept else None)


def _next_look(proposed: Rules, findings: Sequence[Finding], now: datetime) -> datetime | None:
    looks = [
        one.ends_at - one.notice
        for one in findings
        if one.rule is IdleRule.TRAFFIC and one.ends_at is not None
    ]
    if proposed.use and any(one.rule is IdleRule.USE for one in findings):
        looks.append(rules.look_again_at(proposed.use, findings, now))
    return min(looks, default=None)
