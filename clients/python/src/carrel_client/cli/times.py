"""Times for display: in local time, or as an age. Structured output keeps the API's UTC times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from carrel_client.units import parse_duration


def local_time(at: str | None, otherwise: str = "") -> str:
    """The time by this machine's clock: "2026-01-31 14:05:09"."""
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M:%S") if at else otherwise


def moment(text: str) -> str:
    """A time, given as a time or a duration ago. Raises: ValueError."""
    if text[:4].isdigit() and text[4:5] == "-":
        return text
    return (datetime.now(UTC) - timedelta(seconds=parse_duration(text))).isoformat()


def age(now: datetime, since: str) -> str:
    """How long ago: "42s", "5m", "3h", "12d"."""
    seconds = max(0, int((now - datetime.fromisoformat(since)).total_seconds()))
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def utc_time(text: str) -> str:
    """An ISO 8601 time in UTC; without an offset it is by this machine's clock. Raises: ValueError."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC).isoformat()
    except ValueError:
        raise ValueError(f"{text!r} is not a time such as 2026-12-24T22:00 or 2026-12-24T22:00:00Z") from None
