"""How often engines are calls for what."""

from collections import Counter

import pytest
from controller_kit import tools

from carrel.controllers.observe import Observe
from carrel.core.ids import LOCAL_ENGINE
from carrel.db.leader import lead
from carrel.engines.fake import FakeEngine, VirtualClock
from carrel.engines.port import EngineUnavailable


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
