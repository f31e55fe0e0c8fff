"""The clock as an argument, so that simulations can control time, and names of time zones."""

from datetime import UTC, datetime
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


class Clock(Protocol):
    """A source of the current time."""

    def now(self) -> datetime:
        """The current time, with a time zone (UTC)."""
        ...


class SystemClock:
    """The system clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def is_time_zone(name: str) -> bool:
    """True for a name of the time zone database, such as Asia/Seoul."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
