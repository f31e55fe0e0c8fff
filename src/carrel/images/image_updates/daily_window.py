"""The daily hours in which tags are checked. Pure."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo


def opened_at(now: datetime, start: str, end: str, timezone: str) -> datetime | None:
    """When the hours that include `now` began; None outside of them. start, end: HH:MM in the time zone. The end may be
    on the next day; the same time twice is a whole day.
    """
    zone = ZoneInfo(timezone)
    today = now.astimezone(zone).date()
    begins, ends = time.fromisoformat(start), time.fromisoformat(end)
    for day in (today, today - timedelta(days=1)):
        last = day if begins < ends else day + timedelta(days=1)
        first_moment = datetime.combine(day, begins, zone).astimezone(UTC)
        if first_moment <= now < datetime.combine(last, ends, zone).astimezone(UTC):
            return first_moment
    return None
