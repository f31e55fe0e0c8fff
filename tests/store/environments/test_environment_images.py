"""The controller of environments' images, step by step, as after a crash."""

from controller_kit import tools
from databases import sql
from people import People

from carrel.controllers.environment_images import EnvironmentImages
from carrel.core.ids import LOCAL_ENGINE
from carrel.db.database import Database
from carrel.db.leader import lead
from carrel.engines.fake import FakeEngine


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
