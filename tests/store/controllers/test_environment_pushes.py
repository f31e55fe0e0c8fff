"""A push goes on after its leader was killed, and a few run at once."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from controller_kit import tools
from databases import sql
from environment_kit import add_environment
from node_kit import join, machine
from people import People, eventually

from carrel.controllers.environment_pushes import EnvironmentPushes
from carrel.controllers.loop import Tools
from carrel.core.clock import SystemClock
from carrel.core.errors import Refused
from carrel.core.ids import LOCAL_ENGINE, ProjectId
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.db.leader import Leader, lead
from carrel.engines.fake import FakeEngine
from carrel.engines.fake_world import CAPABILITIES
from carrel.environments.pushes import due_pushes, service
from carrel.environments.pushes.schemas import PushCreate
from carrel.images.registries import service as registries
from carrel.images.registries.schemas import RegistryCreate
from carrel.tables.registries import MayPush


@pytest.fixture
async def leader(database: Database) -> AsyncIterator[Leader]:
    leading = await lead(database.url)
    yield leading
    await leading.resign()


async def states(database: Database) -> list[tuple[str, int]]:
    rows = await sql(
        database, "SELECT state, attempts FROM environment_pushes ORDER BY created_at, reference"
    )
    return [(state, attempts) for state, attempts in rows]


async def requested(database: Database, people: People, *tags: str, project: ProjectId | None = None) -> None:
    """Pushes of the first version of an environment of the user."""
    await join(database, replace(machine("local"), capabilities=CAPABILITIES))
    await add_environment(database, "torch", people.user)
    async with database.transaction() as tx:
        body = RegistryCreate(
            name="ours",
            url="https://r.example.org",
            push=MayPush.MEMBERS,
            push_repositories=["*"],
            project=project,
        )
        await registries.create(tx, SecretBox(b"0" * 32), SystemClock(), people.superadmin, body)
    for tag in tags:
        async with database.transaction() as tx:
            await service.request(tx, SystemClock(), people.user, "torch", "1", PushCreate(tag=tag))


async def test_a_killed_push_is_begun_again_by_the_next_leader(
    database: Database, people: People, leader: Leader
) -> None:
    await requested(database, people, "1", "2", "3")
    own = tools(database, leader)
    engine = await own.engines.of(LOCAL_ENGINE)
    assert isinstance(engine, FakeEngine)
    [(image,)] = await sql(database, "SELECT reference FROM environment_versions WHERE name = '1'")
    engine.world.local_images.add(image)
    engine.world.push_s = 3600.0
    first = EnvironmentPushes(own)
    await first.step()

    async def two_run() -> bool:
        return await states(database) == [("running", 1), ("running", 1), ("waiting", 0)]

    await eventually(two_run)
    await first.close()
    assert engine.world.pushed == {}

    engine.world.push_s = 0.0
    second = EnvironmentPushes(own)
    await second.step()
    await second.drain()
    assert await states(database) == [("done", 2), ("done", 2), ("waiting", 0)]
    await second.step()
    await second.drain()
    assert await states(database) == [("done", 2), ("done", 2), ("done", 1)]
    assert set(engine.world.pushed) == {f"r.example.org/torch:{tag}" for tag in "123"}
    await second.step()
    await second.drain()
    assert len(engine.world.pushed) == 3


async def run(own: Tools) -> None:
    controller = EnvironmentPushes(own)
    await controller.step()
    await controller.drain()


async def problems(database: Database) -> list[tuple[str, str | None]]:
    return [
        (state, code) for state, code in await sql(database, "SELECT state, code FROM environment_pushes")
    ]


async def test_a_push_that_is_interrupted_again_and_again_fails(
    database: Database, people: People, leader: Leader
) -> None:
    await requested(database, people, "1")
    await sql(database, f"UPDATE environment_pushes SET state = 'running', attempts = {due_pushes.ATTEMPTS}")
    own = tools(database, leader)
    await run(own)
    assert await problems(database) == [("failed", "push_failed")]


async def test_a_push_fails_if_something_unexpected_happens(
    database: Database, people: People, leader: Leader
) -> None:
    await requested(database, people, "1")
    own = tools(database, leader)
    engine = await own.engines.of(LOCAL_ENGINE)
    assert isinstance(engine, FakeEngine)
    [(image,)] = await sql(database, "SELECT reference FROM environment_versions WHERE name = '1'")
    engine.world.local_images.add(image)
    engine.world.fail_next("push_image", RuntimeError("unheard of"))
    await run(own)
    [(state, problem)] = await sql(database, "SELECT state, problem FROM environment_pushes")
    assert (state, problem.partition(";")[0]) == ("failed", "Something unexpected happened")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE users SET state = 'inactive' WHERE id = '{user}'",
        "UPDATE domains SET active = false WHERE id = '{domain}'",
        "DELETE FROM memberships WHERE user_id = '{user}'",
        "UPDATE environment_pushes SET requested_by = NULL",
        "UPDATE environments SET owner_id = '{colleague}'",
    ],
)
async def test_a_push_needs_the_rights_of_its_requester_until_it_runs(
    database: Database, people: People, leader: Leader, change: str
) -> None:
    await requested(database, people, "1", project=people.project)
    ids = {"user": people.user.user_id, "domain": people.domain, "colleague": people.colleague.user_id}
    await sql(database, change.format(**ids))
    own = tools(database, leader)
    await run(own)
    assert await problems(database) == [("failed", "push.not_permitted")]
    engine = await own.engines.of(LOCAL_ENGINE)
    assert isinstance(engine, FakeEngine)
    assert engine.world.pushed == {}


async def test_pushes_of_one_user_do_not_hold_up_those_of_another(
    database: Database, people: People, leader: Leader
) -> None:
    await requested(database, people, "1", "2", "3", "4")
    await add_environment(database, "other", people.colleague, "other")
    async with database.transaction() as tx:
        await service.request(tx, SystemClock(), people.colleague, "other", "1", PushCreate(tag="5"))
        order = [one.reference.rpartition(":")[2] for one in await due_pushes.due(tx)]
    assert order == ["1", "5", "2", "3", "4"]


async def test_a_user_has_few_open_pushes(database: Database, people: People, leader: Leader) -> None:
    await requested(database, people, *map(str, range(service.MOST_OPEN)))
    with pytest.raises(Refused) as refused:
        async with database.transaction() as tx:
            await service.request(tx, SystemClock(), people.user, "torch", "1", PushCreate(tag="more"))
    assert refused.value.code == "push.too_many"
    await sql(
        database,
        "UPDATE environment_pushes SET state = 'done', ended_at = now() WHERE reference = 'r.example.org/torch:0'",
    )
    async with database.transaction() as tx:
        await service.request(tx, SystemClock(), people.user, "torch", "1", PushCreate(tag="more"))
