"""Child processes of the supervisor: the fork server, and the roles that it forks."""

import os
import signal
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Protocol

from carrel.server import prctl

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
_FORK_S = 10.0
_WAIT_S = 0.02
_LONGEST_BYTES = 100


class Process(Protocol):
    """The part of `subprocess.Popen` that the supervisor uses."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float) -> int: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


class Child(ABC):
    """One process. pause_s: delay before the next start.

    A process that was ready is restarted immediately when it dies. If it dies earlier, the delay doubles each time. A
    process reports readiness by a message on its link, a socket.
    """

    def __init__(self, name: str, log: Path) -> None:
        self.name = name
        self.log = log
        self.process: Process | None = None
        self.pause_s = 0.0
        self.not_before = 0.0
        self._link: socket.socket | None = None
        self._ready = False

    def keep_alive(self, now: float) -> None:
        if self.process is not None:
            code = self.process.poll()
            if code is None:
                return
            self.pause_s = 0.0 if self.ready() else min(max(self.pause_s * 2, FIRST_PAUSE_S), LONGEST_PAUSE_S)
            self.not_before = now + self.pause_s
            report(f"{self.name} ended with {code}; it starts again in {self.pause_s:g} s")
            self._forget()
        if now >= self.not_before and self._can_start():
            self.start(now)

    def ready(self) -> bool:
        """True if the last started process has become ready."""
        if self._link is not None and not self._ready:
            with suppress(BlockingIOError, ConnectionError):
                self._ready = self._link.recv(_LONGEST_BYTES) != b""
        return self._ready

    def start(self, now: float) -> None:
        self._forget()
        try:
            # A socket type that keeps message boundaries.
            self._link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs, self.log.open("ab") as log:
                self.process = self._launch(self._link, theirs, log)
            self._link.setblocking(False)
        except ForkServerGoneError:
            self._forget()
        except OSError as error:
            # The disk or the process table is full; both are temporary.
            self._forget()
            report(str(error))
            self.not_before = now + LONGEST_PAUSE_S

    def _can_start(self) -> bool:
        return True

    @abstractmethod
    def _launch(self, ours: socket.socket, theirs: socket.socket, log: BinaryIO) -> Process:
        """Start the process with `theirs` as its end of the link. Raises: OSError, ForkServerGoneError."""

    def _forget(self) -> None:
        self.process = None
        self._ready = False
        if self._link is not None:
            self._link.close()
            self._link = None


class ForkServer(Child):
    """See `carrel.server.fork_server`. module: loaded by it and run by its roles."""

    def __init__(
        self, environment: dict[str, str], log: Path, *, module: str = "carrel.server.processes"
    ) -> None:
        super().__init__("fork server", log)
        self._environment = environment
        self._module = module

    def fork(self, role: str, ours: socket.socket, theirs: socket.socket, log: BinaryIO) -> Process:
        """Fork a process for the role; it is a child of this one. Raises: OSError, ForkServerGoneError."""
        assert self._link is not None
        try:
            with prctl.adopting():
                socket.send_fds(self._link, [role.encode()], [theirs.fileno(), log.fileno()])
                theirs.close()
                ours.settimeout(_FORK_S)
                answer = int(ours.recv(_LONGEST_BYTES))
        except (OSError, ValueError):
            # A process that it forked meanwhile ends with the link.
            if self.process is not None:
                self.process.kill()
            raise ForkServerGoneError from None
        if answer < 0:
            raise OSError(-answer, os.strerror(-answer))
        with suppress(ConnectionError):  # already dead
            ours.send(b"go")
        return _Forked(answer)

    def _launch(self, ours: socket.socket, theirs: socket.socket, log: BinaryIO) -> Process:
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "carrel.server.fork_server",
                str(os.getpid()),
                str(theirs.fileno()),
                self._module,
            ],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[theirs.fileno()],
        )


class RoleProcess(Child):
    """One role, started once the fork server is ready."""

    def __init__(self, role: str, fork_server: ForkServer, log: Path) -> None:
        super().__init__(role, log)
        self._fork_server = fork_server

    def _can_start(self) -> bool:
        return self._fork_server.ready()

    def _launch(self, ours: socket.socket, theirs: socket.socket, log: BinaryIO) -> Process:
        return self._fork_server.fork(self.name, ours, theirs, log)


class ForkServerGoneError(Exception):
    """The fork server ended or does not respond; another one is started."""


class _Forked:
    """A child that the fork server forked."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def poll(self) -> int | None:
        if self._code is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                # The fork server was killed meanwhile: the process was not adopted and has ended.
                pid, status = self.pid, 0
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code

    def wait(self, timeout: float) -> int:
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(_WAIT_S)
        return code

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def report(line: str) -> None:
    """Write a line with a timestamp to the supervisor's log; ignore write errors."""
    with suppress(OSError):
        sys.stderr.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}\n")
        sys.stderr.flush()
