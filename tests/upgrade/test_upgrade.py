"""A database of each earlier milestone is brought to today's schema, and those who used it find what they had.

`schema-NNNN.dump` was made by the code of that milestone: its migrations, an administrator and four people, a keypair
(its secret is in keypairs.json), a session, and a folder where there were folders. A milestone adds its own when it
lands: docs/howto/upgrade.md.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from databases import in_database
from installation import API, installation
from people import People
from sqlalchemy import create_engine

from carrel.core.errors import Conflict
from carrel.core.ids import new_id
from carrel.db import revision
from carrel.db.database import Database, driver_url
from carrel.db.migrate import migrate
from carrel.server.backup.database import load
from carrel.server.tables import METADATA
from carrel.server.waiting import require_not_newer

HERE = Path(__file__).parent
DUMPS = {dump.stem.removeprefix("schema-"): dump for dump in sorted(HERE.glob("schema-*.dump"))}
KEYPAIRS: dict[str, tuple[str, str]] = {
    schema: (pair[0], pair[1]) for schema, pair in json.loads((HERE / "keypairs.json").read_text()).items()
}
FIRST_WITH_FOLDERS = "0014"


@pytest.fixture
def empty(postgres_server: str) -> Iterator[str]:
    """The URL of a database without a table."""
    name = f"upgrade_{new_id()}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    yield in_database(postgres_server, name)
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_there_is_a_database_of_more_than_one_milestone() -> None:
    assert len(DUMPS) >= 5
    assert DUMPS.keys() == KEYPAIRS.keys()


@pytest.mark.parametrize("schema", DUMPS)
async def test_who_used_it_before_finds_what_they_had(schema: str, empty: str, tmp_path: Path) -> None:
    load(empty, DUMPS[schema], lambda name, count: None)
    assert revision.current(empty) == schema
    migrate(empty)
    assert revision.is_current(empty)
    assert _differences(empty) == []
    database = Database(empty)
    try:
        async with installation(database, cast(People, None), tmp_path, controllers=False) as api:
            browser = await api.browser("user")
            assert [one["name"] for one in (await browser.get("/sessions")).json()["items"]] == ["kept"]
            admin = await api.browser("admin")
            people = (await admin.get("/users")).json()["items"]
            assert {"admin@example.org", "user@example.org"} <= {one["email"] for one in people}
            script = await api.client(auth=KEYPAIRS[schema])
            assert [one["name"] for one in (await script.get(f"{API}/sessions")).json()["items"]] == ["kept"]
            folders = (await script.get(f"{API}/vfolders")).json()["items"]
            assert [one["name"] for one in folders] == (["work"] if schema >= FIRST_WITH_FOLDERS else [])
    finally:
        await database.close()


def _differences(url: str) -> list[object]:
    """Between the schema and what the code says it is."""
    engine = create_engine(driver_url(url))
    try:
        with engine.connect() as connection:
            return list(compare_metadata(MigrationContext.configure(connection), METADATA))
    finally:
        engine.dispose()


def test_a_database_of_a_newer_version_is_refused_with_a_sentence(postgres: str) -> None:
    require_not_newer(postgres)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        try:
            with pytest.raises(Conflict) as refused:
                require_not_newer(postgres)
        finally:
            connection.execute("UPDATE alembic_version SET version_num = %s", (revision.newest(),))
    assert refused.value.code == "setup.newer_database"
    assert "9999" in refused.value.message
    assert "upgrade.md" in refused.value.hint
