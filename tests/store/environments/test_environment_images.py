"""The controller of environments' images, step by step, as after a crash."""

import pytest
from controller_kit import tools
from databases import sql
from people import People

from carrel.controllers.environment_images import EnvironmentImages
from carrel.core.ids import LOCAL_ENGINE
from carrel.db.database import Database
from carrel.db.leader import lead
from carrel.engines.fake import FakeEngine
from carrel.engines.port import EngineError


async def test_images_without_a_version_are_removed_and_others_are_kept(
    database: Database, people: People
) -> None:
    leader = await lead(database.url)
    own = tools(database, leader)
    engine = await own.engines.of(LOCAL_ENGINE)
    assert isinstance(engine, FakeEngine)
    world = engine.world
    await sql(
        database,
        f"""
        INSERT INTO environments (id, name, description, owner_id, domain_id, created_at, updated_at)
        VALUES ('e', 'torch', '', '{people.user.user_id}', '{people.domain}', now(), now());
        INSERT INTO environment_versions (id, environment_id, name, note, state, reference, engine_id, session_name,
            container_id, base, apps, min_slots, created_at)
        VALUES ('ready', 'e', '1', '', 'ready', 'localhost/a:1', 'local', 's', 'c', 'debian:12', '[]', '{{}}', now()),
            ('failed', 'e', '2', '', 'failed', 'localhost/b:1', 'local', 's', 'c', 'debian:12', '[]', '{{}}', now())
        """,
    )
    for key, reference in {
        "ready": "localhost/a:1",
        "failed": "localhost/b:1",
        "orphan": "localhost/c:1",
    }.items():
        world.commits[key] = reference
        world.local_images.add(reference)
    controller = EnvironmentImages(own)
    await controller.step()
    await controller.drain()
    assert set(world.commits) == {"ready"}
    assert {one for one in world.local_images if one.startswith("localhost/")} == {"localhost/a:1"}
    await controller.close()
    await leader.resign()


async def test_an_unexpected_error_ends_the_version_and_one_image_in_use_does_not_end_the_sweep(
    database: Database, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    leader = await lead(database.url)
    own = tools(database, leader)
    engine = await own.engines.of(LOCAL_ENGINE)
    assert isinstance(engine, FakeEngine)
    await sql(
        database,
        f"""
        INSERT INTO environments (id, name, description, owner_id, domain_id, created_at, updated_at)
        VALUES ('e', 'torch', '', '{people.user.user_id}', '{people.domain}', now(), now());
        INSERT INTO environment_versions (id, environment_id, name, note, state, reference, engine_id, session_id,
            session_name, container_id, base, apps, min_slots, created_at)
        VALUES ('v', 'e', '1', '', 'waiting', 'localhost/a:1', 'local', 'gone', 's', 'c', 'debian:12', '[]', '{{}}',
            now())
        """,
    )
    engine.world.commits.update({"a": "localhost/b:1", "b": "localhost/c:1"})
    discard = engine.discard_commit

    async def fail(*_: object, **options: object) -> None:
        raise ValueError("carrel.files is not JSON")

    async def refuse_one(key: str) -> None:
        if key == "a":
            raise EngineError("The image is in use by a container.", retriable=True)
        await discard(key)

    monkeypatch.setattr(engine, "commit", fail)
    monkeypatch.setattr(engine, "discard_commit", refuse_one)
    controller = EnvironmentImages(own)
    await controller.step()
    await controller.drain()
    [(state, problem)] = await sql(database, "SELECT state, problem FROM environment_versions")
    assert state == "failed"
    assert problem == "The image could not be made; Carrel's log has the reason."
    assert set(engine.world.commits) == {"a"}
    await controller.close()
    await leader.resign()
