"""Why the database does not do what it was asked, for the people who ask."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import psycopg

from carrel.core.errors import Unavailable

FULL_BYTES = 32 << 20
"""With less than this PostgreSQL cannot go on for sure: its log grows by 16 MiB at a time."""
_RETRY_FULL_S = 10


@dataclass(frozen=True)
class Outage:
    """folder: where the embedded server keeps its data; None for a server of somebody else's."""

    folder: Path | None = None

    def explain(self, error: BaseException) -> Unavailable:
        """What an error of the driver's means: a full disk, or else no answer."""
        if isinstance(error, psycopg.errors.DiskFull) or self._disk_is_full():
            return Unavailable(
                "server.disk_full",
                "The server's disk is full, so nothing can be written down.",
                hint="Running sessions go on. An administrator must free space; then all else goes on by itself.",
                details={"retry_after_s": _RETRY_FULL_S},
            )
        return Unavailable(
            "database.unavailable",
            "The database does not answer.",
            hint="Try again in a moment; an administrator can run `carrel status`.",
        )

    def _disk_is_full(self) -> bool:
        # A server that could not write its log is gone and says nothing any more.
        try:
            return self.folder is not None and shutil.disk_usage(self.folder).free < FULL_BYTES
        except OSError:
            return False
