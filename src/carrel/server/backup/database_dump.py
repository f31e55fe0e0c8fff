"""The database of an installation: consistent online dump, and load into an empty database."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from carrel.core.errors import Conflict
from carrel.db.embedded import Embedded, wheel_programs
from carrel.server.backup.manifest import Progress, StoredFile
from carrel.server.backup.programs import ProgramFailed, into_file, running

# pg_dump sets this parameter; servers before version 17 do not support it.
_UNKNOWN_TO_OLDER = b"SET transaction_timeout = 0;\n"


@contextmanager
def reachable(embedded: Embedded | None) -> Iterator[None]:
    """Ensure that the embedded server runs during the block; stop it afterwards if it was started here."""
    if embedded is None or embedded.running():
        yield
        return
    embedded.start()
    try:
        yield
    finally:
        embedded.stop()


def dump(url: str, target: Path, *, name: str, progress: Progress) -> StoredFile:
    """Dump a consistent snapshot of the database during concurrent writes. Raises: Unavailable."""
    address, env = _without_password(url)
    command: list[str | Path] = [
        wheel_programs() / "pg_dump",
        "--format=custom",
        "--no-owner",
        "--no-privileges",
        f"--dbname={address}",
    ]
    stored, _ = into_file(command, target, name=name, progress=progress, env=env)
    return stored


def check(dumped: Path) -> None:
    """Check that pg_restore can read the dump. Raises: ProgramFailed."""
    with tempfile.TemporaryFile() as complaints:
        listing = running([wheel_programs() / "pg_restore", "--list", dumped], None, complaints.fileno())
        with listing as process:
            process.communicate()
        complaints.seek(0)
        if process.returncode:
            raise ProgramFailed(
                "pg_restore", process.returncode, complaints.read().decode(errors="replace")[-1000:]
            )


def require_empty(url: str) -> None:
    """Check that the database is empty. Raises: Conflict if it contains tables."""
    with psycopg.connect(url, connect_timeout=10) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace "
            "WHERE nspname = 'public' AND relkind IN ('r', 'p')"
        ).fetchone()
    if row and row[0]:
        raise Conflict(
            "backup.database_not_empty",
            f"The target database already has {row[0]} tables.",
            hint="Set CARREL_DATABASE_URL to an empty one, created with createdb.",
        )


def load(url: str, dumped: Path, progress: Progress) -> None:
    """Load a dump in one transaction. Raises: ProgramFailed."""
    address, env = _without_password(url)
    script: list[str | Path] = [
        wheel_programs() / "pg_restore",
        "--no-owner",
        "--no-privileges",
        "--file=-",
        dumped,
    ]
    loader = [
        wheel_programs() / "psql",
        "--no-psqlrc",
        "--quiet",
        "--single-transaction",
        "--set=ON_ERROR_STOP=1",
        f"--dbname={address}",
    ]
    with tempfile.TemporaryFile() as complaints, running(script, None, complaints.fileno()) as reading:
        loading = subprocess.Popen(
            [str(word) for word in loader],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=complaints.fileno(),
            env={**os.environ, "LC_ALL": "C", **env},
        )
        assert reading.stdout is not None
        assert loading.stdin is not None
        try:
            _pass_on(reading.stdout, loading.stdin, progress)
            if reading.wait():
                # At end of input psql would commit an incomplete dump.
                loading.kill()
        except BrokenPipeError:
            reading.kill()  # psql has ended: its exit code and stderr tell why
        except BaseException:
            loading.kill()
            reading.kill()
            raise
        finally:
            with suppress(BrokenPipeError):
                loading.stdin.close()
            codes = loading.wait(), reading.wait()
        complaints.seek(0)
        complaint = complaints.read().decode(errors="replace").strip()[-1000:]
    if any(codes):
        raise ProgramFailed(
            "pg_restore" if codes[1] > 0 else "psql", codes[1] if codes[1] > 0 else codes[0], complaint
        )


def _pass_on(script: IO[bytes], target: IO[bytes], progress: Progress) -> None:
    skipped = False
    for line in script:
        if not skipped and line == _UNKNOWN_TO_OLDER:
            skipped = True
            continue
        target.write(line)
        progress("database", len(line))


def _without_password(url: str) -> tuple[str, dict[str, str]]:
    """The URL without the password, since all users of the machine can read command lines, and the password as
    environment.
    """
    parts = conninfo_to_dict(url)
    password = parts.pop("password", None)
    return make_conninfo("", **parts), {"PGPASSWORD": str(password)} if password else {}
