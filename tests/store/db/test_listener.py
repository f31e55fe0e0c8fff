"""Announcements at commit: all of them, only then, and one to everybody after a break."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from people import eventually
from sqlalchemy import text

from carrel.db.database import Database, notify
from carrel.db.listener import Listener


@pytest.fixture
async def listener(database: Database) -> AsyncIterator[Listener]:
    listener = Listener(database.url)
    task = asyncio.create_task(listener.run())
    await asyncio.wait_for(listener.connected.wait(), 10)
    yield listener
    task.cancel()
    await asyncio.wait([task])


async def test_subscribers_hear_their_topic_after_the_commit_and_not_before(
    database: Database, listener: Listener
):
    calls = {"a": 0, "b": 0, "meanwhile": 0}
    for topic in calls:
        listener.subscribe(topic, lambda topic=topic: calls.update({topic: calls[topic] + 1}))
    async with database.transaction() as tx:
        await notify(tx, "a")
        await tx.flush()
        async with database.transaction() as other:
            await notify(other, "meanwhile")
        await eventually(lambda: calls["meanwhile"])
        assert calls == {"a": 0, "b": 0, "meanwhile": 1}
    await eventually(lambda: calls["a"] == 1)
    assert calls["b"] == 0


async def test_what_is_rolled_back_is_not_announced(database: Database, listener: Listener):
    calls: list[str] = []
    listener.subscribe("a", lambda: calls.append("a"))
    listener.subscribe("end", lambda: calls.append("end"))

    async def change_ones_mind() -> None:
        async with database.transaction() as tx:
            await notify(tx, "a")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await change_ones_mind()
    async with database.transaction() as tx:
        await notify(tx, "end")

    async def ended() -> bool:
        return "end" in calls

    await eventually(ended)
    assert calls == ["end"]


async def test_after_a_break_everybody_is_called_once(database: Database, listener: Listener):
    calls: list[str] = []
    listener.subscribe("a", lambda: calls.append("a"))
    listener.subscribe("b", lambda: calls.append("b"))
    async with database.transaction() as tx:
        await tx.execute(
            text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
        )

    async def called() -> bool:
        return sorted(calls) == ["a", "b"] and listener.connected.is_set()

    await eventually(called)
    async with database.transaction() as tx:
        await notify(tx, "a")

    async def again() -> bool:
        return calls.count("a") == 2

    await eventually(again)
