"""`carrel restore`: restore a backup to a new data directory, on this machine or another one."""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from carrel import version
from carrel.core.errors import Conflict, Unavailable
from carrel.db import revision
from carrel.db.embedded import Embedded, EmbeddedError
from carrel.folders.hosts.roots import FOLDERS
from carrel.server.backup import database_dump, folder_archives, host_settings, manifest, session_logs
from carrel.server.backup.create import DATABASE, SMALL_FILES
from carrel.server.backup.manifest import Manifest, Progress
from carrel.server.backup.programs import disk_error
from carrel.server.backup.shown import Shown, interruptible
from carrel.server.console import say
from carrel.server.settings import default_data_dir

RESTORING = ".restoring"
NOT_COPIED = "not-copied"
"""Where a copy of an installation places storage hosts that were outside of its data directory."""


def restore(options: argparse.Namespace) -> int:
    """Restore an installation without starting it. Raises: Conflict, NotFound, Unavailable."""
    backup = options.backup.absolute()
    data_dir = Path(options.data_dir or os.environ.get("CARREL_DATA_DIR") or default_data_dir()).resolve()
    own_database = os.environ.get("CARREL_DATABASE_URL", "")
    _require_nothing_in(data_dir)
    with interruptible():
        stored = manifest.verify(backup, Shown("verify").advance)
        _require_known(stored)
        if own_database:
            _require_usable(own_database)
        with _appearing(data_dir) as fresh:
            _fill(fresh, data_dir, backup, stored, own_database, options)
    _report(stored, data_dir, options)
    return 0


def _require_nothing_in(data_dir: Path) -> None:
    if data_dir.exists() and (not data_dir.is_dir() or any(data_dir.iterdir())):
        raise Conflict(
            "setup.data_dir_not_empty",
            f"{data_dir} is not empty, and a restore overwrites nothing.",
            hint="Specify a directory that does not exist with --data-dir.",
        )


def _require_known(stored: Manifest) -> None:
    if stored.schema > revision.newest():
        raise Conflict(
            "backup.newer",
            f"The backup was made by Carrel {stored.version} with the database schema {stored.schema}; this is "
            f"{version.full()}, which knows schemas up to {revision.newest()}.",
            hint="Restore it with that version or a newer one.",
        )


def _require_usable(url: str) -> None:
    try:
        database_dump.require_empty(url)
    except psycopg.Error as error:
        raise Unavailable(
            "setup.database",
            f"The database does not accept connections: {str(error).strip()}.",
            hint="Check CARREL_DATABASE_URL; unset it to restore into an embedded PostgreSQL.",
        ) from None


@contextmanager
def _appearing(data_dir: Path) -> Iterator[Path]:
    """A temporary directory beside it: renamed to the data directory on success, removed on failure."""
    fresh = data_dir.with_name(data_dir.name + RESTORING)
    try:
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        fresh.chmod(0o711 if os.geteuid() == 0 else 0o700)
        yield fresh
        os.rename(fresh, data_dir)
    except OSError as error:
        raise disk_error(error, data_dir) from None
    except EmbeddedError as error:
        raise Unavailable("setup.database", str(error)) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _fill(
    fresh: Path,
    data_dir: Path,
    backup: Path,
    stored: Manifest,
    own_database: str,
    options: argparse.Namespace,
) -> None:
    progress = Shown("restore").advance
    # 1. Small files. The settings keep the former data directory, which tells `carrel up` that the installation was
    # moved.
    for name in SMALL_FILES:
        if name in stored.files:
            _write(fresh / name, (backup / name).read_bytes())
    _write(
        fresh / "run.json",
        _settings(backup, own_database or Embedded(data_dir / "postgres").url, own_database),
    )
    if session_logs.ARCHIVE in stored.files:
        session_logs.extract(backup, fresh)
        progress(session_logs.ARCHIVE, stored.files[session_logs.ARCHIVE].bytes)
    embedded = None if own_database else Embedded(fresh / "postgres")
    with database_dump.reachable(embedded):
        # 2. The database, in one transaction.
        url = own_database or Embedded(fresh / "postgres").url
        database_dump.load(url, backup / DATABASE, progress)
        # 3. The folders.
        if not options.without_folders:
            _restore_folders(url, stored, backup, fresh, progress)


def _restore_folders(url: str, stored: Manifest, backup: Path, fresh: Path, progress: Progress) -> None:
    roots = {
        host.name: fresh / FOLDERS if host.in_data_dir else fresh / NOT_COPIED / host.name
        for host in stored.hosts
    }
    with psycopg.connect(url) as connection:
        # Backups older than folders have neither hosts nor their table.
        settings = host_settings.read(connection, fresh) if stored.hosts else {}
    plain = folder_archives.extract(stored, backup, roots, settings, progress)
    with psycopg.connect(url) as connection:
        for name in plain:
            connection.execute(
                "UPDATE storage_hosts SET backend = %s WHERE name = %s", (folder_archives.POSIX, name)
            )
            if name in settings:
                connection.execute("UPDATE storage_hosts SET settings = NULL WHERE name = %s", (name,))


def _settings(backup: Path, url: str, own_database: str) -> bytes:
    run = json.loads((backup / "run.json").read_text())
    run["embedded"] = not own_database
    run["environment"]["CARREL_DATABASE_URL"] = url
    return json.dumps(run, indent=1).encode()


def _write(path: Path, content: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _report(stored: Manifest, data_dir: Path, options: argparse.Namespace) -> None:
    elsewhere = [host for host in stored.hosts if not host.in_data_dir]
    if options.output == "json":
        answer = {
            "data_dir": str(data_dir),
            "created_at": stored.created_at,
            "version": stored.version,
            "schema": stored.schema,
        }
        sys.stdout.write(json.dumps(answer, indent=2) + "\n")
        return
    say(f"Restored into {data_dir}, as it was {stored.created_at}. Start it:")
    say(f"  carrel up --data-dir {data_dir} --adopt      when the original is lost: this takes its place")
    say(f"  carrel up --data-dir {data_dir} --as-copy    when the original goes on: this runs beside it")
    for host in elsewhere:
        say(
            f"The storage host {host.name} was in {host.root}: with --adopt it is looked for there, and its folders "
            f"of the backup are in {data_dir / NOT_COPIED / host.name}."
        )
