"""A backup holds an installation whole, running or stopped; damaged or interrupted it is none."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import acme_distribution
import psycopg
import pytest
from btrfs_disk import btrfs_disk
from crash.small_disk import small_tmpfs
from folder_rows import add_folder, add_host
from installation import API, installation
from people import PASSWORD, People
from session_kit import enqueue

from carrel.core.clock import SystemClock
from carrel.core.ids import ContainerId, FolderId, StorageHostId, new_id
from carrel.db import revision
from carrel.db.database import Database
from carrel.db.embedded import Embedded
from carrel.db.encryption import SecretBox
from carrel.engines.port import LogRecord
from carrel.folders.hosts.storages import Storages
from carrel.plugins import Port
from carrel.server.backup import folder_archives
from carrel.server.backup.restore import NOT_COPIED
from carrel.sessions.logs.blocks import unpack
from carrel.sessions.logs.store import DIRECTORY as LOGS
from carrel.sessions.logs.store import LogStore
from carrel.signin.keypairs import service as keypairs
from carrel.storage.btrfs import BtrfsBackend
from carrel.storage.make import make
from carrel.storage.port import FolderLocation
from carrel.storage.posix import PosixBackend

CARREL = Path(sys.executable).with_name("carrel")
KEY = bytes(range(32))
LOGGED = ContainerId("abcdefghijkl")


class Original:
    """An installation's data directory, over a database that runs beside it."""

    def __init__(self, data_dir: Path, url: str, place: FolderLocation) -> None:
        self.data_dir, self.url, self.place = data_dir, url, place
        self.files = data_dir / "folders" / place.scope / place.folder / "files"


@pytest.fixture
async def original(open_dir: Path, database: Database, people: People) -> Iterator[Original]:  # type: ignore[misc]
    data_dir = open_dir / f"original-{new_id()}"
    data_dir.mkdir(mode=0o711)
    (data_dir / "key").write_bytes(KEY)
    (data_dir / "admin-password").write_text(PASSWORD)
    environment = {
        "CARREL_DATA_DIR": str(data_dir),
        "CARREL_DATABASE_URL": database.url,
        "CARREL_PORT": "9999",
    }
    (data_dir / "run.json").write_text(json.dumps({"embedded": False, "environment": environment}))
    place = _folder(database.url, people, data_dir / "folders", "posix")
    original = Original(data_dir, database.url, place)
    (original.files / "notes.txt").write_text("by hand")
    (original.files / "run.sh").write_text("#!/bin/sh\n")
    (original.files / "run.sh").chmod(0o755)
    (original.files / "link").symlink_to("notes.txt")
    with (original.files / "sparse").open("wb") as sparse:
        sparse.truncate(64 << 20)
    writer = LogStore(data_dir / LOGS).writer(LOGGED, None)
    writer.append([LogRecord(b"2026-01-01T00:00:00.000000000Z", 1, b"a line\n")])
    await enqueue(database, people.user, name="kept")
    yield original
    shutil.rmtree(data_dir, ignore_errors=True)


def _folder(url: str, people: People, root: Path, kind: str, *, name: str = "") -> FolderLocation:
    """A folder of the user's on a storage host of its own."""
    backend = make(kind, root)
    backend.probe()
    backend.claim()
    place = FolderLocation(f"user-{people.user.user_id}"[:20].lower(), FolderId(new_id()))
    backend.create(place)
    host = StorageHostId(new_id())
    with psycopg.connect(url) as connection:
        add_host(connection, host, root, name=name or f"host-{kind}", kind=kind)
        owner = {"owner": people.user.user_id, "domain": people.domain}
        add_folder(connection, place.folder, host, scope=place.scope, name=name or "work", **owner)
    return place


