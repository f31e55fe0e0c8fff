"""Time as an argument, so that simulations can own it."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Where the current time comes from."""

    def now(self) -> datetime:
        """The time now, with a time zone (UTC)."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)
