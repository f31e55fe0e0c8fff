"""How much room the data directory's disk has left, for people."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from carrel.core.units import format_size

_LOW_BYTES = 1 << 30
_LOW_SHARE = 0.1


@dataclass(frozen=True)
class Disk:
    """state: "ok", "low" (everything works, but not for long) or "down". text: a phrase, with what to do if low."""

    state: str
    text: str


def look(data_dir: Path) -> Disk:
    """Low: less than 1 GiB is free, or on a small disk less than a tenth of it."""
    try:
        space = shutil.disk_usage(data_dir)
    except OSError as error:
        return Disk("down", error.strerror or "cannot be read")
    text = f"{format_size(space.free)} of {format_size(space.total)} free"
    if space.free < min(_LOW_BYTES, space.total * _LOW_SHARE):
        return Disk("low", f"{text}; when it is full, nothing can be started or ended")
    return Disk("ok", text)
