"""How often engines are calls for what."""

import asyncio
from collections import Counter

import pytest
from controller_kit import tools
from people import eventually

from carrel.controllers.observe import Observe
from carrel.core.ids import LOCAL_ENGINE
from carrel.db.leader import lead
from carrel.engines.fake import FakeEngine, VirtualClock
from carrel.engines.port import ContainerSpec, EngineUnavailable


async def test_machines_are_looked_at_less_often_than_containers(database, people):
    leader, clock, calls = await lead(database.url), VirtualClock(), Counter[str]()
    shared = tools(database, leader, clock=clock)
    engine = await shared.engines.of(LOCAL_ENGINE)
    assert isinstance(engine, FakeEngine)
    world = engine.world
    world.before = lambda step: calls.update([step])
    observe = Observe(shared)
    for _ in range(12):
        await observe.step()
        await clock.advance(1)
    assert calls == {"nodes": 3, "list": 12}
    # After an outage at once.
    world.go_away()
    with pytest.raises(EngineUnavailable):
        await observe.step()
    world.come_back()
    calls.clear()
    await observe.step()
    assert calls == {"nodes": 1, "list": 1}
    await observe.close()
    await leader.resign()


async def test_an_orphan_that_does_not_end_delays_no_look_and_is_removed_once(database, people):
    leader, clock, calls = await lead(database.url), VirtualClock(), Counter[str]()
    shared = tools(database, leader, clock=clock)
    engine = await shared.engines.of(LOCAL_ENGINE)
    assert isinstance(engine, FakeEngine)
    await engine.ensure(ContainerSpec("orphan", "debian:12", {"cpu": 1}), lambda progress: None)
    ends = asyncio.Event()

    async def remove(container: str, **how: object) -> None:
        calls["remove"] += 1
        await ends.wait()
        engine.world.vanish(container)

    engine.remove = remove  # type: ignore[assignment]
    engine.world.before = lambda step: calls.update([step])
    observe = Observe(shared)
    for _ in range(5):
        await observe.step()
        await clock.advance(1)
    assert calls == {"remove": 1, "nodes": 1, "list": 5}
    ends.set()
    await eventually(lambda: not engine.world.containers)
    await observe.close()
    await leader.resign()
