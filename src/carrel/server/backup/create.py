"""`carrel backup`: write a running or stopped installation to a directory."""

import argparse
import hashlib
import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from carrel import version
from carrel.core.errors import Conflict, NotFound
from carrel.core.ids import FolderId
from carrel.db.embedded import Embedded
from carrel.folders.hosts.roots import FOLDERS
from carrel.server.backup import database_dump, folder_archives, host_settings, manifest, session_logs
from carrel.server.backup.host_settings import HostSettings
from carrel.server.backup.manifest import Manifest, Progress, StoredFile, StoredHost
from carrel.server.backup.programs import disk_error
from carrel.server.backup.shown import Shown, interruptible, size
from carrel.server.console import say
from carrel.server.remembered import effective_settings
from carrel.storage.port import FolderLocation

DATABASE = "database.dump"
SMALL_FILES = ("key", "run.json", "admin-password")
PARTIAL = ".partial"

_FOLDERS = """
    SELECT h.name, h.backend, h.root, f.scope, f.id FROM vfolders f JOIN storage_hosts h ON h.id = f.host_id
    WHERE f.state NOT IN ('DELETING', 'CREATING') ORDER BY f.id
"""


@dataclass(frozen=True)
class BackupSource:
    """The sources of a backup. embedded: None with an external PostgreSQL."""

    data_dir: Path
    database_url: str
    embedded: Embedded | None


def backup(options: argparse.Namespace) -> int:
    """Create or verify a backup. Raises: Conflict, NotFound, Unavailable."""
    if options.verify:
        return _verify(options)
    installation = find(effective_settings(options).data_dir)
    target = options.backup.absolute()
    os.umask(0o077)
    with interruptible(), _appearing(target) as partial:
        made = _fill(partial, installation, options, Shown("backup").advance)
        made.write(partial)
    _report(made, target, options.output)
    return 0


def find(data_dir: Path) -> BackupSource:
    """The installation in a data directory. Raises: NotFound."""
    try:
        run = json.loads((data_dir / "run.json").read_text())
        embedded = Embedded(data_dir / "postgres") if run["embedded"] else None
        url = embedded.url if embedded else str(run["environment"]["CARREL_DATABASE_URL"])
    except (OSError, ValueError, KeyError):
        raise NotFound(
            "setup.no_installation",
            f"There is no installation in {data_dir}.",
            hint="Specify its directory with --data-dir.",
        ) from None
    return BackupSource(data_dir, url, embedded)


@contextmanager
def _appearing(target: Path) -> Iterator[Path]:
    """A temporary directory beside the target: renamed to the target on success, removed on failure."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Conflict(
            "backup.exists", f"{target} already exists.", hint="Choose a directory that does not exist."
        )
    partial = target.with_name(target.name + PARTIAL)
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(mode=0o700, parents=True)
        yield partial
        os.rename(partial, target)
    except OSError as error:
        raise disk_error(error, target) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _fill(
    partial: Path, installation: BackupSource, options: argparse.Namespace, progress: Progress
) -> Manifest:
    how: str = options.folders
    files: dict[str, StoredFile] = {}
    changed, missing = [], []
    with database_dump.reachable(installation.embedded):
        # 1. The database first: a folder created later is not in it and only costs space.
        schema = _schema(installation.database_url)
        files[DATABASE] = database_dump.dump(
            installation.database_url, partial / DATABASE, name=DATABASE, progress=progress
        )
        paths = _folders(installation) if how != "none" else []
        hosts, settings = _hosts(installation)
    # 2. Small files.
    for name in SMALL_FILES:
        if (source := installation.data_dir / name).exists():
            files[name] = _copied(source, partial / name)
    # 3. The logs of sessions.
    if not options.without_logs and (logs := session_logs.archive(installation.data_dir, partial, progress)):
        files[session_logs.ARCHIVE] = logs
    # 4. The folders.
    snapshot = f"backup-{int(time.time())}-{os.getpid()}" if how == "snapshot" else None
    for folder in paths:
        archived = folder_archives.archive(
            folder, partial, snapshot=snapshot, settings=settings, progress=progress
        )
        if archived is None:
            missing.append(folder.place.folder)
            continue
        files[folder.archive] = archived.file
        if archived.changed:
            changed.append(folder.place.folder)
    return Manifest(
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=version.full(),
        schema=schema,
        machine=socket.gethostname(),
        data_dir=str(installation.data_dir),
        folders=how,
        hosts=hosts,
        files=files,
        changed=[str(one) for one in changed],
        missing=[str(one) for one in missing],
    )


def _copied(source: Path, target: Path) -> StoredFile:
    content = source.read_bytes()
    target.write_bytes(content)
    return StoredFile(len(content), hashlib.sha256(content).hexdigest())


def _schema(url: str) -> str:
    with psycopg.connect(url, connect_timeout=10) as connection:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(row[0]) if row else ""


def _has_folders(connection: "psycopg.Connection[tuple[object, ...]]") -> bool:
    row = connection.execute("SELECT to_regclass('vfolders') IS NOT NULL").fetchone()
    return bool(row and row[0])


def _folders(installation: BackupSource) -> list[folder_archives.FolderSource]:
    with psycopg.connect(installation.database_url, connect_timeout=10) as connection:
        rows = connection.execute(_FOLDERS).fetchall() if _has_folders(connection) else []
    return [
        folder_archives.FolderSource(
            _host(installation, *map(str, row[:3])), FolderLocation(str(row[3]), FolderId(str(row[4])))
        )
        for row in rows
    ]


def _hosts(installation: BackupSource) -> tuple[list[StoredHost], HostSettings]:
    with psycopg.connect(installation.database_url, connect_timeout=10) as connection:
        if not _has_folders(connection):
            return [], {}
        rows = connection.execute("SELECT name, backend, root FROM storage_hosts ORDER BY name").fetchall()
        settings = host_settings.read(connection, installation.data_dir)
    return [_host(installation, *map(str, row)) for row in rows], settings


def _host(installation: BackupSource, name: str, backend: str, root: str) -> StoredHost:
    return StoredHost(name, backend, root, in_data_dir=Path(root) == installation.data_dir / FOLDERS)


def _verify(options: argparse.Namespace) -> int:
    with interruptible():
        verified = manifest.verify(options.backup, Shown("verify").advance)
        database_dump.check(options.backup / DATABASE)
    _report(verified, options.backup.absolute(), options.output)
    return 0


def _report(made: Manifest, where: Path, output: str) -> None:
    archives = sum(name.startswith(f"{folder_archives.DIRECTORY}/") for name in made.files)
    if output == "json":
        answer = {
            "path": str(where),
            "created_at": made.created_at,
            "version": made.version,
            "schema": made.schema,
            "bytes": made.bytes,
            "folders": archives,
            "changed": made.changed,
            "missing": made.missing,
        }
        sys.stdout.write(json.dumps(answer, indent=2) + "\n")
        return
    say(f"The backup in {where} is complete: {size(made.bytes)}, {archives} folders, made {made.created_at}.")
    if made.changed:
        say(
            f"{len(made.changed)} folders changed while they were read: some of their files may be half-written. "
            "For a picture of one moment stop their sessions first, or keep folders on Btrfs."
        )
    if made.missing:
        say(
            f"{len(made.missing)} folders were not on their storage and are not in it: {', '.join(made.missing)}"
        )
