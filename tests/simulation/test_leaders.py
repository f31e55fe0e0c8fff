"""One leader at a time, over a real database: taking over, and being fenced."""

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest
from controller_kit import tools
from installation import only
from people import eventually

from carrel.controllers.loop import lead_forever
from carrel.db.database import Database
from carrel.db.leader import Leader, LeadershipLost, lead
from carrel.db.listener import Listener
from carrel.engines.fake import FakeEngine


class Counting:
    """A controller that does nothing but say so."""

    name = "counting"
    topics = ("counted",)
    tick_s = 0.05

    def __init__(self) -> None:
        self.steps = 0
        self.closed = False

    async def step(self) -> None:
        self.steps += 1

    async def close(self) -> None:
        self.closed = True


class Contender:
    """A process that leads when it can."""

    def __init__(self, url: str) -> None:
        self.reigns: list[tuple[Leader, Counting]] = []
        self.listener = Listener(url)
        self.task = asyncio.create_task(
            lead_forever(url, self.listener, only(Database(url), FakeEngine()), self._make)
        )

    def _make(self, leader: Leader) -> list[Counting]:
        self.reigns.append((leader, Counting()))
        return [self.reigns[-1][1]]

    async def reigns_for(self, count: int) -> bool:
        return len(self.reigns) == count and self.reigns[-1][1].steps > 0

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])


@pytest.fixture
async def contenders(postgres: str) -> AsyncIterator[list[Contender]]:
    made = [Contender(postgres)]
    await eventually(lambda: made[0].reigns_for(1))
    made.append(Contender(postgres))
    yield made
    for contender in made:
        await contender.stop()


async def test_the_next_one_leads_when_the_leaders_connection_is_gone(
    contenders: list[Contender], postgres: str
) -> None:
    first, second = contenders
    (leader, controller) = first.reigns[0]
    await eventually(lambda: _waits_for_the_lock(postgres))
    assert not second.reigns
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
        )
    await eventually(lambda: second.reigns_for(1))
    assert second.reigns[0][0].epoch == leader.epoch + 1
    await eventually(lambda: _closed(controller))
    steps = controller.steps
    await eventually(lambda: _steps(second.reigns[0][1], 5))
    assert controller.steps == steps, "a controller of the old leader goes on"


async def test_a_leader_that_resigns_is_followed_and_stands_again(contenders: list[Contender]) -> None:
    first, second = contenders
    await first.reigns[0][0].resign()
    await eventually(lambda: second.reigns_for(1))
    await second.reigns[0][0].resign()
    await eventually(lambda: first.reigns_for(2))
    assert first.reigns[1][0].epoch > second.reigns[0][0].epoch
    assert len(first.listener._subscribers["counted"]) == 1, "the first reign still listens"


async def test_a_reign_that_ends_in_an_unforeseen_way_is_followed_by_another(postgres: str) -> None:
    contender = Contender(postgres)
    await eventually(lambda: contender.reigns_for(1))
    contender.reigns[0][1].tick_s = "never"  # type: ignore[assignment]
    try:
        await eventually(lambda: contender.reigns_for(2))
    finally:
        await contender.stop()


async def test_what_an_old_leader_writes_is_void(postgres: str, database: Database) -> None:
    old = await lead(postgres)
    under_old = tools(database, old)
    async with under_old.transaction():
        pass
    await old.resign()
    new = await lead(postgres)
    with pytest.raises(LeadershipLost):
        async with under_old.transaction():
            pass
    await new.resign()


async def test_a_new_leader_waits_for_the_old_ones_transaction(
    postgres: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.db.leader.FORMER_S", 60.0)
    old = await lead(postgres)
    under_old = tools(database, old)
    async with under_old.transaction():
        await old.resign()
        taking_over = asyncio.create_task(lead(postgres))
        done, _ = await asyncio.wait([taking_over], timeout=0.3)
        assert not done
    await (await asyncio.wait_for(taking_over, 10)).resign()


async def _closed(controller: Counting) -> bool:
    return controller.closed


async def _steps(controller: Counting, count: int) -> bool:
    return controller.steps >= count


async def _waits_for_the_lock(url: str) -> bool:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        rows = await connection.execute("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
        return await rows.fetchone() is not None
