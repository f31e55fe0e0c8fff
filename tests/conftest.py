"""Fixtures that every suite shares: a real PostgreSQL, a fresh migrated database, people in it."""

import itertools
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from argon2 import PasswordHasher
from hypothesis import HealthCheck, settings
from people import PASSWORD, People

from carrel.core.clock import SystemClock
from carrel.core.ids import DomainId, ProjectId, UserId, new_id
from carrel.db.database import Database
from carrel.db.embedded import Embedded
from carrel.db.migrate import migrate
from carrel.identity import passwords
from carrel.policy.actions import Role
from carrel.server import tables as tables  # all of them, since they refer to one another
from carrel.tenancy import service as tenancy
from carrel.tenancy.model import Domain, Project

# The cheapest parameters: suites make thousands of users.
passwords._hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

# How long an example takes says nothing about it on a machine that does other things as well.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

_serial = itertools.count()


@pytest.fixture(scope="session")
def open_dir() -> Iterator[Path]:
    """A directory that the database's system user can enter (pytest's own are private)."""
    folder = Path(tempfile.mkdtemp(prefix="carrel-test-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server(open_dir: Path) -> Iterator[str]:
    """The URL of a server with a migrated database `template_carrel`."""
    if url := os.environ.get("CARREL_TEST_DATABASE_URL"):
        _make_template(url)
        yield url
        return
    server = Embedded(open_dir / "postgres")
    url = server.start()
    with psycopg.connect(url, autocommit=True) as connection:
        # Thousands of databases come and go, none of which has to survive a power cut.
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
    _make_template(url)
    yield url
    server.stop()


def _make_template(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS template_carrel")
        connection.execute("CREATE DATABASE template_carrel")
    migrate(in_database(url, "template_carrel"))


def in_database(url: str, name: str) -> str:
    """The same server, another database."""
    head, _, query = url.partition("?")
    base = head.rsplit("/", 1)[0]
    return f"{base}/{name}?{query}" if query else f"{base}/{name}"


@pytest.fixture
def postgres(postgres_server: str) -> Iterator[str]:
    """The URL of a fresh migrated database."""
    name = f"test_{os.getpid()}_{next(_serial)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template_carrel STRATEGY FILE_COPY")
    yield in_database(postgres_server, name)
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def database(postgres: str) -> AsyncIterator[Database]:
    """Connections to a fresh migrated database."""
    database = Database(postgres)
    yield database
    await database.close()


@pytest.fixture
async def people(database: Database) -> People:
    """Founded installation with users; all have the password PASSWORD and a keypair can be made for each.

    `colleague` shares the project of `user`; `stranger` is in another project of the same domain;
    `foreigner` in another domain.
    """
    async with database.transaction() as tx:
        await tenancy.found(tx, SystemClock(), email="admin@example.org", password=PASSWORD)
    async with database.transaction() as tx:
        admin = await tenancy.user_by_email(tx, "admin@example.org")
        assert admin is not None
        project = (await tenancy.profile(tx, admin.id)).projects[0][0].id
        other = Project(id=ProjectId(new_id()), domain_id=admin.domain_id, name="other")
        abroad = Domain(id=DomainId(new_id()), name="abroad")
        tx.add_all([other, abroad])
        await tx.flush()
        far = Project(id=ProjectId(new_id()), domain_id=abroad.id, name="default")
        tx.add(far)
        await tx.flush()

        async def person(name: str, domain: DomainId, project: ProjectId) -> UserId:
            made = await tenancy.add_user(
                tx, SystemClock(), email=f"{name}@example.org", name=name, password=PASSWORD,
                role=Role.USER, domain_id=domain, projects=[project],
            )  # fmt: skip
            return made.id

        ids = [
            admin.id,
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
    return People(admin.domain_id, project, other.id, *actors)


@pytest.fixture
def clock() -> SystemClock:
    return SystemClock()
