"""Times of cron expressions in time zones. All times given and returned are in UTC.

Five fields as in Debian's cron. At changes of daylight saving time it behaves as that: a time that is skipped runs
right after the change, and one that comes twice runs once; expressions with `*` in minutes or hours run by elapsed
time.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from carrel.core.clock import is_time_zone
from carrel.core.errors import Invalid

_MOST_AT_ONCE = 100_000


def require_valid(expression: str, timezone: str) -> None:
    """Raises: Invalid."""
    if not is_time_zone(timezone):
        raise Invalid(
            "schedule.bad_timezone",
            f"{timezone[:64]} is not a time zone.",
            hint="Use a name such as Europe/Berlin, Asia/Seoul or UTC.",
            field="timezone",
        )
    try:
        next(CronSim(expression, datetime(2026, 1, 1, tzinfo=UTC)))
    except (CronSimError, StopIteration):
        raise Invalid(
            "schedule.bad_cron",
            f"{expression[:100]} is not a cron expression with a time.",
            hint="Give minute, hour, day of month, month and day of week, such as 0 6 * * 1-5.",
            field="cron",
        ) from None


def times(expression: str, timezone: str, after: datetime) -> Iterator[datetime]:
    """The times later than `after`, in order."""
    for time in CronSim(expression, after.astimezone(ZoneInfo(timezone))):
        yield time.astimezone(UTC)


def upcoming(expression: str, timezone: str, after: datetime, count: int) -> list[datetime]:
    """The next times."""
    return list(islice(times(expression, timezone, after), count))


def last_due(expression: str, timezone: str, first: datetime, now: datetime) -> tuple[datetime, int]:
    """The last time from `first`, which is due, until now; and how many there are."""
    last, count = first, 1
    for time in islice(times(expression, timezone, first), _MOST_AT_ONCE):
        if time > now:
            break
        last, count = time, count + 1
    return last, count
