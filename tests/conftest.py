"""Fixtures that every suite shares: a real PostgreSQL, a fresh migrated database, people in it."""

import asyncio
import gc
import os
import shutil
import tempfile
import tomllib
from collections.abc import AsyncIterator, Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import psycopg
import pytest
from argon2 import PasswordHasher
from databases import TEMPLATE, Databases, Lent, in_database
from directories import remove_directories
from hypothesis import HealthCheck, settings
from people import PASSWORD, People, first_administrator
from sqlalchemy.ext.asyncio import AsyncEngine

from carrel.core.clock import SystemClock
from carrel.core.ids import DomainId, ProjectId, UserId, new_id
from carrel.db import database as databases_of_carrel
from carrel.db.database import Database
from carrel.db.embedded import Embedded
from carrel.db.migrate import migrate
from carrel.identity import passwords
from carrel.permissions.actions import Role
from carrel.plugins import DISTRIBUTION
from carrel.tables.tenancy import Domain, Project
from carrel.tenancy import service as tenancy

# The cheapest parameters: suites make thousands of users.
passwords._hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

# How long an example takes says nothing about it on a machine that does other things as well.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


_make_engine = databases_of_carrel.create_async_engine
_engines: list[AsyncEngine] = []


def _experienced_engine(url: str, **options: Any) -> AsyncEngine:
    """One that knows all statements that were compiled in this process, as that of a server that has run for long."""
    engine = _make_engine(url, **options)
    if _engines and hasattr(_engines[0].dialect, "server_version_info"):
        engine.sync_engine.dialect = _engines[0].dialect
        engine.sync_engine._compiled_cache = _engines[0].sync_engine._compiled_cache
    else:
        _engines[:] = [engine]
    return engine


databases_of_carrel.create_async_engine = _experienced_engine  # type: ignore[attr-defined]


if os.environ.get("CARREL_SLOW_BACKGROUND"):
    import slow_background  # noqa: F401


def pytest_configure() -> None:
    """Back ends are found by what is installed, which does not follow the checkout by itself."""
    optional = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"][
        "entry-points"
    ]
    own = distribution(DISTRIBUTION).entry_points
    if any(
        {each.name: each.value for each in own.select(group=group)} != kinds
        for group, kinds in optional.items()
    ):
        pytest.exit("The entry points of pyproject.toml are not installed: run ./carrel test --only sizes", 4)


def pytest_collection_finish() -> None:
    """What was imported stays: looking through all of it for garbage again and again takes a tenth of the time."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    remove_directories()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """By position for bytes: those of an archive that is made while tests are collected differ in each process."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def open_dir() -> Iterator[Path]:
    """A directory that the database's system user can enter (pytest's own are private)."""
    folder = Path(tempfile.mkdtemp(prefix="carrel-test-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server(open_dir: Path) -> Iterator[str]:
    """The URL of a server with a migrated database TEMPLATE."""
    if url := os.environ.get("CARREL_TEST_DATABASE_URL"):
        _make_template(url)
        yield url
        return
    server = Embedded(open_dir / "postgres")
    url = server.start()
    with psycopg.connect(url, autocommit=True) as connection:
        # Thousands of databases come and go, none of which has to survive a power cut.
        for setting in ("fsync", "full_page_writes", "synchronous_commit", "autovacuum"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
    _make_template(url)
    yield url
    server.stop()


def _make_template(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {TEMPLATE}")
        connection.execute(f"CREATE DATABASE {TEMPLATE}")
    migrate(in_database(url, TEMPLATE))


@pytest.fixture(scope="session")
def databases(postgres_server: str) -> Databases:
    return Databases(postgres_server)


@pytest.fixture
def lent(request: pytest.FixtureRequest, databases: Databases) -> Iterator[Lent]:
    lent = databases.lend()
    if "people" in request.fixturenames:
        # Before other fixtures write something.
        if lent.people:
            lent.restore("people")
        else:
            lent.keep_people(asyncio.run(_settle(lent.url)))
    yield lent
    databases.take_back(lent)


@pytest.fixture
def postgres(lent: Lent) -> str:
    """The URL of a migrated database in which nobody has been."""
    return lent.url


@pytest.fixture
async def database(postgres: str) -> AsyncIterator[Database]:
    """Connections to a fresh migrated database."""
    database = Database(postgres)
    yield database
    await database.close()


@pytest.fixture
def people(lent: Lent) -> People:
    """Founded installation with users; all have the password PASSWORD and a keypair can be made for each.

    `colleague` shares the project of `user`; `stranger` is in another project of the same domain;
    `foreigner` in another domain.
    """
    assert lent.people
    return lent.people


async def _settle(url: str) -> People:
    database = Database(url)
    admin = await first_administrator(database)
    async with database.transaction() as tx:
        project = (await tenancy.profile(tx, admin.user_id)).projects[0][0].id
        other = Project(id=ProjectId(new_id()), domain_id=admin.domain_id, name="other")
        abroad = Domain(id=DomainId(new_id()), name="abroad")
        tx.add_all([other, abroad])
        await tx.flush()
        far = Project(id=ProjectId(new_id()), domain_id=abroad.id, name="default")
        tx.add(far)
        await tx.flush()

        async def person(name: str, domain: DomainId, project: ProjectId) -> UserId:
            made = await tenancy.add_user(
                tx,
                SystemClock(),
                email=f"{name}@example.org",
                name=name,
                password=PASSWORD,
                role=Role.USER,
                domain_id=domain,
                projects=[project],
            )
            return made.id

        ids = [
            admin.user_id,
            await person("user", admin.domain_id, project),
            await person("colleague", admin.domain_id, project),
            await person("stranger", admin.domain_id, other.id),
            await person("foreigner", abroad.id, far.id),
        ]
        actors = [
            await tenancy.actor_of(
                tx, (await tenancy.profile(tx, user_id)).user, credential="test", address="127.0.0.1"
            )
            for user_id in ids
        ]
    await database.close()
    return People(admin.domain_id, project, other.id, *actors)


@pytest.fixture
def clock() -> SystemClock:
    return SystemClock()
