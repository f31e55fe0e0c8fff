"""Processes in namespaces of their own, and the traces that they leave outside of them.

A `Place` is a network, mount and PID namespace, kept by one process: when that is killed, everything in the place ends,
and its network devices and mounts are gone. So an interrupted test leaves only that process, a folder in /tmp, and
control groups, all with the name of the folder in them: `sweep` removes them.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from people import wait_until

_PREFIX = "carrel-cluster-"
_CGROUPS = Path("/sys/fs/cgroup")
_WITHIN_S = 60.0
_EVERY_S = 0.02
_KEEPER = "while :; do sleep 1000 & wait $!; done"
"""The process with PID 1 of a place. It reaps orphans."""


def open_folder() -> tuple[Path, IO[str]]:
    """A new folder in /tmp, and its lock, which the kernel releases when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir="/tmp"))
    lock = (folder / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return folder, lock


def sweep_abandoned() -> None:
    """Remove what tests left that were killed."""
    for folder in Path("/tmp").glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError), (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            sweep(folder)


def sweep(folder: Path) -> None:
    """End all processes of this folder; delete its control groups and the folder."""
    for pid in _processes(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not _processes(folder), within_s=_WITHIN_S, every_s=_EVERY_S)
    for root in _CGROUPS.glob(f"*/{folder.name}"):
        wait_until(lambda root=root: _delete_group(root), within_s=_WITHIN_S, every_s=_EVERY_S)  # type: ignore[misc]
    # Its lock at last: without it another test would sweep it at the same time.
    for entry in folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
    shutil.rmtree(folder)


def make_groups(folder: Path, name: str) -> str:
    """A control group in every hierarchy; returns its path within them."""
    for hierarchy in _CGROUPS.iterdir():
        if not (hierarchy / "tasks").exists():
            continue
        for group in (hierarchy / folder.name, hierarchy / folder.name / name):
            group.mkdir(exist_ok=True)
            for setting in ("cpuset.cpus", "cpuset.mems"):
                if (group / setting).exists():
                    (group / setting).write_text((group.parent / setting).read_text())
    return f"/{folder.name}/{name}"


class Place:
    """Namespaces with processes in them. within: the place in whose network a device is connected; its PIDs enclose
    those of this one.
    """

    def __init__(self, folder: Path, name: str, *, within: "Place | None" = None, setup: str = "") -> None:
        self.name = name
        self._folder = folder
        script = f"set -e; ip link set lo up; {setup}\n: > {folder}/{name}.up\n{_KEEPER}"
        enter = within._enter("--pid") if within else []
        new = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc"]
        process = self._spawn(name, [*enter, *new, "sh", "-c", script])
        _succeeds(process, (folder / f"{name}.up").exists, folder / f"{name}.log")
        self.pid = _innermost(process.pid)

    def start(self, name: str, *command: str) -> "Running":
        """Start a program in the place. Its log is NAME.log in the folder."""
        process = self._spawn(name, [*self._enter("--net", "--mount", "--pid"), *command])
        return Running(process, self._folder / f"{name}.log")

    def run(self, script: str) -> str:
        """Run a shell script in the place. Raises: RuntimeError."""
        done = subprocess.run(
            [*self._enter("--net", "--mount", "--pid"), "sh", "-e", "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{script}: {done.stdout}")
        return done.stdout

    def kill(self) -> None:
        """End everything in it at once, as by a power cut. Twice: no-op."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def _enter(self, *namespaces: str) -> list[str]:
        return ["nsenter", "--target", str(self.pid), *namespaces]

    def _spawn(self, name: str, command: list[str]) -> "subprocess.Popen[bytes]":
        with (self._folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )


class Running:
    """A program in a place."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self._process = process
        self._log = log

    def until(self, path: Path) -> None:
        """Wait for the file that it makes when it is ready. Raises: RuntimeError with the end of its log."""
        _succeeds(self._process, path.exists, self._log)

    def check(self) -> None:
        """Raises: RuntimeError with the end of its log if it has ended."""
        if self._process.poll() is not None:
            raise RuntimeError(f"{self._log.name}:\n{self._log.read_text(errors='replace')[-3000:]}")

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it and wait. Twice: no-op."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(_innermost(self._process.pid), how)
            self._process.wait(_WITHIN_S)


def _succeeds(process: "subprocess.Popen[bytes]", ready: Callable[[], bool], log: Path) -> None:
    wait_until(lambda: ready() or process.poll() is not None, within_s=_WITHIN_S, every_s=_EVERY_S)
    if not ready():
        raise RuntimeError(f"{log.name}:\n{log.read_text(errors='replace')[-3000:]}")


def _innermost(pid: int) -> int:
    """The process at the end of the chain: nsenter and unshare have one child each."""
    while children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if Path(f"/proc/{pid}/comm").read_text().strip() not in ("nsenter", "unshare"):
            break
        pid = int(children[0])
    return pid


def _processes(folder: Path) -> list[int]:
    """Processes with the folder in their command line; never this one."""
    mine = str(folder).encode()
    pids = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if mine in (entry / "cmdline").read_bytes():
                    pids.append(int(entry.name))
    return pids


def _delete_group(root: Path) -> bool:
    for group in _groups_below(root):
        try:
            group.rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            return False
    return True


def _groups_below(root: Path) -> Iterator[Path]:
    """It and the groups in it, the deepest first."""
    with contextlib.suppress(FileNotFoundError):
        for child in root.iterdir():
            if child.is_dir():
                yield from _groups_below(child)
    yield root
