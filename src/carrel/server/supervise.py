"""The process that keeps the others alive: `python -m carrel.server.supervise DATA_DIR`.

Standard library only: it lives as long as the installation and should weigh nothing. It starts the roles,
starts them again when they die (waiting longer each time), watches the embedded PostgreSQL, keeps the logs of
both from growing without end, and ends them all on SIGTERM. Sessions are not its children: they go on.
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from carrel.db.embedded import Embedded, EmbeddedError

ROLES = ("api,controllers", "gateway")
_LONGEST_PAUSE_S = 30.0
_STABLE_S = 60.0
_STOP_S = 10.0
_TICK_S = 0.5
_DATABASE_TICKS = 2
_LOG_TICKS = 60
_LOG_BYTES = 10 << 20


@dataclass
class Child:
    """One role's process. pause_s: how long to wait before the next start."""

    role: str
    environment: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause_s: float = 0.5
    not_before: float = field(default=0.0)

    def keep_alive(self, now: float) -> None:
        if self.process is not None:
            if self.process.poll() is None:
                return
            self.pause_s = 0.5 if now - self.started > _STABLE_S else min(self.pause_s * 2, _LONGEST_PAUSE_S)
            self.not_before = now + self.pause_s
            self.process = None
        if now >= self.not_before:
            self.start(now)

    def start(self, now: float) -> None:
        try:
            with self.log.open("ab") as log:
                self.process = subprocess.Popen(
                    [sys.executable, "-m", "carrel.server.processes", self.role, str(os.getpid())],
                    env={**os.environ, **self.environment},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
        except OSError as error:
            # The disk or the table of processes is full; neither is for ever.
            complain(error)
            self.not_before = now + _LONGEST_PAUSE_S
        self.started = now


class Supervisor:
    """Runs until told to stop."""

    def __init__(self, data_dir: Path) -> None:
        self._lock = (data_dir / "lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        run = json.loads((data_dir / "run.json").read_text())
        self._pid_file = data_dir / "supervisor.pid"
        logs = data_dir / "logs"
        logs.mkdir(exist_ok=True)
        self._embedded = Embedded(data_dir / "postgres") if run["embedded"] else None
        self._children = [
            Child(role, run["environment"], logs / f"{role.split(',')[0]}.err") for role in ROLES
        ]
        self._logs = [logs / "supervisor.err", *(child.log for child in self._children)]
        if self._embedded:
            self._logs.append(self._embedded.log)
        self._stop = False

    def run(self) -> None:
        """Keep everything alive until SIGTERM or SIGINT, then end it in order."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        self._pid_file.write_text(str(os.getpid()))
        ticks = 0
        while not self._stop:
            now = time.monotonic()
            for child in self._children:
                child.keep_alive(now)
            ticks += 1
            if self._embedded and ticks % _DATABASE_TICKS == 0 and not self._embedded.running():
                self._restart_database()
            if ticks % _LOG_TICKS == 0:
                for log in self._logs:
                    bound(log)
            time.sleep(_TICK_S)
        self._end()

    def _restart_database(self) -> None:
        assert self._embedded is not None
        try:
            self._embedded.start()
        except (EmbeddedError, OSError) as error:
            complain(error)
            time.sleep(2)

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
        if self._embedded:
            self._embedded.stop()
        self._pid_file.unlink(missing_ok=True)


def bound(log: Path, most_bytes: int = _LOG_BYTES) -> None:
    """Move what a log holds into `<log>.1` when it has become long. Its writers append, so they need not know."""
    try:
        if not log.exists() or log.stat().st_size <= most_bytes:
            return
        with suppress(OSError):  # no room for the copy: what it says is lost, and there is room
            shutil.copyfile(log, log.with_name(f"{log.name}.1"))
        os.truncate(log, 0)
    except OSError as error:
        complain(error)


def complain(error: Exception) -> None:
    """Say it in our own log, unless that cannot be written either."""
    with suppress(OSError):
        sys.stderr.write(f"{error}\n")


if __name__ == "__main__":
    try:
        supervisor = Supervisor(Path(sys.argv[1]))
    except BlockingIOError:
        sys.exit("Another supervisor runs in this data directory.")
    supervisor.run()
