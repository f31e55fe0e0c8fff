"""Connections that are no longer needed are closed; as many as are in use at once stay open."""

import asyncio

import pytest
from sqlalchemy import text

from carrel.db import pool
from carrel.db.database import Database


async def at_once(database: Database, count: int) -> None:
    """So many transactions at the same time."""
    together = asyncio.Barrier(count)

    async def one() -> None:
        async with database.transaction() as tx:
            await tx.execute(text("SELECT 1"))
            await together.wait()

    await asyncio.gather(*(one() for _ in range(count)))


async def test_connections_of_the_same_period_stay(postgres: str):
    database = Database(postgres)
    for _ in range(3):
        await at_once(database, 4)
        await at_once(database, 1)
    assert (database.idle, database.in_use) == (4, 0)
    await database.close()


async def test_connections_that_nobody_needs_are_closed(postgres: str, monkeypatch: pytest.MonkeyPatch):
    database = Database(postgres, pool_size=3)
    await at_once(database, 5)
    assert database.idle == 3
    monkeypatch.setattr(pool, "PERIOD_S", 0.0)
    await at_once(database, 2)
    for _ in range(4):
        await at_once(database, 1)
    assert (database.idle, database.in_use) == (1, 0)
    # The pool gives as many as before.
    await at_once(database, 6)
    assert (database.size, database.in_use) == (6, 0)
    await database.close()
