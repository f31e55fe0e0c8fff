"""The embedded PostgreSQL: it starts again after whatever ended it, with the settings of today."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from killing import kill_postgresql

from carrel.db.embedded import Embedded


@pytest.fixture
def embedded(open_dir: Path) -> Iterator[Embedded]:
    """A server that runs."""
    embedded = Embedded(open_dir / "own" / "postgres")
    embedded.root.parent.mkdir(exist_ok=True)
    embedded.start()
    yield embedded
    embedded.stop()


def ask(embedded: Embedded, question: str) -> str:
    with psycopg.connect(embedded.url) as connection:
        row = connection.execute(question.encode()).fetchone()
        assert row is not None
        return str(row[0])


def test_a_cluster_of_an_earlier_version_gets_the_settings_of_today(embedded: Embedded):
    embedded.stop()
    (embedded.cluster / "carrel.conf").unlink()
    main = embedded.cluster / "postgresql.conf"
    earlier = main.read_text().replace("include 'carrel.conf'", "") + "log_error_verbosity = 'default'\n"
    main.write_text(earlier)
    embedded.start()
    assert ask(embedded, "SHOW log_error_verbosity") == "terse"
    assert ask(embedded, "SHOW listen_addresses") == ""
    once = main.read_text()
    embedded.stop()
    embedded.start()
    assert main.read_text() == once


def test_what_an_administrator_set_by_alter_system_stays(embedded: Embedded):
    with psycopg.connect(embedded.url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET shared_buffers = '32MB'")
    embedded.stop()
    embedded.start()
    assert ask(embedded, "SHOW shared_buffers") == "32MB"


def test_it_starts_again_after_a_kill(embedded: Embedded):
    with psycopg.connect(embedded.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS n")
    kill_postgresql(embedded.cluster)
    assert not embedded.running()
    embedded.start()
    assert ask(embedded, "SELECT n FROM kept") == "7"


@pytest.mark.parametrize("left", ["", "{another}\n{data}\n0\n5432\n{socket}\n\n 1 1\nready\n"])
def test_what_a_crash_left_of_its_lock_files_keeps_it_from_nothing(
    embedded: Embedded, left: str, postgres_server: str
):
    with psycopg.connect(postgres_server) as connection:
        # By now the number is that of a PostgreSQL too, and of the same user.
        another = psutil.Process(connection.info.backend_pid).ppid()
    kill_postgresql(embedded.cluster)
    text = left.format(another=another, data=embedded.cluster, socket=embedded.socket_dir)
    for lock in (embedded.cluster / "postmaster.pid", embedded.socket_dir / ".s.PGSQL.5432.lock"):
        lock.write_text(text)
        os.chown(lock, embedded.cluster.stat().st_uid, embedded.cluster.stat().st_gid)
    assert not embedded.running()
    embedded.start()
    assert ask(embedded, "SELECT 7") == "7"


def test_a_second_start_beside_a_server_that_runs_is_none(embedded: Embedded):
    first = ask(embedded, "SELECT pg_postmaster_start_time()")
    assert Embedded(embedded.root).start() == embedded.url
    assert ask(embedded, "SELECT pg_postmaster_start_time()") == first


def test_a_copy_of_the_data_does_not_use_the_socket_of_the_original(open_dir: Path):
    # Too long for a socket beside the data: both have theirs elsewhere.
    original = Embedded(open_dir / ("long" * 25) / "postgres")
    copy = Embedded(open_dir / ("copy" * 25) / "postgres")
    original.root.parent.mkdir()
    copy.root.parent.mkdir()
    original.start()
    try:
        original.stop()
        subprocess.run(["cp", "-a", original.root, copy.root], check=True)
        original.start()
        copy.start()
        assert copy.socket_dir != original.socket_dir
        assert ask(original, "SHOW data_directory") == str(original.cluster)
        assert ask(copy, "SHOW data_directory") == str(copy.cluster)
    finally:
        copy.stop()
        original.stop()
        for each in (original, copy):
            shutil.rmtree(each.socket_dir, ignore_errors=True)
