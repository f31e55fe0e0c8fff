"""Images of environments are data: `carrel uninstall` removes them only with the data."""

import asyncio

import pytest

from carrel.engines.fake import FakeEngine
from carrel.engines.fake_world import FakeWorld
from carrel.engines.port import IDLE, ContainerSpec
from carrel.server import uninstall
from carrel.tables.environments import REPOSITORY

STARTER, SAVED = "localhost/carrel/starter:1", f"{REPOSITORY}/torch:1"


@pytest.fixture
def engine() -> FakeEngine:
    """With the starter image, an environment, and a session of the environment."""
    world = FakeWorld()
    world.local_images |= {STARTER, SAVED}
    world.commits["version"] = SAVED
    engine = FakeEngine(world)
    spec = ContainerSpec("session", SAVED, {"cpu": 1000}, command=IDLE, node=world.nodes[0].name)
    asyncio.run(engine.ensure(spec, lambda _: None))
    return engine


@pytest.mark.parametrize(("with_data", "left"), [(False, {SAVED}), (True, set())])
def test_they_stay_unless_the_data_goes(engine: FakeEngine, with_data: bool, left: set[str]) -> None:
    contents = asyncio.run(uninstall._contents(engine))
    assert set(contents.images) == {STARTER}
    assert contents.environments == 1
    asyncio.run(uninstall._clear_engine(engine, images=contents.images, environments=with_data))
    assert engine.world.local_images & {STARTER, SAVED} == left
    assert not engine.world.containers
