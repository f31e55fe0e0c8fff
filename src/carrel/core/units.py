"""Slots and their units: `cpu` in millicores, `mem` in bytes, everything else in its own integer unit."""

import re
from collections.abc import Mapping
from math import inf, isfinite

Slots = Mapping[str, int]
LEAST: Slots = {"cpu": 10, "mem": 4 << 20}
"""Minimum requests: an engine cannot enforce smaller limits."""

_SUFFIX = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
_DURATIONS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_SIZE = re.compile(r"^(\d+(?:\.\d+)?)\s*([kmgtp]?)(?:i?b)?$", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Bytes from "512m", "1.5GiB", "2g" or "1024".

    Units: binary multiples, whatever the spelling.
    Raises: ValueError naming the text.
    """
    match = _SIZE.match(text.strip())
    size = float(match[1]) * _SUFFIX[match[2].lower()] if match else inf
    if not isfinite(size):
        raise ValueError(f"{text!r} is not a size; write for example 512m or 2g")
    return int(size)


def parse_cpu(text: str) -> int:
    """Millicores from "0.5", "2" or "250m".

    Raises: ValueError naming the text.
    """
    raw = text.strip()
    try:
        return int(raw[:-1]) if raw.endswith("m") else round(float(raw) * 1000)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is not a number of CPUs; write for example 0.5, 2 or 250m") from None


def parse_duration(text: str) -> int:
    """Seconds from "90", "90s", "10m", "2h" or "30d".

    Raises: ValueError naming the text.
    """
    raw = text.strip().lower()
    scale = _DURATIONS.get(raw[-1:], 0)
    try:
        seconds = round(float(raw[:-1]) * scale if scale else float(raw))
    except (ValueError, OverflowError):
        seconds = -1
    if seconds < 0:
        raise ValueError(f"{text!r} is not a length of time; write for example 90s, 10m, 2h or 30d")
    return seconds


def parse_slots(amounts: Mapping[str, int | str]) -> dict[str, int]:
    """Slots in base units. Numbers are in base units already; text is in units for people: {"cpu": "2", "mem": "4g",
    "cuda.shares": "0.5"}.

    Raises: ValueError naming the invalid amount.
    """
    slots = {slot: _parse_amount(slot, amount) for slot, amount in amounts.items()}
    if slot := next((slot for slot, amount in slots.items() if amount < 0), None):
        raise ValueError(f"{slot} is less than nothing")
    return slots


def _parse_amount(slot: str, text: int | str) -> int:
    if not isinstance(text, str):
        # 1.5 cores are 1500 or "1.5": truncating the number 1.5 to a thousandth of a core is never intended.
        if isinstance(text, bool) or text != int(text):
            raise ValueError(f"{text} is not a whole number of {slot} in its base unit")
        return int(text)
    if slot in ("cpu", "mem"):
        return parse_cpu(text) if slot == "cpu" else parse_size(text)
    try:
        return round(float(text) * 1000) if slot.endswith(".shares") else int(text)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is not an amount of {slot}") from None


def format_size(size_bytes: int) -> str:
    """ "1 GiB", "1.5 GiB", "512 MiB": at most one decimal."""
    value, unit = float(size_bytes), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if value < 1024 or unit == "PiB":
            break
        value /= 1024
    return f"{value:.1f}".removesuffix(".0") + f" {unit}"


def format_duration(duration_s: float) -> str:
    """ "45 s", "3.5 min", "2 h", "1.5 d": at most one decimal."""
    for size, unit, until in ((1, "s", 60), (60, "min", 3600), (3600, "h", 2 * 86400)):
        if duration_s < until:
            return f"{duration_s / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{duration_s / 86400:.1f}".removesuffix(".0") + " d"


def format_slot(slot: str, amount: int) -> str:
    """An amount for people: `cpu` 1500 is "1.5 CPU", `mem` is a size, shares are fractions of a device."""
    if slot == "mem":
        return format_size(amount)
    if slot == "cpu":
        return f"{amount / 1000:g} CPU"
    if slot.endswith(".shares"):
        return f"{amount / 1000:g} {slot}"
    return f"{amount} {slot}"


def add(left: Slots, right: Slots) -> dict[str, int]:
    """The sum per slot."""
    return {slot: left.get(slot, 0) + right.get(slot, 0) for slot in left.keys() | right.keys()}


def subtract(left: Slots, right: Slots) -> dict[str, int]:
    """The difference per slot; may be negative."""
    return {slot: left.get(slot, 0) - right.get(slot, 0) for slot in left.keys() | right.keys()}
