"""The logs of sessions, as one archive."""

from pathlib import Path

from carrel.server.backup.manifest import Progress, StoredFile
from carrel.server.backup.programs import extract_tar, into_file
from carrel.sessions.logs.store import DIRECTORY

ARCHIVE = f"{DIRECTORY}.tar"
_CHANGED = 1
"""tar's exit code if files changed during the read; a log that grows is complete up to some line."""


def archive(data_dir: Path, backup: Path, progress: Progress) -> StoredFile | None:
    """Write the archive; None if there are no logs. Raises: Unavailable."""
    if not (data_dir / DIRECTORY).is_dir():
        return None
    command = ["tar", "--create", f"--directory={data_dir}", DIRECTORY]
    stored, _ = into_file(command, backup / ARCHIVE, name=ARCHIVE, progress=progress, tolerated=(_CHANGED,))
    return stored


def extract(backup: Path, fresh: Path) -> None:
    """Unpack the archive into a new data directory. Raises: ProgramFailed."""
    with (backup / ARCHIVE).open("rb") as archived:
        extract_tar(archived.fileno(), fresh)
