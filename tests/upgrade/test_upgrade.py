"""A database of each earlier milestone is brought to today's schema, and those who used it find what they had.

`schema-NNNN.dump` was made by the code of that milestone: its migrations, an administrator and four people, a keypair
(its secret is in keypairs.json), a session, and a folder where there were folders. A milestone adds its own when it
lands: docs/howto/upgrade.md.
"""

import asyncio
import base64
import json
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import cast

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from databases import bring_to, in_database
from installation import API, installation
from people import People, eventually
from sqlalchemy import create_engine, select, text
from sqlalchemy.orm import undefer
from websockets.asyncio.client import connect

from carrel.core.clock import SystemClock
from carrel.core.errors import Conflict
from carrel.core.ids import NodeId, new_id
from carrel.db import revision
from carrel.db.connecting import driver_url
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.db.migrate import migrate
from carrel.engines.fake import FakeEngine
from carrel.engines.port import ContainerSpec
from carrel.queue import loading
from carrel.server.backup.database_dump import load
from carrel.server.metadata import METADATA
from carrel.server.waiting import require_not_newer
from carrel.sessions.spec import MountRequest, SessionSpec
from carrel.signin.providers.setup import opened
from carrel.tables.providers import Provider
from carrel.tables.sessions import Session

HERE = Path(__file__).parent
DUMPS = {dump.stem.removeprefix("schema-"): dump for dump in sorted(HERE.glob("schema-*.dump"))}
KEYPAIRS: dict[str, tuple[str, str]] = {
    schema: (pair[0], pair[1]) for schema, pair in json.loads((HERE / "keypairs.json").read_text()).items()
}
FIRST_WITH_FOLDERS = "0014"
FIRST_WITH_CONTAINERS = "0026"
CHANGELOG = (HERE.parents[1] / "CHANGELOG.md").read_text()


@pytest.fixture
def empty(postgres_server: str) -> Iterator[str]:
    """The URL of a database without a table."""
    name = f"upgrade_{new_id()}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    yield in_database(postgres_server, name)
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_there_is_a_database_of_each_milestone() -> None:
    last = re.findall(r"^Database schema (?:\d{4} (?:to|and) )?(\d{4})\.$", CHANGELOG, re.MULTILINE)
    assert len(last) >= 4
    assert DUMPS.keys() >= {*last, "0024", "0034"}
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


def test_devices_of_before_serve_whole_ones_and_shares(empty: str) -> None:
    load(empty, DUMPS["0024"], lambda name, count: None)
    devices = [{"id": f"gpu{n}", "family": "cuda", "model": "", "set": 0} for n in range(2)]
    with psycopg.connect(empty, autocommit=True) as connection:
        for name, theirs in (("fast", devices), ("plain", [])):
            connection.execute(
                "INSERT INTO nodes (id, name, architecture, engine, slots, capabilities, devices, state, seen_at)"
                " VALUES (%s, %s, 'x86_64', 'Fake 1', '{}', '[]', %s, 'READY', now())",
                (name, name, json.dumps(theirs)),
            )
    migrate(empty)
    with psycopg.connect(empty) as connection:
        kept = dict(
            connection.execute("SELECT name, devices FROM nodes WHERE name IN ('fast', 'plain')").fetchall()
        )
        kinds = connection.execute("SELECT name, family, type FROM slot_kinds ORDER BY name").fetchall()
    slots = {"cuda.device": 1000, "cuda.shares": 1}
    assert kept == {"fast": [{**one, "slots": slots} for one in devices], "plain": []}
    assert kinds == [("cuda.device", "cuda", "count"), ("cuda.shares", "cuda", "shares")]


def test_providers_of_before_keep_their_settings_and_their_secrets(empty: str) -> None:
    load(empty, DUMPS["0024"], lambda name, count: None)
    seal = SecretBox(b"k" * 32)
    settings = {"corp": {"issuer": "https://login.example.org"}, "office": {"host": "ldap.example.org"}}
    with psycopg.connect(empty, autocommit=True) as connection:
        for name, kind, secret in (
            ("corp", "oidc", "one"),
            ("office", "ldap", "two"),
            ("open", "ldap", None),
        ):
            connection.execute(
                "INSERT INTO providers (id, name, kind, domain_id, options, secret)"
                " SELECT %s, %s, %s, id, %s, %s FROM domains LIMIT 1",
                (
                    name,
                    name,
                    kind,
                    json.dumps(settings.get(name, {})),
                    secret and seal.close(secret.encode(), f"provider:{name}"),
                ),
            )
    migrate(empty)
    engine = create_engine(driver_url(empty))
    with engine.connect() as kept:
        rows = {row.name: row for row in kept.execute(select(Provider.__table__))}
    assert {name: row.settings for name, row in rows.items()} == {**settings, "open": {}}
    assert {row.server for row in rows.values()} == {"https://login.example.org", "ldap.example.org", ""}
    secrets = {name: opened(seal, cast(Provider, row), row.secrets) for name, row in rows.items()}
    assert secrets == {"corp": {"client_secret": "one"}, "office": {"bind_password": "two"}, "open": {}}
    bring_to(empty, "0031")
    with engine.connect() as kept:
        sealed = {row.name: row.secret for row in kept.execute(text("SELECT name, secret FROM providers"))}
    engine.dispose()
    assert seal.open(sealed["corp"], "provider:corp") == b"one"
    assert seal.open(sealed["office"], "provider:office") == b"two"
    assert sealed["open"] is None


