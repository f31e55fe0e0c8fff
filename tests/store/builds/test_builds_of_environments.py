"""The controller of builds, step by step, as after a crash."""

import pytest
from controller_kit import tools
from databases import sql
from people import People

from carrel.builds import building
from carrel.controllers.environment_builds import EnvironmentBuilds
from carrel.core.ids import LOCAL_ENGINE
from carrel.db.database import Database
from carrel.db.leader import lead
from carrel.engines.fake import FakeEngine
from carrel.engines.port import EngineUnavailable
from carrel.images.node_images import prune
from carrel.tables.environments import EnvironmentVersion


async def interrupted(database: Database, people: People, attempts: int) -> None:
    """A build that was running when its process was killed, with a part of its log."""
    await sql(
        database,
        f"""
        INSERT INTO environments (id, name, description, owner_id, domain_id, created_at, updated_at)
        VALUES ('e', 'torch', '', '{people.user.user_id}', '{people.domain}', now(), now());
        INSERT INTO environment_versions (id, environment_id, name, note, state, recipe, reference, engine_id,
            session_name, container_id, base, apps, min_slots, created_at)
        VALUES ('v', 'e', '1', '', 'running', 'dockerfile', 'localhost/carrel/environments/v:1', 'local', '', '', 'a',
            '[]', '{{}}', now());
        INSERT INTO environment_builds (version_id, kind, dockerfile, files, added, images, below, attempts)
        VALUES ('v', 'dockerfile', 'FROM a', '{{}}', '{{}}', '{{"a": "docker.io/library/a:latest"}}', 'a', {attempts});
        INSERT INTO environment_build_logs (version_id, number, text) VALUES ('v', 1, 'old');
        """,
    )


@pytest.mark.parametrize(("attempts", "state"), [(1, "ready"), (building.ATTEMPTS, "failed")])
async def test_an_interrupted_build_begins_again_but_not_forever(
    database: Database, people: People, attempts: int, state: str
) -> None:
    leader = await lead(database.url)
    own = tools(database, leader)
    engine = await own.engines.of(LOCAL_ENGINE)
    assert isinstance(engine, FakeEngine)
    await interrupted(database, people, attempts)
    engine.world.builds.update({"e", "gone"})
    controller = EnvironmentBuilds(own)
    await controller.step()
    await controller.drain()
    [(ended, problem)] = await sql(database, "SELECT state, problem FROM environment_versions")
    assert ended == state, problem
    rows = await sql(database, "SELECT number, text FROM environment_build_logs ORDER BY number")
    assert rows[0][0] == 2, "who has followed it until 1 misses nothing"
    log = "".join(text for _, text in rows)
    assert log.startswith("It was interrupted, and begins again.")
    assert "old" not in log
    assert "gone" not in engine.world.builds, "cached steps of environments that are gone"
    assert set(engine.world.commits) == ({"v"} if state == "ready" else set())
    await controller.close()
    await leader.resign()


async def test_an_engine_that_is_away_takes_no_attempt(
    database: Database, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.controllers.environment_builds._PAUSE_S", 0.0)
    leader = await lead(database.url)
    own = tools(database, leader)
    engine = await own.engines.of(LOCAL_ENGINE)
    assert isinstance(engine, FakeEngine)
    await interrupted(database, people, 0)
    away = EngineUnavailable("The engine does not respond.")
    engine.world.fail_next("discard_commit", away, times=building.ATTEMPTS + 2)
    controller = EnvironmentBuilds(own)
    for _ in range(building.ATTEMPTS + 2):
        await controller.step()
        await controller.drain()
    assert await sql(database, "SELECT state, problem FROM environment_versions") == [
        ("running", "The engine does not respond.")
    ]
    await controller.step()
    await controller.drain()
    assert await sql(database, "SELECT state FROM environment_versions") == [("ready",)]
    await controller.close()
    await leader.resign()


def test_builds_begin_one_at_a_time_for_each_person_and_environment() -> None:
    def version(id_: str, person: str, environment: str) -> EnvironmentVersion:
        return EnvironmentVersion(id=id_, created_by=person, environment_id=environment, cancel=False)

    waiting = [
        version("a", "ada", "x"),
        version("b", "ada", "y"),
        version("c", "bob", "x"),
        version("d", "bob", "z"),
        version("e", "eve", "w"),
    ]

    def begun(active: set[str], at_once: int) -> list[str]:
        return [one.id for one in building.startable(waiting, active, at_once=at_once)]

    assert begun(set(), 2) == ["a", "d"]
    assert begun(set(), 9) == ["a", "d", "e"]
    assert begun({"a"}, 2) == ["d"]
    assert begun({"a", "e"}, 2) == []
    assert begun(set(), 0) == []


@pytest.mark.parametrize("there", [False, True])
async def test_an_image_that_only_a_build_has_brought_is_noted_and_stays_during_builds(
    database: Database, people: People, *, there: bool
) -> None:
    leader = await lead(database.url)
    own = tools(database, leader)
    engine = await own.engines.of(LOCAL_ENGINE)
    assert isinstance(engine, FakeEngine)
    image = "docker.io/library/a:latest"
    if there:
        engine.world.local_images.add(image)
    await sql(
        database,
        "INSERT INTO nodes (id, engine_id, name, architecture, engine_version, slots, capabilities, state, seen_at)"
        " VALUES ('n', 'local', 'local', 'x86_64', 'Fake 1', '{}', '[]', 'READY', now())",
    )
    await interrupted(database, people, 0)
    await sql(database, "UPDATE environment_versions SET node_id = 'n', base = 'lab'")
    async with database.transaction() as tx:
        assert image in (await prune.needed(tx, registered=False)).names
    controller = EnvironmentBuilds(own)
    await controller.step()
    await controller.drain()
    assert await sql(database, "SELECT state FROM environment_versions") == [("ready",)]
    noted = await sql(database, "SELECT node_id, reference, name FROM pulled_references")
    assert noted == ([] if there else [("n", image, image)])
    async with database.transaction() as tx:
        assert image not in (await prune.needed(tx, registered=False)).names
    await controller.close()
    await leader.resign()
