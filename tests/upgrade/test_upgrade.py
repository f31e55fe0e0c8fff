"""A database of each earlier milestone is brought to today's schema, and those who used it find what they had.

`schema-NNNN.dump` was made by the code of that milestone: its migrations, an administrator and four people, a keypair
(its secret is in keypairs.json), a session, and a folder where there were folders. A milestone adds its own when it
lands: docs/howto/upgrade.md.
"""

import asyncio
import base64
import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import cast

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from databases import in_database
from installation import API, installation
from people import People, eventually
from sqlalchemy import create_engine, text
from websockets.asyncio.client import connect

from carrel.core.errors import Conflict
from carrel.core.ids import new_id
from carrel.db import revision
from carrel.db.database import Database, driver_url
from carrel.db.migrate import migrate
from carrel.engines.fake import FakeEngine
from carrel.engines.port import ContainerSpec
from carrel.server.backup.database import load
from carrel.server.metadata import METADATA
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


_RUNS = """
    WITH node AS (
        INSERT INTO nodes (id, name, architecture, engine, slots, capabilities, state, seen_at)
        VALUES ('nodenodenode', 'local', 'x86_64', 'Fake 1', '{"cpu": 8000, "mem": 34359738368}', '["fake"]',
            'READY', '2001-01-01')
        RETURNING id
    ), running AS (
        UPDATE sessions s SET state = 'RUNNING', node_id = node.id, address = '127.0.0.1', started_at = now(),
            deadline = NULL, reason = NULL, queue_position = NULL, apps = %s
        FROM node WHERE s.name = 'kept' RETURNING s.id, s.node_id, s.slots
    )
    INSERT INTO allocations (session_id, node_id, slot, amount, created_at)
    SELECT running.id, node_id, key, value::bigint, now() FROM running, jsonb_each_text(slots)
    RETURNING session_id
"""


@pytest.mark.parametrize("schema", DUMPS)
async def test_what_ran_before_goes_on_running_with_its_terminal_and_its_apps(
    schema: str, empty: str, tmp_path: Path
) -> None:
    engine = FakeEngine()
    async with AsyncExitStack() as stack:
        # 1. It runs: in a container that the earlier version named after the session.
        load(empty, DUMPS[schema], lambda name, count: None)
        app = await stack.enter_async_context(await asyncio.start_server(_greet, "127.0.0.1", 0))
        port = app.sockets[0].getsockname()[1]
        template = {"name": "web", "title": "Web", "protocol": "http", "port": port, "ready": ""}
        with psycopg.connect(empty, autocommit=True) as connection:
            found = connection.execute(_RUNS, (json.dumps([template]),)).fetchone()
        assert found
        (session,) = found
        made = await engine.ensure(ContainerSpec(session, "tiny", {"cpu": 1}, node="local"), lambda _: None)
        # 2. After the upgrade nobody starts it again, or ends it.
        migrate(empty)
        database = Database(empty)
        stack.push_async_callback(database.close)
        api = await stack.enter_async_context(
            installation(database, cast(People, None), tmp_path, controllers=True, engine=engine)
        )
        user = await api.browser("user")
        await _observed(database)
        shown = (await user.get("/sessions/kept")).json()
        assert (shown["state"], shown["node"]) == ("RUNNING", "local")
        assert [(one["id"], one["name"], one["state"]) for one in shown["containers"]] == [
            (session, "main", "RUNNING")
        ]
        assert await engine.list() == (made,)
        # 3. Its app, its terminal and its log are where they were.
        opened = await user.post("/sessions/kept/apps/web/open")
        assert opened.status_code == 200, opened.text
        access, secret = KEYPAIRS[schema]
        basic = base64.b64encode(f"{access}:{secret}".encode()).decode()
        terminal = await stack.enter_async_context(
            connect(
                f"ws://127.0.0.1:{api.port}{API}/sessions/kept/terminal",
                additional_headers={"Authorization": f"Basic {basic}"}, proxy=None,
            )
        )  # fmt: skip
        assert json.loads(await terminal.recv())["type"] == "ready"
        assert (await user.get("/sessions/kept/logs")).status_code == 200
        # 4. It ends, and nothing is left of it.
        await user.delete("/sessions/kept")
        await api.until(user, session, "TERMINATED")
        assert await engine.list() == ()
        with psycopg.connect(empty) as connection:
            held = connection.execute("SELECT count(*) FROM allocations WHERE released_at IS NULL").fetchone()
        assert held == (0,)


async def _greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def _observed(database: Database) -> None:
    """The controllers have compared the rows with the engine: the node was seen since it was written down."""

    async def seen() -> bool:
        async with database.transaction() as tx:
            return bool((await tx.execute(text("SELECT bool_and(seen_at > '2020-01-01') FROM nodes"))).scalar())

    assert await eventually(seen)


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
