"""Disk space that is kept for the embedded database, for the moment when something else has filled the disk."""

import os
from contextlib import suppress
from pathlib import Path

_MOST_BYTES = 512 << 20
_SHARE = 10
_LEAST_BYTES = 64 << 20
"""PostgreSQL extends its log by 16 MiB; a smaller reserve would not last."""
RELEASE_BYTES = 32 << 20


class DiskReserve:
    """The file `reserve` of the data directory: a tenth of the disk, at most 512 MiB; none on disks below 640 MiB.

    It is deleted when less than 32 MiB are free, and made again when four times its size is.
    """

    def __init__(self, data_dir: Path) -> None:
        self._file = data_dir / "reserve"

    def release_if_full(self) -> bool:
        """True if this call has freed the space. Cheap: for every tick."""
        try:
            if self._free() >= RELEASE_BYTES:
                return False
            self._file.unlink()
        except OSError:
            return False
        return True

    def restore(self) -> None:
        """Make the file, if it is not there and there is plenty of space. Twice: no-op."""
        with suppress(OSError):
            space = os.statvfs(self._file.parent)
            size = min(space.f_blocks * space.f_frsize // _SHARE, _MOST_BYTES)
            if size < _LEAST_BYTES or self._file.exists() or self._free() < 4 * size:
                return
            fresh = self._file.with_name("reserve.new")
            try:
                with fresh.open("wb") as file:
                    os.posix_fallocate(file.fileno(), 0, size)
                fresh.rename(self._file)
            finally:
                fresh.unlink(missing_ok=True)

    def _free(self) -> int:
        space = os.statvfs(self._file.parent)
        return space.f_bavail * space.f_frsize
