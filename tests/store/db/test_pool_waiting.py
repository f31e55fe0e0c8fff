"""The pool says how many wait for a connection: SQLAlchemy counts them nowhere."""

import asyncio
from contextlib import AsyncExitStack

from people import eventually

from carrel.db.database import Database


async def test_whoever_waits_for_a_connection_is_counted_until_there_is_one(database: Database):
    small = Database(database.url, pool_size=1)

    async def ask() -> None:
        async with small.transaction() as tx:
            await tx.connection()

    async with AsyncExitStack() as taken:
        for _ in range(small.size):
            await (await taken.enter_async_context(small.transaction())).connection()
        tasks = [asyncio.create_task(ask()) for _ in range(3)]

        async def waiting() -> bool:
            return small.waiting == 3

        await eventually(waiting)
    await asyncio.gather(*tasks)
    assert small.waiting == 0
    await small.close()
