"""One leader at a time, and one that was replaced writes nothing any more."""

import asyncio

import psycopg
import pytest
from people import eventually, waiting_for_locks
from sqlalchemy import text

from carrel.core.errors import Unavailable
from carrel.db.database import Database
from carrel.db.leader import Leader, LeadershipLost, lead


async def cut(database: Database, leader: Leader) -> None:
    """What a broken network does to the connection that holds the lock."""
    pid = leader._connection.info.backend_pid
    async with database.transaction() as tx:
        await tx.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})


async def test_the_second_waits_until_the_first_resigns(database: Database):
    first = await lead(database.url)
    waiting = asyncio.create_task(lead(database.url))
    await waiting_for_locks(database)
    assert not waiting.done()
    await first.resign()
    second = await asyncio.wait_for(waiting, 60)
    assert second.epoch > first.epoch
    await second.resign()
    await second.resign()


async def test_of_many_candidates_one_leads(database: Database):
    leading: list[Leader] = []
    worst = 0

    async def candidate() -> None:
        nonlocal worst
        leader = await lead(database.url)
        leading.append(leader)
        worst = max(worst, len(leading))
        async with database.transaction() as tx:
            await leader.require(tx)
        leading.remove(leader)
        await leader.resign()

    await asyncio.wait_for(asyncio.gather(*(candidate() for _ in range(12))), 60)
    assert worst == 1


async def test_a_leader_who_was_replaced_is_fenced(database: Database):
    old = await lead(database.url)
    async with database.transaction() as tx:
        await old.require(tx)
    await cut(database, old)
    new = await asyncio.wait_for(lead(database.url), 60)

    async def write_late() -> None:
        async with database.transaction() as tx:
            await tx.execute(text("INSERT INTO domains (id, name) VALUES ('x', 'late')"))
            await old.require(tx)

    with pytest.raises(LeadershipLost):
        await write_late()
    async with database.transaction() as tx:
        await new.require(tx)
        assert (await tx.execute(text("SELECT count(*) FROM domains"))).scalar_one() == 0
    await new.resign()


async def test_a_new_leader_waits_for_what_the_old_one_is_writing(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    """Otherwise the new one would read a world that is about to change behind its back."""
    monkeypatch.setattr("carrel.db.leader.FORMER_S", 60.0)
    old = await lead(database.url)
    async with database.transaction() as tx:
        await old.require(tx)
        await cut(database, old)
        waiting = asyncio.create_task(lead(database.url))
        await waiting_for_locks(database)
        assert not waiting.done()
    new = await asyncio.wait_for(waiting, 60)
    await new.resign()


async def test_a_lost_lock_is_noticed(database: Database):
    leader = await lead(database.url)
    lost = asyncio.create_task(leader.until_lost())
    await cut(database, leader)
    await asyncio.wait_for(lost, 60)


async def test_a_leader_that_is_silent_loses_the_lock(database: Database, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("carrel.db.leader.SILENT_S", 0.2)
    silent = await lead(database.url)
    new = await asyncio.wait_for(lead(database.url), 60)
    assert new.epoch > silent.epoch
    await asyncio.wait_for(silent.until_lost(), 60)
    await new.resign()


async def test_a_transaction_that_a_lost_leader_left_open_is_ended(database: Database):
    old = await lead(database.url)

    async def hang() -> None:
        async with database.transaction() as tx:
            await old.require(tx)
            await cut(database, old)
            await (await asyncio.wait_for(lead(database.url), 60)).resign()

    with pytest.raises(Unavailable):
        await hang()


async def test_without_a_database_nobody_leads(database: Database):
    with pytest.raises(psycopg.OperationalError):
        await lead(database.url.replace("host=", "host=%2Fnowhere"))


async def test_whoever_stops_waiting_leaves_no_lock_behind(database: Database):
    first = await lead(database.url)
    waiting = asyncio.create_task(lead(database.url))
    await waiting_for_locks(database)
    waiting.cancel()
    await asyncio.wait([waiting])
    await first.resign()
    second = await asyncio.wait_for(lead(database.url), 60)

    async def alone() -> bool:
        async with database.transaction() as tx:
            rows = await tx.execute(text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
            return int(rows.scalar_one()) == 1

    await eventually(alone)
    await second.resign()


async def test_what_a_leader_asks_again_and_again_is_planned_once(database: Database):
    leader = await lead(database.url)
    statement = text("SELECT id FROM sessions WHERE state = ANY(:states)")
    async with database.transaction() as tx:
        # Enough for the driver to prepare it, and for PostgreSQL to see what planning it each time costs.
        for _ in range(20):
            await leader.require(tx)
            await tx.execute(statement, {"states": ["PENDING"]})
        planned = await tx.execute(
            text(
                "SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE statement LIKE '%state = ANY%'"
            )
        )
        assert [(row.custom_plans, row.generic_plans >= 10) for row in planned] == [(0, True)]
    async with database.transaction() as tx:
        assert (await tx.execute(text("SHOW plan_cache_mode"))).scalar() == "auto"
    await leader.resign()