def test_folders_of_before_are_measured_again_and_keep_their_size_until_then(empty: str) -> None:
    load(empty, DUMPS["0024"], lambda name, count: None)
    bring_to(empty, "0032")
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute("UPDATE vfolders SET used_bytes = 5, files = 2, measured_at = now()")
        migrate(empty)
        row = connection.execute(
            "SELECT used_bytes, files, touched_at > measured_at FROM vfolders"
        ).fetchone()
    assert row == (5, 2, True)


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
    RETURNING session_id, session_id
"""
_RUNS_IN_A_CONTAINER = """
    WITH node AS (
        INSERT INTO nodes (id, name, architecture, engine_id, engine_version, slots, capabilities, state, seen_at)
        VALUES ('nodenodenode', 'local', 'x86_64', 'local', 'Fake 1', '{"cpu": 8000, "mem": 34359738368}', '["fake"]',
            'READY', '2001-01-01')
        RETURNING id
    ), session AS (
        UPDATE sessions SET state = 'RUNNING', started_at = now(), deadline = NULL, reason = NULL, apps = %s
        WHERE name = 'kept' RETURNING id
    ), running AS (
        UPDATE containers c SET state = 'RUNNING', node_id = node.id, address = '127.0.0.1', started_at = now()
        FROM node, session s WHERE c.session_id = s.id RETURNING c.id, c.session_id, c.node_id, c.slots
    )
    INSERT INTO allocations (session_id, container_id, node_id, slot, amount, created_at)
    SELECT running.session_id, running.id, node_id, key, value::bigint, now()
    FROM running, jsonb_each_text(slots)
    RETURNING session_id, container_id
"""


@pytest.mark.parametrize("schema", DUMPS)
async def test_what_ran_before_goes_on_running_with_its_terminal_and_its_apps(
    schema: str, empty: str, tmp_path: Path
) -> None:
    engine = FakeEngine()
    async with AsyncExitStack() as stack:
        # 1. It runs: before there was a table for containers, in one that was named after the session.
        load(empty, DUMPS[schema], lambda name, count: None)
        app = await stack.enter_async_context(await asyncio.start_server(_greet, "127.0.0.1", 0))
        port = app.sockets[0].getsockname()[1]
        template = {"name": "web", "title": "Web", "protocol": "http", "port": port, "ready": ""}
        with psycopg.connect(empty, autocommit=True) as connection:
            runs = _RUNS_IN_A_CONTAINER if schema >= FIRST_WITH_CONTAINERS else _RUNS
            row = connection.execute(runs, (json.dumps([template]),)).fetchone()
        assert row
        session, container = row
        made = await engine.ensure(ContainerSpec(container, "tiny", {"cpu": 1}, node="local"), lambda _: None)
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
            (container, "main", "RUNNING")
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
                additional_headers={"Authorization": f"Basic {basic}"},
                proxy=None,
            )
        )
        assert json.loads(await terminal.recv())["type"] == "ready"
        assert (await user.get("/sessions/kept/logs")).status_code == 200
        # 4. It ends, and nothing is left of it.
        await user.delete("/sessions/kept")
        await api.until(user, session, "TERMINATED")
        assert await engine.list() == ()
        with psycopg.connect(empty) as connection:
            held = connection.execute("SELECT count(*) FROM allocations WHERE released_at IS NULL").fetchone()
        assert held == (0,)


_ASKS = """
    INSERT INTO nodes (id, name, architecture, engine, slots, capabilities, state, seen_at)
        VALUES ('nodenodenode', 'local', 'x86_64', 'Fake 1', '{"cpu": 8000, "mem": 34359738368}', '["fake"]',
            'READY', '2001-01-01');
    UPDATE sessions SET env = '{"SEED": "7"}', wanted_node = 'nodenodenode', time_limit_s = 7200, priority = 60
        WHERE name = 'kept';
    INSERT INTO vfolder_mounts (session_id, position, folder_id, folder_name, owner_id, path, subpath, read_only,
            released_at)
        SELECT s.id, 0, f.id, f.name, s.owner_id, '/data', 'train', true, now() FROM sessions s, vfolders f
        WHERE s.name = 'kept' AND f.name = 'work'
