"""Stops a running server of other code, so that `carrel up` can start this code in its place."""

import re
from contextlib import suppress
from pathlib import Path

import psycopg

from carrel.core.errors import Conflict
from carrel.server.console import say
from carrel.server.remembered import require_as_running
from carrel.server.run_file import read_run
from carrel.server.running import stop
from carrel.server.settings import Settings
from carrel.server.waiting import require_not_newer


def stop_former(settings: Settings, pid: int) -> None:
    """Stop the supervisor. Raises: Conflict if this code could not take its place."""
    require_as_running(settings)
    with suppress(FileNotFoundError, ProcessLookupError):  # it has stopped meanwhile
        require_own(Path(f"/proc/{pid}/cgroup").read_text())
    with suppress(psycopg.Error):  # the start waits for it
        require_not_newer(read_run(settings.data_dir)["CARREL_DATABASE_URL"])
    say("Carrel is running with other code: restarting it. Sessions keep running.")
    stop(settings)


def require_own(cgroup: str) -> None:
    """Check that no service of systemd started this server. Raises: Conflict."""
    if unit := re.search(r"/(carrel[^/]*\.service)$", cgroup, re.MULTILINE):
        systemctl = "systemctl --user" if "/user@" in cgroup else "systemctl"
        raise Conflict(
            "setup.service",
            f"Carrel is running with other code, started by the service {unit[1]}.",
            hint=f"Restart it with: {systemctl} restart {unit[1]}",
        )
