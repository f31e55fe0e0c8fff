"""`carrel migrate`, as containers and units of systemd run it, several at once too."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from databases import in_database

from carrel.core.errors import Invalid
from carrel.db.database import Database
from carrel.server.engines import ensure_local
from carrel.server.settings import Settings

CARREL = Path(sys.executable).with_name("carrel")


@pytest.fixture
def empty_database(postgres_server: str) -> Iterator[str]:
    """The URL of a database without any table."""
    name = f"empty_{os.getpid()}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        yield in_database(postgres_server, name)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _start(url: str, data_dir: Path, *options: str, **settings: str) -> "subprocess.Popen[str]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CARREL_")}
    return subprocess.Popen(
        [str(CARREL), "migrate", *options],
        # No engine responds there: the database is prepared without one.
        env={**kept, "CARREL_ENGINE_URL": f"unix://{data_dir}/docker.sock", "CARREL_DATA_DIR": str(data_dir)}
        | ({"CARREL_DATABASE_URL": url} if url else {})
        | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _ended(process: "subprocess.Popen[str]") -> str:
    out, complaints = process.communicate(timeout=120)
    assert process.returncode == 0, complaints
    return out


def _rows(url: str, statement: str) -> list[tuple]:  # type: ignore[type-arg]
    with psycopg.connect(url) as connection:
        return connection.execute(statement).fetchall()


def test_an_empty_database_is_prepared_once_by_several_at_once(empty_database: str, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("velvet-otter-41-plum\n")
    options = ("--admin-email", "root@example.org", "--admin-password-file", str(password))
    started = [_start(empty_database, tmp_path, *options) for _ in range(3)]
    shown = [_ended(one) for one in started]
    assert sum("The first administrator is root@example.org" in one for one in shown) == 1
    assert all(one.endswith("The database is ready.\n") for one in shown)
    assert _rows(empty_database, "SELECT email, role FROM users") == [("root@example.org", "superadmin")]
    hosts = _rows(empty_database, "SELECT name, root FROM storage_hosts")
    assert hosts == [("local", f"{tmp_path}/folders")]
    assert password.read_text() == "velvet-otter-41-plum\n"


def test_a_password_is_made_where_none_is_given(empty_database: str, tmp_path: Path) -> None:
    shown = _ended(_start(empty_database, tmp_path))
    made = tmp_path / "admin-password"
    assert f"admin@carrel.local, with the password in {made}" in shown
    assert made.stat().st_mode & 0o777 == 0o600
    assert made.read_text() not in shown


def test_without_a_database_it_says_which_variable_is_missing(tmp_path: Path) -> None:
    process = _start("", tmp_path)
    _, complaints = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "CARREL_DATABASE_URL is not set (setup.no_database)" in complaints


def test_the_local_engine_is_the_cluster_where_that_is_chosen(empty_database: str, tmp_path: Path) -> None:
    _ended(_start(empty_database, tmp_path))

    async def local(engine_url: str) -> tuple:  # type: ignore[type-arg]
        database = Database(empty_database, pool_size=1)
        await ensure_local(Settings(engine_url=engine_url, data_dir=tmp_path), database)
        await database.close()
        [row] = _rows(empty_database, "SELECT kind, settings FROM engines")
        return row

    assert asyncio.run(local("kubernetes:desks")) == ("kubernetes", {"namespace": "desks"})
    settings = {"namespace": "desks", "gateway_namespace": "front"}
    assert asyncio.run(local("kubernetes:desks/front")) == ("kubernetes", settings)
    chosen = "kubernetes:desks/front?user_namespaces=false"
    assert asyncio.run(local(chosen)) == ("kubernetes", {**settings, "user_namespaces": False})
    with pytest.raises(Invalid, match="no such setting"):
        asyncio.run(local("kubernetes:desks?user_namespace=false"))
    for secret in ("token", "kubeconfig"):
        with pytest.raises(Invalid, match=f"{secret} cannot be used: .* secret"):
            asyncio.run(local(f"kubernetes:desks?{secret}=xyzzy"))
    assert asyncio.run(local("unix:///x.sock")) == ("docker", {"url": "unix:///x.sock"})


def test_the_folders_of_the_data_directory_are_where_the_engine_has_them(
    empty_database: str, tmp_path: Path
) -> None:
    def located(engine: str, *locations: str) -> list[tuple]:  # type: ignore[type-arg]
        """The known locations, after several preparations at once."""
        for one in [
            _start(empty_database, tmp_path, CARREL_ENGINE_URL=engine, CARREL_FOLDERS_LOCATION=location)
            for location in locations
        ]:
            _ended(one)
        known = (
            "SELECT name, engine_id, location FROM storage_host_locations JOIN storage_hosts ON id = host_id"
        )
        return _rows(empty_database, known)

    cluster = "kubernetes:desks"
    assert located(cluster, "") == []
    assert located(cluster, "nowhere", "nowhere") == [("local", "local", None)]
    claimed = [("local", "local", "volume://claim/folders")]
    assert located(cluster, *["volume://claim/folders"] * 2) == claimed
    assert located(cluster, "nowhere") == located(cluster, "") == claimed
    docker = {
        "CARREL_ENGINE_URL": f"unix://{tmp_path}/docker.sock",
        "CARREL_FOLDERS_LOCATION": "volume://claim",
    }
    process = _start(empty_database, tmp_path, **docker)
    assert "does not mount volume:// volumes" in process.communicate(timeout=120)[1]
    assert process.returncode != 0
