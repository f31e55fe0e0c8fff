"""Temporary directories of this machine. What a killed process leaves there, the next one deletes."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def scratch(prefix: str) -> Iterator[tuple[Path, int]]:
    """A directory that is deleted in the end, and its lock, which keeps it for programs that inherit the descriptor."""
    made = Path(tempfile.mkdtemp(prefix=f".{prefix}"))
    with _locked(made) as lock:
        # Only now may others see it, who delete what is not locked.
        place = made.rename(made.with_name(made.name.removeprefix(".")))
        try:
            yield place, lock
        finally:
            shutil.rmtree(place, ignore_errors=True)


def remove_leftovers(prefix: str, parent: Path | None = None) -> None:
    """Delete such directories of killed processes, in the directory for temporary files. Twice: no-op."""
    for folder in (parent or Path(tempfile.gettempdir())).glob(f"{prefix}*"):
        # Another process may delete it meanwhile.
        with contextlib.suppress(OSError):
            if folder.lstat().st_uid == os.geteuid():
                with _locked(folder):
                    command = ["rm", "-rf", "--one-file-system", str(folder)]
                    subprocess.run(command, check=False, capture_output=True)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[int]:
    """Raises: OSError if another process has the lock."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield lock
    finally:
        os.close(lock)
