"""The event log in a real database: its order, what is held back, and what is old."""

import asyncio
from datetime import timedelta

import pytest
from people import People, eventually
from sqlalchemy import text

from carrel.core.clock import SystemClock
from carrel.core.errors import Invalid
from carrel.db.database import Database
from carrel.db.listener import Listener
from carrel.events import service

_WRITE = text("""INSERT INTO events (kind, object_kind, object_id, owner_id, project_id, domain_id, data)
    VALUES ('test', 'session', :id, :owner, 'p', 'd', '{}')""")


async def test_what_an_older_transaction_may_precede_is_held_back(database: Database, people: People):
    async with database.transaction() as older:
        await older.execute(_WRITE, {"id": "first", "owner": people.user.user_id})
        async with database.transaction() as tx:
            await tx.execute(_WRITE, {"id": "second", "owner": people.user.user_id})
        async with database.transaction() as tx:
            batch = await service.after(tx, "0.0")
            assert ([h.object_id for h in batch.events], batch.held) == ([], True)
    async with database.transaction() as tx:
        batch = await service.after(tx, "0.0")
        assert ([h.object_id for h in batch.events], batch.held) == (["first", "second"], False)


async def test_a_position_is_where_one_goes_on(database: Database, people: People):
    for number in range(5):
        async with database.transaction() as tx:
            await tx.execute(_WRITE, {"id": str(number), "owner": people.user.user_id})
    async with database.transaction() as tx:
        everything = (await service.after(tx, "0.0")).events
        for place, happening in enumerate(everything):
            rest = (await service.after(tx, str(happening.position))).events
            assert [h.object_id for h in rest] == [h.object_id for h in everything[place + 1 :]]
        assert (await service.after(tx, await service.end_of_log(tx))).events == []


async def test_a_stream_without_followers_reads_nothing_and_a_later_one_misses_nothing(
    database: Database, people: People
):
    listener = Listener(database.url)
    stream = service.EventStream(database, listener)
    await stream.start()

    async def write(*ids: str) -> None:
        async with database.transaction() as tx:
            for one in ids:
                await tx.execute(_WRITE, {"id": one, "owner": people.user.user_id})

    async def reading(number: int) -> None:
        """Whoever begins between two events gets all that follow."""
        async with stream.following(people.user, None) as events:
            await write(f"{number} a", f"{number} b")
            listener.announce(service.TOPIC)
            seen = []
            while f"{number} b" not in seen:
                seen.append((await anext(events)).object_id)
            assert {f"{number} a", f"{number} b"} <= {*seen}
            assert "before" not in seen

    running = asyncio.create_task(stream.run())
    for round_ in range(3):
        # A read that a follower woke goes on after it left.
        listener.announce(service.TOPIC)
        await eventually(lambda: stream._behind)
        await write("before")
        position = stream._position
        listener.announce(service.TOPIC)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert (stream._position, stream._behind) == (position, True)
        await asyncio.gather(*(reading(round_ * 10 + number) for number in range(5)))
    running.cancel()


async def test_a_long_log_comes_in_batches_that_join(database: Database, people: People):
    async with database.transaction() as tx:
        await tx.execute(
            _WRITE, [{"id": str(number), "owner": people.user.user_id} for number in range(1203)]
        )
    position, seen = "0.0", []
    while True:
        async with database.transaction() as tx:
            batch = await service.after(tx, position)
        seen += [happening.object_id for happening in batch.events]
        if not batch.full:
            break
        position = str(batch.events[-1].position)
    assert seen == [str(number) for number in range(1203)]


async def test_the_list_is_of_ones_own(database: Database, people: People):
    async with database.transaction() as tx:
        for owner in (people.user, people.colleague):
            await tx.execute(_WRITE, {"id": owner.email, "owner": owner.user_id})
        latest = await service.latest(tx, people.user, before=None, limit=10)
    assert [happening.object_id for happening in latest] == [people.user.email]


async def test_reading_on_uses_the_index(database: Database, people: People):
    async with database.transaction() as tx:
        await tx.execute(
            _WRITE, [{"id": str(number), "owner": people.user.user_id} for number in range(5000)]
        )
        await tx.execute(text("ANALYZE events"))
        plan = await tx.execute(text("EXPLAIN " + service._AFTER.text), {"xid": "1", "id": 1, "limit": 500})
        lines = "\n".join(plan.scalars())
    assert "ix_events_xid_id" in lines, lines
    assert "Sort" not in lines, lines


async def test_old_events_go(database: Database, people: People):
    now = SystemClock().now()
    async with database.transaction() as tx:
        await tx.execute(_WRITE, {"id": "old", "owner": people.user.user_id})
        await tx.execute(text("UPDATE events SET at = at - interval '8 days'"))
        await tx.execute(_WRITE, {"id": "new", "owner": people.user.user_id})
        await service.prune(tx, before=now - timedelta(days=7))
    async with database.transaction() as tx:
        assert [h.object_id for h in (await service.after(tx, "0.0")).events] == ["new"]


@pytest.mark.parametrize("position", ["", "x", "1", "1.", ".1", "1.2.3", "-1.1", "٣.1", "1.1\n", " 1.1"])
def test_what_is_no_position_is_refused(position: str):
    with pytest.raises(Invalid):
        service.parse(position)
