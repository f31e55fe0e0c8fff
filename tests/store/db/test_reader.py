"""Statements that only read: quick, and as sound as the others."""

import asyncio

import psycopg
import pytest
from people import eventually
from sqlalchemy import text

from carrel.core.errors import Unavailable
from carrel.db.database import Database
from carrel.db.reader import StatementReader


async def test_texts_of_the_first_column_in_order(database: Database):
    texts = await database.texts("SELECT n::text FROM generate_series(1, %(last)s) n ORDER BY 1", {"last": 5})
    assert texts == ["1", "2", "3", "4", "5"]


async def test_connections_are_kept_and_bounded(database: Database):
    reader = StatementReader(database.url, size=3)
    pids = await asyncio.gather(
        *(reader.texts("SELECT pg_backend_pid()::text FROM pg_sleep(0.05)", {}) for _ in range(12))
    )
    assert len({pid for [pid] in pids}) == 3
    await reader.close()
    await reader.close()


async def test_connections_that_died_are_replaced(database: Database):
    reader = StatementReader(database.url, size=3)
    await asyncio.gather(*(reader.texts("SELECT pg_sleep(0.05)::text", {}) for _ in range(3)))
    async with database.transaction() as tx:
        await tx.execute(
            text("""SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()""")
        )
    for _ in range(5):
        assert await reader.texts("SELECT 'well'", {}) == ["well"]
    await reader.close()


async def test_a_statement_that_fails_harms_nobody(database: Database):
    for _ in range(15):
        with pytest.raises(psycopg.errors.DivisionByZero):
            await database.texts("SELECT (1 / %(zero)s)::text", {"zero": 0})
    assert await database.texts("SELECT 'well'", {}) == ["well"]


async def test_whoever_leaves_in_the_middle_leaves_nothing_open(database: Database):
    reader = StatementReader(database.url, size=1)
    waiting = asyncio.create_task(reader.texts("SELECT pg_sleep(30)::text", {}))

    async def asleep() -> list[str]:
        return await database.texts(
            "SELECT pid::text FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event = 'PgSleep'",
            {},
        )

    await eventually(asleep)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert await asyncio.wait_for(reader.texts("SELECT 'well'", {}), 60) == ["well"]
    await reader.close()


async def test_no_database_is_said_so(database: Database):
    reader = StatementReader(database.url.replace("host=", "host=%2Fnowhere"), size=1)
    for _ in range(3):
        with pytest.raises(Unavailable):
            await reader.texts("SELECT 'well'", {})


async def test_times_are_in_utc_whatever_the_servers_zone_is(database: Database):
    async with database.transaction() as tx:
        name = (await tx.execute(text("SELECT current_database()"))).scalar_one()
        await tx.execute(text(f"ALTER DATABASE {name} SET timezone = 'Asia/Seoul'"))
    assert await database.texts("SELECT current_setting('timezone')", {}) == ["UTC"]


async def test_what_waits_for_a_connection_is_counted(database: Database):
    reader = StatementReader(database.url, size=1)
    asking = [asyncio.create_task(reader.texts("SELECT pg_sleep(30)::text", {})) for _ in range(3)]

    async def counted() -> bool:
        return (reader.in_use, reader.waiting) == (1, 2)

    await eventually(counted)
    for each in asking:
        each.cancel()
    await asyncio.wait(asking)
    assert (reader.in_use, reader.waiting) == (0, 0)
    await reader.close()


async def test_what_waits_for_a_transaction_is_counted(database: Database):
    small = Database(database.url, pool_size=1)
    release = asyncio.Event()

    async def hold() -> None:
        async with small.transaction() as tx:
            await tx.execute(text("SELECT 1"))
            await release.wait()

    holding = [asyncio.create_task(hold()) for _ in range(5)]

    async def counted() -> bool:
        return (small.in_use, small.waiting) == (small.size, 5 - small.size)

    await eventually(counted)
    release.set()
    await asyncio.gather(*holding)
    assert (small.in_use, small.waiting) == (0, 0)
    await small.close()
