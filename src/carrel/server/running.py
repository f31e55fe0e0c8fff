"""The supervisor of an installation: whether it runs, and how it is stopped."""

import os
import signal
import sys
import time
from pathlib import Path

from carrel.core.errors import Unavailable
from carrel.db.embedded import Embedded
from carrel.server.settings import Settings

_STOP_S = 30.0


def running_pid(data_dir: Path) -> int | None:
    """The pid of this data directory's supervisor, if it is alive."""
    try:
        pid = int((data_dir / "supervisor.pid").read_text())
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return None
    return pid if supervisor_command(data_dir)[1:] == command.decode().split("\0")[1:-1] else None


def stop(settings: Settings) -> None:
    """Stop the control plane and the embedded database. Twice: no-op. Raises: Unavailable."""
    if (pid := running_pid(settings.data_dir)) is not None:
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + _STOP_S
        while running_pid(settings.data_dir):
            if time.monotonic() > deadline:
                raise Unavailable(
                    "setup.not_stopping",
                    f"The process {pid} does not stop.",
                    hint=f"See {settings.data_dir / 'logs'}; then kill -9 {pid}.",
                )
            time.sleep(0.05)
    embedded(settings).stop()


def embedded(settings: Settings) -> Embedded:
    """The database of the data directory."""
    return Embedded(settings.data_dir / "postgres")


def supervisor_command(data_dir: Path) -> list[str]:
    """The command line by which it is recognized."""
    return [sys.executable, "-m", "carrel.server.supervise", str(data_dir)]
