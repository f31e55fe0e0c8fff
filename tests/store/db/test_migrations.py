"""The migrations make exactly what the models say, once, also when two ask at the same time."""

import asyncio
import json

import psycopg
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from databases import bring_to
from people import eventually
from sqlalchemy import create_engine

from carrel.db.connecting import driver_url
from carrel.db.migrate import configuration, migrate
from carrel.server.metadata import METADATA


def test_the_migrations_match_the_models(postgres: str):
    engine = create_engine(driver_url(postgres))
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    engine.dispose()


def test_they_follow_each_other_in_one_line():
    script = ScriptDirectory.from_config(configuration())
    assert len(script.get_heads()) == 1
    assert len(script.get_bases()) == 1
    names = [revision.revision for revision in script.walk_revisions()]
    assert names == sorted(names, reverse=True)


async def test_two_at_once_migrate_once(postgres: str):
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    await asyncio.gather(*(asyncio.to_thread(migrate, postgres) for _ in range(3)))
    migrate(postgres)
    with psycopg.connect(postgres) as connection:
        [version] = connection.execute("SELECT count(*) FROM alembic_version").fetchone() or (0,)
        [users] = connection.execute("SELECT count(*) FROM users").fetchone() or (1,)
    assert (version, users) == (1, 0)


def test_each_installation_gets_a_label_of_its_own_and_an_older_one_keeps_what_its_containers_have(
    postgres: str,
):
    """Two with one label on one engine would take each other's containers for leftovers."""
    labels = [
        _label(postgres, someone=False),
        _label(postgres, someone=False),
        _label(postgres, someone=True),
    ]
    assert len({*labels}) == 3
    assert labels.index("main") == 2


def _label(url: str, *, someone: bool) -> str:
    """Of an installation that is made anew; someone: it was there before labels were kept."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
        if someone:
            bring_to(url, "0023")
            connection.execute(
                "INSERT INTO domains (id, name) VALUES ('d', 'd');"
                "INSERT INTO users (id, domain_id, email, name, role, password_hash)"
                " VALUES ('u', 'd', 'a@b.org', 'a', 'user', '')"
            )
        migrate(url)
        [label] = connection.execute("SELECT label FROM site").fetchone() or ("none",)
    return str(label)


def test_nodes_of_one_name_get_others_for_a_version_that_knows_one_engine(postgres: str):
    nodes = [("a", "local", "rack"), ("b", "e2", "rack"), ("c", "e3", "rack"), ("d", "e2", "alone")]
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO engines (id, name, kind) VALUES ('e2', 'two', 'fake'), ('e3', 'three', 'fake')"
        )
        for node in nodes:
            connection.execute(
                "INSERT INTO nodes (id, engine_id, name, architecture, engine_version, slots, capabilities,"
                " state, seen_at) VALUES (%s, %s, %s, 'x86_64', 'Fake 1', '{}', '[]', 'READY', now())",
                node,
            )
        # Those of engines that were removed keep their names, and may share them.
        connection.execute("UPDATE nodes SET engine_id = NULL, forgotten_at = now() WHERE id = 'c'")
    bring_to(postgres, "0027")
    with psycopg.connect(postgres) as connection:
        names = connection.execute("SELECT name FROM nodes ORDER BY id").fetchall()
    assert [name for [name] in names] == ["rack", "rack@two", "rack@c", "alone"]
    migrate(postgres)


def test_environments_that_were_there_know_what_they_are_made_of(postgres: str):
    versions = "localhost/carrel/environments/"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
        bring_to(postgres, "0102")
        connection.execute(
            "INSERT INTO domains (id, name) VALUES ('d', 'd');"
            "INSERT INTO users (id, domain_id, email, name, role, password_hash)"
            " VALUES ('u', 'd', 'a@b.org', 'a', 'user', '');"
            "INSERT INTO images (id, name, reference, title, description, present, min_slots, apps)"
            " VALUES ('i', 'lab', 'docker.io/library/debian:12', '', '', true, '{}', '[]');"
            "INSERT INTO environments (id, name, description, owner_id, domain_id, created_at, updated_at)"
            " VALUES ('e', 'torch', '', 'u', 'd', now(), now())"
        )
        for number, (id_, base) in enumerate([("saved", "lab"), ("built", "lab"), ("above", "env:torch:2")]):
            connection.execute(
                "INSERT INTO environment_versions (id, environment_id, name, note, state, reference, engine_id,"
                " session_name, container_id, base, apps, min_slots, created_at)"
                " VALUES (%s, 'e', %s, '', 'ready', %s, 'local', '', '', %s, '[]', '{}', now() + %s * interval '1 s')",
                (id_, str(number + 1), f"{versions}{id_}:{number + 1}", base, number),
            )
        for id_, below, images in (
            ("built", "lab", {"lab": "docker.io/library/debian:12", "tools": "docker.io/x/tools:1"}),
            ("above", "env:torch:2", {"env:torch:2": f"{versions}built:2"}),
        ):
            connection.execute(
                "INSERT INTO environment_builds (version_id, kind, dockerfile, files, added, images, below)"
                " VALUES (%s, 'dockerfile', '', '{}', '{}', %s, %s)",
                (id_, json.dumps(images), below),
            )
        migrate(postgres)
        rows = connection.execute("SELECT id, origins FROM environment_versions").fetchall()
    origins = {
        id_: {(one["reference"], one["name"], one["below"]) for one in made_of} for id_, made_of in rows
    }
    lab, tools = ("docker.io/library/debian:12", "lab", True), ("docker.io/x/tools:1", None, False)
    assert origins == {"saved": {lab}, "built": {lab, tools}, "above": {lab, tools}}


async def test_a_migration_gives_way_to_a_request_that_would_wait_for_it(postgres: str):
    """The request has a table that a later migration changes, and needs one that an earlier one has changed."""
    bring_to(postgres, "0072")
    async with (
        await psycopg.AsyncConnection.connect(postgres) as request,
        await psycopg.AsyncConnection.connect(postgres, autocommit=True) as look,
    ):
        await request.execute("SELECT FROM allocations")

        async def waits() -> bool:
            waiting = "SELECT FROM pg_locks WHERE relation = 'allocations'::regclass AND NOT granted"
            return (await look.execute(waiting)).rowcount > 0

        migrating = asyncio.create_task(asyncio.to_thread(migrate, postgres))
        await eventually(waits, every_s=0.005)
        await request.execute("SELECT FROM sessions")
        await request.commit()
        await migrating
        versions = await (await look.execute("SELECT version_num FROM alembic_version")).fetchall()
        assert versions == [(ScriptDirectory.from_config(configuration()).get_current_head(),)]
