"""The supervisor: `python -m carrel.server.supervise DATA_DIR`.

Standard library only, since it lives as long as the installation and should stay small. It starts the fork server,
which forks the roles, and restarts roles that die (immediately, unless they die before they are ready), the fork server
and the embedded PostgreSQL. It bounds the size of all logs and stops everything on SIGTERM. Sessions are not its
children: they continue.
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from carrel.db.embedded import Embedded, EmbeddedError
from carrel.server.children import FIRST_PAUSE_S, ForkServer, RoleProcess, report
from carrel.server.reserve import DiskReserve

ROLES = ("api,controllers", "gateway")
_LONGEST_DATABASE_PAUSE_S = 4.0
_STOP_S = 10.0
_TICK_S = 0.2
_LOG_TICKS = 150
_LOG_BYTES = 10 << 20


class DatabaseKeeper:
    """Restarts the embedded PostgreSQL whenever it is down. Recovery may take minutes and does not block the
    supervisor.
    """

    def __init__(self, embedded: Embedded) -> None:
        self._embedded = embedded
        self._starting: threading.Thread | None = None
        self._not_before = 0.0
        self._pause_s = 0.0

    def keep_alive(self, now: float) -> None:
        if self._starting is not None:
            if self._starting.is_alive():
                return
            self._starting = None
            self._not_before = now + self._pause_s
        if now >= self._not_before and not self._embedded.running():
            self._starting = threading.Thread(target=self._start, daemon=True)
            self._starting.start()

    def stop(self) -> None:
        self._embedded.stop()
        if self._starting is not None:
            self._starting.join(_STOP_S)
            self._embedded.stop()

    def _start(self) -> None:
        report("postgres is down; starting it")
        try:
            self._embedded.start()
            self._pause_s = 0.0
        except (EmbeddedError, OSError) as error:
            report(str(error))
            self._pause_s = min(max(self._pause_s * 2, FIRST_PAUSE_S), _LONGEST_DATABASE_PAUSE_S)


class Supervisor:
    """Runs until it is stopped."""

    def __init__(self, data_dir: Path) -> None:
        self._lock = (data_dir / "lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        run = json.loads((data_dir / "run.json").read_text())
        self._pid_file = data_dir / "supervisor.pid"
        logs = data_dir / "logs"
        logs.mkdir(exist_ok=True)
        embedded = Embedded(data_dir / "postgres") if run["embedded"] else None
        self._database = DatabaseKeeper(embedded) if embedded else None
        environment = {**os.environ, **_compiled_code(data_dir), **run["environment"]}
        fork_server = ForkServer(environment, logs / "fork-server.err")
        roles = [RoleProcess(role, fork_server, logs / f"{role.split(',')[0]}.err") for role in ROLES]
        self._children = [fork_server, *roles]
        self._logs = [logs / "supervisor.err", *(child.log for child in self._children)]
        if embedded:
            self._logs.append(embedded.log)
        self._reserve = DiskReserve(data_dir) if embedded else None
        self._stop = False

    def run(self) -> None:
        """Supervise all processes until SIGTERM or SIGINT, then stop them in order."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        self._pid_file.write_text(str(os.getpid()))
        ticks = 0
        while not self._stop:
            now = time.monotonic()
            for child in self._children:
                child.keep_alive(now)
            if self._database:
                self._database.keep_alive(now)
            if self._reserve and self._reserve.release_if_full():
                report("the disk is full: the reserve for the database is released")
            if self._reserve and ticks % _LOG_TICKS == 0:
                self._reserve.restore()
            ticks += 1
            if ticks % _LOG_TICKS == 0:
                for log in self._logs:
                    bound(log)
            time.sleep(_TICK_S)
        self._end()

    def _on_signal(self, *_: object) -> None:
        self._stop = True

    def _end(self) -> None:
        processes = [child.process for child in self._children if child.process is not None]
        for process in processes:
            process.terminate()
        deadline = time.monotonic() + _STOP_S
        for process in processes:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
        if self._database:
            self._database.stop()
        self._pid_file.unlink(missing_ok=True)


def _compiled_code(data_dir: Path) -> dict[str, str]:
    """Environment variables that make Python cache compiled modules, even if it must not write beside the sources;
    without them each start takes seconds longer.
    """
    if not sys.dont_write_bytecode:
        return {}
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(data_dir / "cache" / "python")}


def bound(log: Path, most_bytes: int = _LOG_BYTES) -> None:
    """Move the content of a long log to `<log>.1`. Its writers append, so they are not affected."""
    try:
        if not log.exists() or log.stat().st_size <= most_bytes:
            return
        with suppress(OSError):  # no space for the copy: dropping the content frees space
            shutil.copyfile(log, log.with_name(f"{log.name}.1"))
        os.truncate(log, 0)
    except OSError as error:
        report(str(error))


if __name__ == "__main__":
    try:
        supervisor = Supervisor(Path(sys.argv[1]))
    except BlockingIOError:
        sys.exit("Another supervisor runs in this data directory.")
    supervisor.run()
