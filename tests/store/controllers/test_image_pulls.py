"""A pull goes on after its leader was killed, and the next leader does not repeat what is done."""

from collections.abc import AsyncIterator

import pytest
from controller_kit import tools
from databases import sql
from node_kit import join, machine
from people import People, eventually

from carrel.controllers.image_pulls import ImagePulls
from carrel.core.clock import SystemClock
from carrel.core.ids import LOCAL_ENGINE
from carrel.db.database import Database
from carrel.db.leader import Leader, lead
from carrel.engines.fake import FakeEngine
from carrel.images.node_images import node_pulls
from carrel.images.node_images.schemas import ImagePullCreate


@pytest.fixture
async def leader(database: Database) -> AsyncIterator[Leader]:
    leading = await lead(database.url)
    yield leading
    await leading.resign()


async def states(database: Database) -> list[tuple[str, str]]:
    rows = await sql(
        database,
        "SELECT p.reference, n.state FROM node_pulls n JOIN image_pulls p ON p.id = n.pull_id ORDER BY p.created_at",
    )
    return [(reference, state) for reference, state in rows]


async def test_a_killed_pull_is_begun_again_by_the_next_leader(
    database: Database, people: People, leader: Leader
):
    await join(database, machine("local"))
    async with database.transaction() as tx:
        for reference in ("lab/a:1", "lab/b:1"):
            body = ImagePullCreate(reference=reference, nodes=["local"])
            await node_pulls.request(tx, SystemClock(), people.superadmin, body)
    own = tools(database, leader)
    engine = await own.engines.of(LOCAL_ENGINE)
    assert isinstance(engine, FakeEngine)
    pulled: list[str] = []
    engine.world.after = pulled.append
    first = ImagePulls(own)
    engine.world.pull_s = 3600.0
    await first.step()

    async def both_run() -> bool:
        return await states(database) == [("lab/a:1", "running"), ("lab/b:1", "running")]

    async def both_noted() -> bool:
        noted = await sql(database, "SELECT reference FROM pulled_references ORDER BY 1")
        return [reference for (reference,) in noted] == ["docker.io/lab/a:1", "docker.io/lab/b:1"]

    await eventually(both_noted)
    # As if it was killed: nothing is recorded.
    await first.close()
    assert await both_run()
    engine.world.pull_s = 0.0
    second = ImagePulls(own)
    await second.step()
    await second.drain()
    assert await states(database) == [("lab/a:1", "done"), ("lab/b:1", "done")]
    assert pulled.count("pull_image") == 2
    await second.step()
    await second.drain()
    assert pulled.count("pull_image") == 2
