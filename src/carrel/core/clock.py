"""The clock as an argument, so that simulations can control time."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """A source of the current time."""

    def now(self) -> datetime:
        """The current time, with a time zone (UTC)."""
        ...


class SystemClock:
    """The system clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)