def _carrel(*words: str | Path, code: int = 0, **variables: str) -> "subprocess.CompletedProcess[str]":
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CARREL_")}
    done = subprocess.run(
        [CARREL, *words],
        env={**clean, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def _backup(original: Original, target: Path, *options: str) -> dict[str, object]:
    done = _carrel("backup", target, "--data-dir", original.data_dir, "-o", "json", *options)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


async def test_all_of_an_installation_comes_back_in_another_directory(
    original: Original, database: Database, people: People, open_dir: Path, tmp_path: Path
) -> None:
    async with database.transaction() as tx:
        keypair = await keypairs.create(tx, SystemClock(), people.user)
    target, again = tmp_path / "backup", tmp_path / "again"
    made = _backup(original, target)
    assert made["folders"] == 1
    assert made["schema"] == revision.newest()
    assert made["changed"] == made["missing"] == []
    assert {path.stat().st_mode & 0o077 for path in target.rglob("*")} == {0}
    assert not list(tmp_path.glob("*.partial"))
    # 1. Into an embedded PostgreSQL, and back out of it: stopped the first time, running the second.
    new = open_dir / f"restored-{new_id()}"
    try:
        _carrel("restore", target, "--data-dir", new)
        assert not list(new.parent.glob("*.restoring"))
        assert (new / "key").read_bytes() == KEY
        assert (new / "admin-password").read_text() == PASSWORD
        files = new / "folders" / original.place.scope / original.place.folder / "files"
        assert (files / "notes.txt").read_text() == "by hand"
        assert (files / "run.sh").stat().st_mode & 0o777 == 0o755
        assert (files / "link").readlink() == Path("notes.txt")
        assert (files / "sparse").stat().st_size == 64 << 20
        assert (files / "sparse").stat().st_blocks < 1000
        assert files.stat().st_uid == original.files.stat().st_uid
        [[line]] = LogStore(new / LOGS).index(LOGGED)
        assert unpack(line).endswith(b" stdout F a line\n")
        embedded = Embedded(new / "postgres")
        assert not embedded.running()
        _carrel("backup", again, "--data-dir", new)
        assert not embedded.running()
        embedded.start()
        try:
            _carrel("backup", tmp_path / "third", "--data-dir", new)
            assert embedded.running()
            await _the_same_people_sign_in(
                embedded.url, new, people, (keypair.access_key, keypair.secret_key)
            )
        finally:
            embedded.stop()
    finally:
        shutil.rmtree(new, ignore_errors=True)
    _carrel("backup", "--verify", again)


@pytest.mark.parametrize("there", [True, False], ids=["where it works", "where it does not"])
def test_hosts_of_other_kinds_come_back_with_their_settings(
    original: Original, people: People, open_dir: Path, tmp_path: Path, there: bool
) -> None:
    acme_distribution.write(tmp_path / "site", "acme", Port.STORAGE, safe="SAFE")
    root = original.data_dir.with_name(f"safe-{new_id()}")
    place = _folder(original.url, people, root, "posix", name="safe")
    (PosixBackend(root).files(place) / "notes.txt").write_text("in the safe")
    with psycopg.connect(original.url) as connection:
        row = connection.execute("SELECT id FROM storage_hosts WHERE name = 'safe'").fetchone()
        assert row
        sealed = Storages(cast(Database, None), seal=SecretBox(KEY)).sealed(row[0], {"token": "hunter2"})
        connection.execute(
            "UPDATE storage_hosts SET backend = 'safe', settings = %s WHERE name = 'safe'", (sealed,)
        )
    target, new = tmp_path / "backup", open_dir / f"restored-{new_id()}"
    there_too = os.environ.get("PYTHONPATH", "")
    path = {"PYTHONPATH": os.pathsep.join(filter(None, (str(tmp_path / "site"), there_too)))}
    try:
        _carrel("backup", target, "--data-dir", original.data_dir, **path)
        assert "hunter2" not in (target / "manifest.json").read_text()
        _carrel("restore", target, "--data-dir", new, **path, **({} if there else {"ACME_SAFE": "shut"}))
        files = new / NOT_COPIED / "safe" / place.scope / place.folder / "files"
        assert (files / "notes.txt").read_text() == "in the safe"
        embedded = Embedded(new / "postgres")
        embedded.start()
        try:
            with psycopg.connect(embedded.url) as connection:
                kept = connection.execute(
                    "SELECT backend, settings FROM storage_hosts WHERE name = 'safe'"
                ).fetchone()
        finally:
            embedded.stop()
        assert kept == (("safe", sealed) if there else ("posix", None))
    finally:
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(root, ignore_errors=True)


async def _the_same_people_sign_in(
    url: str, data_dir: Path, people: People, keypair: tuple[str, str]
) -> None:
    restored = Database(url)
    try:
        async with installation(restored, people, data_dir, controllers=False) as api:
            browser = await api.browser("user")
            assert [one["name"] for one in (await browser.get("/sessions")).json()["items"]] == ["kept"]
            script = await api.client(auth=keypair)
            assert [one["name"] for one in (await script.get(f"{API}/vfolders")).json()["items"]] == ["work"]
    finally:
        await restored.close()


def test_folders_can_be_left_out(original: Original, tmp_path: Path) -> None:
    made = _backup(original, tmp_path / "backup", "--folders", "none")
    assert made["folders"] == 0
    assert not (tmp_path / "backup" / "folders").exists()


def test_logs_can_be_left_out(original: Original, tmp_path: Path) -> None:
    _carrel("backup", tmp_path / "backup", "--data-dir", original.data_dir, "--without-logs")
    assert not (tmp_path / "backup" / "session-logs.tar").exists()


def test_a_folder_that_is_gone_from_its_storage_is_named(original: Original, tmp_path: Path) -> None:
    shutil.rmtree(original.files.parent)
    assert _backup(original, tmp_path / "backup")["missing"] == [original.place.folder]


@pytest.mark.parametrize("how", ["cut", "changed", "missing", "manifest"])
def test_a_damaged_backup_is_refused_and_nothing_is_restored(
    original: Original, open_dir: Path, tmp_path: Path, how: str
) -> None:
    target, new = tmp_path / "backup", open_dir / f"never-{new_id()}"
    _backup(original, target)
    victim = target / ("manifest.json" if how == "manifest" else "database.dump")
    content = bytearray(victim.read_bytes())
    if how == "missing":
        victim.unlink()
    elif how == "changed":
        content[len(content) // 2] ^= 1
        victim.write_bytes(content)
    else:
        victim.write_bytes(content[: len(content) // 2])
    for words in (["backup", "--verify", target], ["restore", target, "--data-dir", new]):
        assert "is damaged" in _carrel(*words, code=1).stderr
    assert not new.exists()
    assert not list(new.parent.glob("*.restoring"))


def test_what_is_there_already_is_not_overwritten(original: Original, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    _backup(original, target)
    assert "(backup.exists)" in _carrel("backup", target, "--data-dir", original.data_dir, code=1).stderr
    assert (
        "(setup.data_dir_not_empty)"
        in _carrel("restore", target, "--data-dir", original.data_dir, code=2).stderr
    )
    answer = _carrel(
        "restore", target, "--data-dir", tmp_path / "new", code=1, CARREL_DATABASE_URL=original.url
    )
    assert "(backup.database_not_empty)" in answer.stderr
    assert not (tmp_path / "new").exists()


def test_a_backup_of_a_newer_version_is_refused(original: Original, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    _backup(original, target)
    manifest = json.loads((target / "manifest.json").read_text())
    (target / "manifest.json").write_text(json.dumps({**manifest, "schema": "9999", "version": "99.0.0"}))
    answer = _carrel("restore", target, "--data-dir", tmp_path / "new", code=1)
    assert "made by Carrel 99.0.0 with the database schema 9999" in answer.stderr
    assert not (tmp_path / "new").exists()


def test_an_interrupted_backup_leaves_nothing(original: Original, tmp_path: Path) -> None:
    slow = tmp_path / "bin"
    slow.mkdir()
    # A tar that writes something, says so, and goes on for ever.
    (slow / "tar").write_text(f"#!/bin/sh\necho begun\ntouch {tmp_path}/begun\nexec sleep 1000\n")
    (slow / "tar").chmod(0o755)
    target = tmp_path / "backup"
    process = subprocess.Popen(
        [CARREL, "backup", target, "--data-dir", original.data_dir],
        env={**os.environ, "PATH": f"{slow}:{os.environ['PATH']}"},
        stderr=subprocess.PIPE,
    )
    try:
        while not (tmp_path / "begun").exists():
            assert process.poll() is None, process.communicate()
            os.sched_yield()
        assert (tmp_path / "backup.partial").is_dir()
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 130
    finally:
        process.kill()
        process.communicate()
    assert not target.exists()
    assert not (tmp_path / "backup.partial").exists()


def test_a_full_disk_is_said_and_leaves_nothing(original: Original, tmp_path: Path) -> None:
    with small_tmpfs(tmp_path / "small", "64k") as small:
        answer = _carrel("backup", small / "backup", "--data-dir", original.data_dir, code=1)
        assert "(backup.disk_full)" in answer.stderr
        assert list(small.iterdir()) == []


def test_there_is_nothing_to_back_up_without_an_installation(tmp_path: Path) -> None:
    answer = _carrel("backup", tmp_path / "backup", "--data-dir", tmp_path / "none", code=2)
    assert "(setup.no_installation)" in answer.stderr
    assert list(tmp_path.iterdir()) == []


def test_folders_on_btrfs_are_read_from_a_snapshot(
    database: Database, people: People, tmp_path: Path
) -> None:
    with btrfs_disk(tmp_path) as disk:
        place = _folder(database.url, people, disk / "root", "btrfs")
        backend = BtrfsBackend(disk / "root")
        files = backend.files(place)
        (files / "one").write_text("then")
        host = folder_archives.StoredHost("host-btrfs", "btrfs", str(disk / "root"), in_data_dir=False)
        seen: list[list[str]] = []

        def change(name: str, count: int) -> None:
            (files / "one").write_text("later")
            seen.append(list(backend.snapshots(place)))

        folder = folder_archives.FolderSource(host, place)
        (tmp_path / "backup").mkdir()
        archived = folder_archives.archive(
            folder, tmp_path / "backup", snapshot="backup-1", settings={}, progress=change
        )
        assert archived is not None
        assert not archived.changed
        assert seen[0] == ["backup-1"]
        assert list(backend.snapshots(place)) == []
        listing = ["tar", "-xOf", tmp_path / "backup" / folder.archive, "files/one"]
        assert subprocess.run(listing, capture_output=True, text=True, check=True).stdout == "then"
