"""Whether a session is idle, since when, and what is done about it: rules alone, without a database."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from carrel.controllers.idle import Idle
from carrel.tables.policies import UseLimit, keypair_policy
from carrel.usage.idle import activity
from carrel.usage.idle.rules import (
    LATE,
    Finding,
    IdleAction,
    IdleRule,
    Life,
    Minute,
    Rules,
    as_announced,
    decide,
    findings,
    first_to_end,
    look_again_at,
    rules_of,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
USE = UseLimit(window_s=3600, grace_s=600, below={"cpu": 5, "accelerator": 10})


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def life(**known: object) -> Life:
    return Life(**{"kind": "interactive", "started_at": NOON, **known})  # type: ignore[arg-type]


def quiet(first: int, last: int, **percent: float) -> list[Minute]:
    return [Minute(at(minute), {"cpu": 1, "mem": 1, **percent}) for minute in range(first, last)]


def of(rule: IdleRule, all_findings: list[Finding]) -> Finding:
    return next(one for one in all_findings if one.rule is rule)


def test_traffic_counts_from_the_last_of_start_use_and_keeping():
    rules = Rules(traffic_s=3600)
    for known, since in (
        ({}, NOON),
        ({"active_at": at(20)}, at(20)),
        ({"active_at": at(20), "kept_at": at(30)}, at(30)),
        ({"active_at": at(-20)}, NOON),
    ):
        [finding] = findings(rules, life(**known), [], at(50))
        assert (finding.since, finding.ends_at) == (since, since + timedelta(hours=1))
    assert finding.why == "Idle: no traffic for 1 h."
    assert not findings(rules, life(kind="batch"), [], at(50))


def test_an_exempt_session_is_never_idle_and_still_has_its_lifetime():
    rules = Rules(traffic_s=60, use=USE, lifetime_s=60)
    all_findings = findings(rules, life(exempt=True), quiet(0, 500), at(500))
    assert [(one.rule, one.since) for one in all_findings] == [
        (IdleRule.TRAFFIC, None),
        (IdleRule.USE, None),
        (IdleRule.LIFETIME, NOON),
    ]
    assert first_to_end(all_findings) is None


@pytest.mark.parametrize(
    ("minutes", "known", "since"),
    [
        pytest.param(quiet(0, 90), {}, at(10), id="quiet since the grace was over"),
        pytest.param(quiet(0, 40) + quiet(50, 90), {}, at(50), id="nothing known in between"),
        pytest.param(quiet(0, 89), {}, None, id="the last minute is not known"),
        pytest.param(
            quiet(0, 60) + quiet(60, 61, cpu=5) + quiet(61, 90), {}, at(61), id="busy at the threshold"
        ),
        pytest.param(quiet(0, 90, cpu=50), {}, None, id="busy"),
        pytest.param(quiet(0, 90), {"kept_at": at(70.5)}, at(71), id="kept: whole minutes after it"),
        pytest.param(quiet(0, 90), {"accelerated": True}, None, id="an accelerator that nobody measures"),
        pytest.param(quiet(0, 90, accelerator=9), {"accelerated": True}, at(10), id="a quiet accelerator"),
        pytest.param(quiet(0, 90, accelerator=10), {"accelerated": True}, None, id="a busy accelerator"),
        pytest.param(
            quiet(0, 50, accelerator=9) + quiet(50, 55) + quiet(55, 90, accelerator=9),
            {"accelerated": True},
            at(15),
            id="minutes that prove nothing neither interrupt nor count",
        ),
        pytest.param(
            quiet(0, 50, accelerator=90) + quiet(50, 55) + quiet(55, 90, accelerator=9),
            {"accelerated": True},
            at(55),
            id="nor do they hide that it was busy before",
        ),
        pytest.param(quiet(0, 90, mem=99), {}, at(10), id="memory is not looked at"),
    ],
)
def test_use_is_little_since_all_that_is_measured_and_looked_at_stayed_below(minutes, known, since):
    [finding] = findings(Rules(use=USE), life(**known), minutes, at(90.5))
    assert finding.since == since
    assert finding.ends_at == (since + timedelta(hours=1) if since else None)


def test_nobody_is_warned_or_ended_while_the_use_of_accelerators_is_unknown():
    held, known = life(accelerated=True), quiet(0, 80, accelerator=1)
    for end, ends in ((80, True), (81, False), (90, False)):
        all_findings = findings(Rules(use=USE), held, known + quiet(80, end), at(end))
        assert bool(first_to_end(all_findings)) is ends
    again = known + quiet(80, 90) + quiet(90, 91, accelerator=1)
    first = first_to_end(findings(Rules(use=USE), held, again, at(91)))
    assert first
    assert first.ends_at == at(10 + 60 + 10)


def test_only_what_a_session_holds_is_looked_at():
    only_accelerators = UseLimit(3600, 0, {"accelerator": 10})
    assert not findings(Rules(use=only_accelerators), life(), quiet(0, 90), at(90))
    [finding] = findings(Rules(use=USE), life(), [], at(90))
    assert finding.why == "Idle: low utilization for 1 h (CPU below 5 %)."


def test_the_reason_has_the_measured_means_of_the_window():
    held = life(accelerated=True)
    busy_before, window = quiet(0, 29, cpu=90), quiet(29, 60, cpu=0.3) + quiet(60, 90, cpu=0.5, accelerator=7)
    [finding] = findings(Rules(use=USE), held, busy_before + window, at(90))
    assert finding.why == (
        "Idle: low utilization for 1 h (CPU 0.4 %, below 5 %, accelerators 7.0 %, below 10 %)."
    )


def test_the_rule_that_ends_it_first_counts():
    all_findings = findings(Rules(traffic_s=7200, use=USE, lifetime_s=60), life(), quiet(0, 60), at(60))
    first = first_to_end(all_findings)
    assert first
    assert (first.rule, first.ends_at) == (IdleRule.USE, at(70))


def test_rules_are_those_of_the_policy():
    kept = {
        "slots": {"*": "unlimited"},
        "sessions": 1,
        "pending_sessions": 1,
        "pending_slots": {},
        "containers_per_session": 1,
        "lifetime_s": "unlimited",
        "max_priority": 50,
        "max_rights": "plain",
        "default_disk_bytes": "unlimited",
        "max_disk_bytes": "unlimited",
        "storage_hosts": "unlimited",
        "log_bytes": 67108864,
        "idle_timeout_s": "unlimited",
        "idle_use": "unlimited",
    }
    assert rules_of(keypair_policy(kept)) == Rules()
    kept |= {"idle_timeout_s": 60, "idle_use": {"window_s": 3600, "grace_s": 0, "below": {"cpu": 5}}}
    assert rules_of(keypair_policy(kept), 90) == Rules(60, UseLimit(3600, 0, {"cpu": 5}), 90)


def test_who_was_not_warned_in_time_is_warned_late_and_ends_late():
    finding = Finding(IdleRule.TRAFFIC, 3600, "", NOON, at(60))
    assert decide(finding, None, at(53)).step is IdleAction.NOTHING
    assert decide(finding, None, at(54)).ends_at == at(60)
    assert decide(finding, None, at(300)).ends_at == at(306)
    assert decide(finding, at(306), at(306)).step is IdleAction.NOTHING
    assert decide(finding, at(306), at(307)).step is IdleAction.END
    assert as_announced(finding, at(306)).ends_at == at(306)
    assert as_announced(finding, None) == as_announced(finding, at(60)) == finding
    lifetime = Finding(IdleRule.LIFETIME, 3600, "", NOON, at(60))
    assert as_announced(lifetime, at(306)) == lifetime
    assert decide(None, at(306), at(305)).step is IdleAction.CLEAR
    used = Finding(IdleRule.TRAFFIC, 3600, "", at(58), at(118))
    assert decide(used, at(60), at(60)).step is IdleAction.CLEAR
    other = Finding(IdleRule.USE, 3600, "", at(3), at(63))
    assert decide(other, at(60), at(60)).ends_at == at(63)


STEPS = st.lists(
    st.tuples(st.sampled_from(["wait", "use", "keep", "loosen", "tighten"]), st.integers(1, 40)), max_size=60
)


@given(STEPS, st.booleans())
def test_nobody_ends_without_a_warning_in_good_time_or_while_used(steps, kept_away):
    """Random lives, looked at as the controller does; sometimes nobody looks for a while."""
    now, active, kept, timeout = NOON, None, None, 3600
    warned: datetime | None = None
    told_at = NOON
    for what, minutes in steps:
        now += timedelta(minutes=minutes)
        active = now if what == "use" else active
        if what == "keep":
            kept, warned = now, None
        timeout = {"loosen": 7200, "tighten": 600}.get(what, timeout)
        if kept_away and what == "wait":
            continue
        first = first_to_end(
            findings(Rules(traffic_s=timeout), life(active_at=active, kept_at=kept), [], now)
        )
        assert first is not None
        assert first.ends_at is not None
        decided = decide(first, warned, now)
        last = max(filter(None, (NOON, active, kept)))
        if decided.step is IdleAction.WARN:
            assert (decided.ends_at and decided.ends_at >= now + first.notice) or warned
            told_at = now if warned is None else told_at
            warned = decided.ends_at
        elif decided.step is IdleAction.CLEAR:
            warned = None
        elif decided.step is IdleAction.END:
            assert warned is not None
            assert now >= warned + LATE
            assert now - told_at >= timedelta(seconds=min(600, timeout / 10)) or timeout == 7200
            assert now - last >= timedelta(seconds=timeout)
            return


@given(
    st.sampled_from([60, 90, 300, 900]),
    st.lists(st.tuples(st.sampled_from([5, 30, 60, 150, 300, 1000]), st.integers(1, 20)), max_size=8),
    st.integers(0, 29),
)
@example(60, [(5, 40)], 29)
@example(300, [(295, 1)], 15)
def test_whoever_uses_it_until_the_end_that_they_were_told_is_not_ended(timeout, stretches, offset):
    """Beats are written down twice a minute and looked at four times. A stretch: a pause in seconds, then use."""
    used: set[int] = set()
    end = 0
    for pause, times in stretches:
        begin, end = end + pause, end + pause + 5 * times
        used |= set(range(begin, end, 5))
    active: datetime | None = None
    warned: datetime | None = None
    seen = False
    announced_s = 0
    for second in range(end + 5 * timeout):
        now = NOON + timedelta(seconds=second)
        seen = seen or second in used
        if seen and second % activity.EVERY_S == offset:
            active, seen = now, False
        if second % Idle.tick_s:
            continue
        decided = decide(
            first_to_end(findings(Rules(traffic_s=timeout), life(active_at=active), [], now)), warned, now
        )
        match decided.step:
            case IdleAction.WARN:
                # Never while it is in use all the time: there was half a minute without.
                assert any(not used & set(range(at, at + 30)) for at in range(second - 60, second - 29))
                announced_s = second if warned is None else announced_s
                warned = decided.ends_at
            case IdleAction.CLEAR:
                warned = None
            case IdleAction.END:
                assert warned
                assert not used & set(range(announced_s, int((warned - NOON).total_seconds())))
                return
    raise AssertionError("it never ends")


def test_what_is_written_down_late_is_known_before_anybody_is_ended():
    assert timedelta(seconds=activity.EVERY_S + Idle.tick_s) < LATE
    shortest = min(Finding(IdleRule.TRAFFIC, limit_s, "").notice for limit_s in (1, 60, 3600))
    assert shortest >= timedelta(seconds=2 * activity.EVERY_S)


@given(
    st.lists(st.sampled_from(["quiet", "busy", "unknown"]), min_size=1, max_size=200),
    st.integers(2, 60),
    st.integers(0, 30),
)
def test_looking_only_when_it_matters_misses_nothing(course, window, grace):
    """Whoever looks when `look_again_at` says warns in the same minute as who looks every minute."""
    rule = UseLimit(window * 60, grace * 60, {"cpu": 5})
    minutes = [
        Minute(at(number), {"cpu": 90.0 if one == "busy" else 1.0})
        for number, one in enumerate(course)
        if one != "unknown"
    ]
    next_look = NOON
    for number in range(1, len(course) + 1):
        now = at(number)
        known = [minute for minute in minutes if minute.at < now]
        all_findings = findings(Rules(use=rule), life(), known, now)
        due = decide(first_to_end(all_findings), None, now).step is IdleAction.WARN
        assert not due or next_look <= now
        if next_look <= now:
            next_look = look_again_at(rule, all_findings, now)
