"""The daily hours of checks, in the time zone of the site."""

from datetime import UTC, datetime

import pytest

from carrel.images.image_updates.daily_window import opened_at


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "start", "end", "timezone", "opened"),
    [
        ("2026-03-01T01:59", "02:00", "05:00", "UTC", None),
        ("2026-03-01T02:00", "02:00", "05:00", "UTC", "2026-03-01T02:00"),
        ("2026-03-01T04:59", "02:00", "05:00", "UTC", "2026-03-01T02:00"),
        ("2026-03-01T05:00", "02:00", "05:00", "UTC", None),
        # 02:30 in Seoul is the day before in UTC.
        ("2026-03-01T17:30", "02:00", "05:00", "Asia/Seoul", "2026-03-01T17:00"),
        # Over midnight, and the whole day.
        ("2026-03-02T01:00", "22:00", "03:00", "UTC", "2026-03-01T22:00"),
        ("2026-03-01T21:00", "22:00", "03:00", "UTC", None),
        ("2026-03-01T01:00", "02:00", "02:00", "UTC", "2026-02-28T02:00"),
        # The hour from 02:00 is skipped in Berlin on 29 March 2026.
        ("2026-03-29T01:30", "02:00", "05:00", "Europe/Berlin", "2026-03-29T01:00"),
    ],
)
def test_the_hours(now: str, start: str, end: str, timezone: str, opened: str | None):
    assert opened_at(at(now), start, end, timezone) == (at(opened) if opened else None)