"""
_LAST_WITHOUT_SPECS, _FIRST_WITH_SPECS = "0026", "0027"


async def test_what_was_asked_of_a_session_is_its_spec_and_it_starts_by_it(
    empty: str, tmp_path: Path
) -> None:
    engine = FakeEngine()
    load(empty, DUMPS["0024"], lambda name, count: None)
    bring_to(empty, _LAST_WITHOUT_SPECS)
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute(_ASKS)
        before = connection.execute("SELECT env, wanted_node FROM sessions").fetchall()
        folder, project, image = connection.execute(
            "SELECT f.id, s.project_id, s.image FROM vfolders f, sessions s WHERE f.name = 'work'"
        ).fetchone() or ("", "", "")
    # There and back, nothing is lost.
    bring_to(empty, _FIRST_WITH_SPECS)
    bring_to(empty, _LAST_WITHOUT_SPECS)
    with psycopg.connect(empty) as connection:
        assert connection.execute("SELECT env, wanted_node FROM sessions").fetchall() == before
    migrate(empty)
    async with AsyncExitStack() as stack:
        database = Database(empty)
        stack.push_async_callback(database.close)
        async with database.transaction() as tx:
            [row] = (await tx.execute(select(Session).options(undefer(Session.spec)))).scalars()
            [waiting] = await loading.waiting(tx, SystemClock().now())
        assert waiting.node == "nodenodenode"
        assert SessionSpec.from_json(row.spec) == SessionSpec(
            image=image,
            slots=row.slots,
            name="kept",
            env={"SEED": "7"},
            project=project,
            group="default",
            priority=60,
            time_limit_s=7200,
            node=NodeId("nodenodenode"),
            containers=1,
            mounts=(MountRequest(folder=folder, path="/data", subpath="train", read_only=True),),
        )
        api = await stack.enter_async_context(
            installation(database, cast(People, None), tmp_path, controllers=True, engine=engine)
        )
        user = await api.browser("user")
        await api.until(user, row.id, "RUNNING")
        shown = (await user.get("/sessions/kept")).json()
        assert (shown["env"], shown["time_limit_s"], shown["priority"]) == ({"SEED": "7"}, 7200, 60)
        assert shown["node"] == "local"
        [started] = engine.world.containers.values()
        assert started.spec.env["SEED"] == "7"


_RECURS = """
    UPDATE sessions SET spec = spec || '{"roles": [{"name": "worker", "env": {"TOKEN": "hunter2"}}]}';
    INSERT INTO schedules (id, name, owner_id, project_id, domain_id, cron, timezone, missed, overlap, active, spec,
            created_at)
        SELECT 'nightly', 'nightly', owner_id, project_id, domain_id, '0 2 * * *', 'UTC', 'skip', 'allow', false,
            spec || '{"kind": "batch", "command": ["true"], "name": null}', now()
        FROM sessions;
    INSERT INTO schedule_runs (schedule_id, planned_at, at, on_request, outcome, session_id)
        SELECT 'nightly', now(), now(), true, 'started', id FROM sessions
"""


async def test_variables_of_roles_in_recurring_runs_are_encrypted(empty: str, tmp_path: Path) -> None:
    load(empty, DUMPS["0034"], lambda name, count: None)
    bring_to(empty, "0051")
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute(_RECURS)
    migrate(empty)
    database = Database(empty)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(database.close)
        api = await stack.enter_async_context(
            installation(database, cast(People, None), tmp_path, controllers=True, engine=FakeEngine())
        )

        async def encrypted() -> bool:
            async with database.transaction() as tx:
                query = "SELECT spec::text FROM schedules UNION ALL SELECT spec::text FROM sessions"
                stored = list((await tx.execute(text(query))).scalars())
            return len(stored) == 2 and all("sealed:" in one and "hunter2" not in one for one in stored)

        assert await eventually(encrypted)
        user = await api.browser("user")
        for shown in ("/sessions/kept", "/schedules/nightly"):
            answer = (await user.get(shown)).json()
            roles = answer.get("session", answer)["roles"]
            assert roles[0]["env"] == {"TOKEN": "hunter2"}


async def _greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def _observed(database: Database) -> None:
    """The controllers have compared the rows with the engine: the node was seen since it was written down."""

    async def seen() -> bool:
        async with database.transaction() as tx:
            return bool(
                (await tx.execute(text("SELECT bool_and(seen_at > '2020-01-01') FROM nodes"))).scalar()
            )

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
