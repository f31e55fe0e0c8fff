"""Run pg_dump, psql and tar: stdout goes to a file with checksum, stderr into the error."""

import errno
import hashlib
import os
import select
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from carrel.core.errors import CarrelError, Unavailable
from carrel.server.backup.manifest import Progress, StoredFile

_PIECE = 1 << 20
_WAIT_MS = 500


class ProgramFailed(Unavailable):
    """exit_code: the program's; complaint: the last lines of its standard error."""

    def __init__(self, program: str, exit_code: int, complaint: str) -> None:
        super().__init__("backup.failed", f"{program} failed with exit code {exit_code}: {complaint}")
        self.exit_code = exit_code
        self.complaint = complaint


def into_file(
    command: Sequence[str | Path],
    target: Path,
    *,
    name: str,
    progress: Progress,
    env: Mapping[str, str] | None = None,
    tolerated: Sequence[int] = (),
) -> tuple[StoredFile, int]:
    """Write a program's standard output to a file; returns the file's size and checksum, and the exit code.

    tolerated: nonzero exit codes that are not failures. Raises: ProgramFailed, Unavailable if the disk is full.
    """
    digest, size = hashlib.sha256(), 0
    with tempfile.TemporaryFile() as complaints, running(command, env, complaints.fileno()) as process:
        assert process.stdout is not None
        try:
            with target.open("wb") as file:
                for piece in _pieces(process.stdout.fileno()):
                    file.write(piece)
                    digest.update(piece)
                    size += len(piece)
                    progress(name, len(piece))
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            process.kill()
            raise
        code = process.wait()
        complaints.seek(0)
        complaint = complaints.read().decode(errors="replace").strip()[-1000:]
    if code and code not in tolerated:
        raise ProgramFailed(Path(command[0]).name, code, complaint)
    return StoredFile(size, digest.hexdigest()), code


def _pieces(pipe: int) -> Iterator[bytes]:
    """The chunks of a pipe until end of file.

    Waits are short: Python handles signals between system calls, so a signal just before a call would be noticed only
    when that call returns.
    """
    readable = select.poll()
    readable.register(pipe, select.POLLIN)
    while True:
        if readable.poll(_WAIT_MS):
            piece = os.read(pipe, _PIECE)
            if not piece:
                return
            yield piece


def running(
    command: Sequence[str | Path], env: Mapping[str, str] | None, stderr: int
) -> "subprocess.Popen[bytes]":
    """Run the program with stdout in a pipe. Raises: Unavailable if it is not installed."""
    try:
        return subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "LC_ALL": "C", **(env or {})},
        )
    except FileNotFoundError:
        raise Unavailable(
            "backup.program_missing",
            f"{Path(command[0]).name} is not installed on this machine.",
            hint=f"Install it, for example: apt-get install {Path(command[0]).name}.",
        ) from None


def disk_error(error: OSError, where: Path) -> CarrelError:
    """The error message for a file system error during backup or restore."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Unavailable(
            "backup.disk_full",
            f"The disk of {where} is full.",
            hint="Free space, or choose another disk. The incomplete files were removed.",
        )
    return Unavailable("backup.failed", f"{error.filename or where}: {error.strerror}.")


def extract_tar(archived: int, target: Path) -> None:
    """Unpack an archive with everything that it says about its files. Raises: ProgramFailed."""
    done = subprocess.run(
        [
            "tar",
            "--extract",
            "--numeric-owner",
            "--same-permissions",
            "--acls",
            "--xattrs",
            f"--directory={target}",
        ],
        stdin=archived,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise ProgramFailed("tar", done.returncode, done.stderr.decode(errors="replace").strip()[-1000:])
