"""Amounts as people write them, and back: `cpu` in millicores, `mem` in bytes."""

from __future__ import annotations

_SUFFIX = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}


def parse_size(text: str) -> int:
    """Bytes from "512m", "1.5GiB", "2g" or "1024"; multiples are binary, whatever the spelling.

    Raises: ValueError naming the text.
    """
    raw = text.strip().lower().removesuffix("b").removesuffix("i")
    digits = raw.rstrip("kmgtp")
    try:
        size = int(float(digits) * (1 << _SUFFIX[raw[len(digits) :]]))
    except (ValueError, KeyError, OverflowError):
        size = -1
    if size < 0:
        raise ValueError(f"{text!r} is not a size; write for example 512m or 2g")
    return size


def parse_cpu(text: str) -> int:
    """Millicores from "0.5", "2" or "250m".

    Raises: ValueError naming the text.
    """
    raw = text.strip()
    try:
        cpu_millis = int(raw[:-1]) if raw.endswith("m") else round(float(raw) * 1000)
    except (ValueError, OverflowError):
        cpu_millis = -1
    if cpu_millis < 0:
        raise ValueError(f"{text!r} is not a number of CPUs; write for example 0.5, 2 or 250m")
    return cpu_millis


def parse_duration(text: str) -> float:
    """Seconds from "90", "90s", "10m", "2h" or "30d".

    Raises: ValueError naming the text.
    """
    scale = {"s": 1, "m": 60, "h": 3600, "d": 86400}.get(text[-1:], 0)
    try:
        seconds = float(text[:-1]) * scale if scale else float(text)
    except ValueError:
        seconds = -1.0
    if not seconds > 0:
        raise ValueError(f"{text!r} is not a length of time; write for example 90s, 10m, 2h or 30d")
    return seconds


def format_size(size_bytes: int) -> str:
    """ "1 GiB", "1.5 GiB", "512 MiB": at most one decimal."""
    value = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            return f"{value:.1f}".removesuffix(".0") + f" {unit}"
        value /= 1024
    return f"{value:.1f}".removesuffix(".0") + " PiB"


def format_cpu(cpu_millis: int) -> str:
    """Cores: "0.5", "2"."""
    return f"{cpu_millis / 1000:g}"


def format_duration(seconds: float) -> str:
    """The largest unit that gives a whole number: "90 s", "10 min", "2 h", "30 d"."""
    for length, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= length and seconds % length == 0:
            return f"{seconds / length:g} {unit}"
    return f"{seconds:g} s"
