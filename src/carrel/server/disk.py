"""Free space on the data directory's disk, for people."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from carrel.core.units import format_size

_LOW_BYTES = 1 << 30
_LOW_SHARE = 0.1


@dataclass(frozen=True)
class Disk:
    """state: "ok", "low" (works, but space runs out soon) or "down". text: a phrase, with a remedy if low."""

    state: str
    text: str


def look(data_dir: Path) -> Disk:
    """The state of the disk. Low: less than 1 GiB free, or less than a tenth of a small disk."""
    try:
        space = shutil.disk_usage(data_dir)
    except OSError as error:
        return Disk("down", error.strerror or "cannot be read")
    text = f"{format_size(space.free)} of {format_size(space.total)} free"
    if space.free < min(_LOW_BYTES, space.total * _LOW_SHARE):
        return Disk("low", f"{text}; when it is full, nothing can be started or ended")
    return Disk("ok", text)
