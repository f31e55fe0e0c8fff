"""What idle rules would have done to past sessions."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.tables.policies import UseLimit
from carrel.usage.idle import rules
from carrel.usage.idle.replay import Past, ProposedEnd, ending
from carrel.usage.idle.rules import IdleAction, IdleRule, Life, Minute, Rules

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
USE = Rules(use=UseLimit(window_s=3600, grace_s=600, below={"cpu": 5}))


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def past(minutes: int, busy: set[int] = frozenset(), keeps: list[int] = [], **known: object) -> Past:  # type: ignore[assignment] # noqa: B006 - not changed
    """A session that ran this long, busy in the given minutes."""
    life = Life(**{"kind": "interactive", "started_at": NOON, **known})  # type: ignore[arg-type]
    usage = [Minute(at(one), {"cpu": 50.0 if one in busy else 1.0}) for one in range(minutes)]
    return Past(life, NOON, at(minutes), [at(keep) for keep in keeps], usage)


def test_a_quiet_session_would_have_ended_after_the_window_and_the_warning():
    ended = ending(USE, past(600, busy={0, 1, 2, 30}))
    assert ended is not None
    # An hour after the last busy minute, and one until missing activity is visible.
    assert (ended.at, ended.finding.rule) == (at(92), IdleRule.USE)
    assert ended.finding.measured == {"cpu": 1.0}
    assert ended.finding.why == "Idle: low utilization for 1 h (CPU 1.0 %, below 5 %)."


def test_use_a_gap_and_keeping_restart_the_window_and_a_short_life_is_not_long_enough():
    assert ending(USE, past(1000, busy=set(range(0, 1000, 50)))) is None
    gap = past(100)
    assert ending(USE, replace(gap, minutes=[one for one in gap.minutes if one.at != at(40)])) is None
    assert ending(USE, past(125, keeps=[65])) is None
    kept = ending(USE, past(200, keeps=[65]))
    assert kept is not None
    assert kept.at == at(126)
    # A keep after its end does not prevent it.
    early = ending(USE, past(200, keeps=[180]))
    assert early is not None
    assert early.at == at(71)
    assert ending(USE, past(60)) is None


def test_traffic_is_judged_from_the_last_one_on():
    traffic = Rules(traffic_s=3600)
    ended = ending(traffic, past(600, active_at=at(300)))
    assert ended is not None
    assert (ended.at, ended.finding.why) == (at(361), "Idle: no traffic for 1 h.")
    assert ending(traffic, past(350, active_at=at(300))) is None
    assert ending(traffic, past(600, kind="batch")) is None
    assert ending(traffic, past(600, exempt=True)) is None


def each_minute(proposed: Rules, lived: Past) -> ProposedEnd | None:
    """As a controller that looks every minute and reads everything."""
    now, warned_of = lived.begin, None
    while now <= lived.end:
        keeps = [keep for keep in lived.keeps if keep <= now]
        life = replace(lived.life, kept_at=max(keeps, default=None))
        minutes = [minute for minute in lived.minutes if minute.at < now]
        first = rules.first_to_end(rules.findings(proposed, life, minutes, now))
        decided = rules.decide(first, warned_of, now)
        if decided.step is IdleAction.END and first:
            return ProposedEnd(now, first)
        if decided.step is not IdleAction.NOTHING:
            warned_of = decided.ends_at
        now += timedelta(minutes=1)
    return None


@settings(max_examples=60, deadline=None)
@given(
    busy=st.sets(st.integers(0, 240)),
    keeps=st.lists(st.integers(0, 240), max_size=3).map(sorted),
    window_s=st.sampled_from([120, 600, 1800, 3600]),
    traffic_s=st.sampled_from([None, 60, 1800]),
    active=st.none() | st.integers(0, 240),
)
def test_it_decides_as_a_controller_that_looks_every_minute(
    busy: set[int], keeps: list[int], window_s: int, traffic_s: int | None, active: int | None
):
    lived = past(240, busy, keeps, active_at=None if active is None else at(active))
    proposed = Rules(traffic_s, UseLimit(window_s=window_s, grace_s=300, below={"cpu": 5}))
    skipping, looking = ending(proposed, lived), each_minute(proposed, lived)
    assert (skipping and skipping.at) == (looking and looking.at)
    assert (skipping and skipping.finding.rule) == (looking and looking.finding.rule)
