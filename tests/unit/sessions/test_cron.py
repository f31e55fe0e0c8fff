"""Times of cron expressions, also where clocks change."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.core.errors import Invalid
from carrel.sessions.schedules import cron

BERLIN = "Europe/Berlin"
moments = st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC))
expressions = st.sampled_from(
    ["0 6 * * *", "30 2 * * *", "*/20 * * * *", "15 */3 * * 1-5", "0 0 1 * *", "59 23 L * *"]
)
zones = st.sampled_from(["UTC", BERLIN, "Asia/Seoul", "America/New_York", "Australia/Lord_Howe"])


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]


def test_a_time_that_is_skipped_runs_right_after_the_change():
    times = cron.upcoming("30 2 * * *", BERLIN, at(2026, 3, 28, 12), 2)
    assert times == [at(2026, 3, 29, 1), at(2026, 3, 30, 0, 30)]


def test_a_time_that_comes_twice_runs_once():
    times = cron.upcoming("30 2 * * *", BERLIN, at(2026, 10, 24, 12), 2)
    assert times == [at(2026, 10, 25, 0, 30), at(2026, 10, 26, 1, 30)]


def test_every_half_hour_runs_every_half_hour_through_the_change():
    times = cron.upcoming("*/30 * * * *", BERLIN, at(2026, 10, 24, 23, 45), 6)
    assert times == [at(2026, 10, 25) + timedelta(minutes=30 * number) for number in range(6)]


@given(expressions, zones, moments, moments)
def test_the_last_time_that_is_due_is_the_last_until_now(
    expression: str, zone: str, one: datetime, other: datetime
) -> None:
    before, now = sorted((one, other))
    now = min(now, before + timedelta(days=40))
    [first] = cron.upcoming(expression, zone, before, 1)
    assert first > before
    if first > now:
        return
    last, count = cron.last_due(expression, zone, first, now)
    due = [time for time in cron.upcoming(expression, zone, before, 4000) if time <= now]
    assert (last, count) == (due[-1], len(due))
    assert due == sorted(set(due))


@pytest.mark.parametrize("expression", ["", "x", "* * * *", "@daily", "0 0 30 2 *", "61 * * * *"])
def test_bad_expressions_are_refused(expression: str):
    with pytest.raises(Invalid, match="cron"):
        cron.require_valid(expression, "UTC")


@pytest.mark.parametrize("zone", ["Mars", "../etc/passwd", "/etc/localtime", "", "\0"])
def test_bad_time_zones_are_refused(zone: str):
    with pytest.raises(Invalid, match="time zone"):
        cron.require_valid("* * * * *", zone)
