"""Test harness and helpers of the storage conformance suite."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from carrel.core.ids import FolderId, new_id
from carrel.storage import pace
from carrel.storage.port import WORK_UID, Advance, FolderLocation, StorageBackend

E = TypeVar("E", bound=BaseException)
MIB = 1 << 20
DEEP = 600
"""Deeper than the number of handles of a walk, and than the maximum path length."""


class StorageHarness(Protocol):
    """A storage under test, with operations outside of the port."""

    backend: StorageBackend

    def another(self) -> StorageBackend:
        """A second back end over the same root, without cached state."""
        ...

    def settle(self) -> None:
        """Wait until written data is counted."""
        ...


def place(scope: str | None = None) -> FolderLocation:
    """A new location."""
    return FolderLocation(scope or f"user-{new_id()}", FolderId(new_id()))


def made(harness: StorageHarness, scope: str | None = None) -> FolderLocation:
    """A new empty folder."""
    here = place(scope)
    harness.backend.create(here)
    return here


def silent(advance: Advance) -> None:
    """A tick that ignores progress."""


def refused(kind: type[E], work: Callable[..., object], *args: object) -> E:
    """The error raised by the work."""
    try:
        work(*args)
    except kind as error:
        return error
    raise AssertionError(f"{work} was expected to raise {kind.__name__}")


def as_session(directory: Path, command: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell command as the sessions' user in a mounted directory; as the current user without root."""
    with rooted() as user:
        return subprocess.run(
            ["sh", "-c", command],
            cwd=directory,
            user=user,
            group=user,
            extra_groups=[] if user else None,
            capture_output=True,
            check=False,
        )


@contextmanager
def rooted() -> Iterator[int | None]:
    """Become root within the block if possible; yields the user id for session processes."""
    real, effective, saved = os.getresuid()
    if 0 not in (real, effective, saved):
        yield None
        return
    os.seteuid(0)
    try:
        yield WORK_UID
    finally:
        os.seteuid(effective)


def written(file: Path, mib: int) -> None:
    """Write a file of incompressible content to disk."""
    with file.open("wb") as out:
        for _ in range(mib):
            out.write(os.urandom(MIB))
        out.flush()
        os.fsync(out.fileno())


def plant(files: Path, outside: Path) -> None:
    """Create hostile entries that a session may leave behind. outside: a directory that must not change."""
    (files / "to-directory").symlink_to(outside)
    (files / "to-file").symlink_to(outside / "kept")
    (files / "loop").symlink_to("loop")
    (files / "up").symlink_to("../../..")
    os.mkfifo(files / "pipe")
    for name in (
        bytes(range(1, 47)),
        bytes(range(48, 256)),
        b"\n",
        b" ",
        b"-rf",
        b"\xff\xfe",
        b"a" * 255,
        b"...",
    ):
        Path(os.fsdecode(os.fsencode(files) + b"/" + name)).write_bytes(name)
    sub = files / "shut"
    sub.mkdir()
    (sub / "inside").write_text("x")
    os.link(sub / "inside", files / "one more name")
    sub.chmod(0)
    deepen(files, DEEP)


def deepen(directory: Path, levels: int) -> None:
    """Create nested directories with a file in the innermost one."""
    handle = os.open(directory, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=handle)
        inner = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(os.open("end", os.O_CREAT | os.O_WRONLY, dir_fd=handle))
    os.close(handle)


def killed(work: Callable[[Callable[[Advance], None]], object], after: int) -> bool:
    """Run the work in a process that is killed at its nth tick. False: it completed before."""
    child = os.fork()
    if child == 0:
        _be_killed(work, after)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.waitstatus_to_exitcode(status) == 0
    return False


def _be_killed(work: Callable[[Callable[[Advance], None]], object], after: int) -> None:
    left = after

    def tick(advance: Advance) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    code = 1
    try:
        pace.EVERY_S = 0.0
        work(tick)
        code = 0
    except BaseException as error:
        sys.stderr.write(f"{error!r}\n")
    finally:
        os._exit(code)


@contextmanager
def keeps_writing(directory: Path) -> Iterator[None]:
    """A session that creates files as fast as possible, during the block or until it is denied."""
    script = "n=0; while :; do n=$((n+1)); : >f$n || exit; [ $n = 200 ] && echo on; done"
    with rooted() as user:
        writer = subprocess.Popen(
            ["sh", "-c", script],
            cwd=directory,
            user=user,
            group=user,
            extra_groups=[] if user else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    with writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"on\n"
        try:
            yield
        finally:
            with rooted():
                writer.kill()


def left_below(root: Path) -> list[str]:
    """The entries in the directories of the scopes."""
    return [name for scope in root.iterdir() if scope.is_dir() for name in os.listdir(scope)]
