"""Each cause for which PostgreSQL refuses has a problem code of its own, and what can be repeated is repeated."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Unavailable
from carrel.db.database import Database
from carrel.db.outage import Outage


@pytest.fixture
async def rows(database: Database) -> AsyncIterator[Database]:
    """A table `meeting` of two rows, 1 and 2."""
    async with database.transaction() as tx:
        await tx.execute(text("CREATE TABLE meeting (id int PRIMARY KEY, visits int NOT NULL)"))
        await tx.execute(text("INSERT INTO meeting VALUES (1, 0), (2, 0)"))
    yield database
    async with database.transaction() as tx:
        await tx.execute(text("DROP TABLE meeting"))


async def visit(tx: AsyncSession, row: int) -> None:
    await tx.execute(text("UPDATE meeting SET visits = visits + 1 WHERE id = :row"), {"row": row})


async def visits(database: Database) -> list[str]:
    return await database.texts("SELECT visits::text FROM meeting ORDER BY id", {})


async def code_of(database: Database, *statements: str) -> str:
    """The code of the problem that these statements end in."""

    async def work(tx: AsyncSession) -> None:
        for statement in statements:
            await tx.execute(text(statement))

    with pytest.raises(Unavailable) as raised:
        await database.run(work)
    return raised.value.code


async def failed_attempts(
    database: Database, work: Callable[[AsyncSession], Awaitable[None]]
) -> tuple[int, str]:
    """How often work that ends in a problem is tried, and the problem's code."""
    attempts = 0

    async def counted(tx: AsyncSession) -> None:
        nonlocal attempts
        attempts += 1
        await work(tx)

    with pytest.raises(Unavailable) as raised:
        await database.run(counted)
    return attempts, raised.value.code


async def test_a_deadlock_is_called_one(rows: Database):
    both_hold_one = asyncio.Barrier(2)

    async def cross(first: int, second: int) -> None:
        async with rows.transaction() as tx:
            await visit(tx, first)
            await both_hold_one.wait()
            await visit(tx, second)

    ends = await asyncio.gather(cross(1, 2), cross(2, 1), return_exceptions=True)
    assert sorted(getattr(end, "code", "done") for end in ends) == ["database.deadlock", "done"]
    assert await visits(rows) == ["1", "1"]


async def test_a_transaction_that_lost_a_deadlock_is_repeated(rows: Database):
    both_hold_one, attempts = asyncio.Barrier(2), 0

    def crossing(first: int, second: int):  # type: ignore[no-untyped-def]
        met = False

        async def cross(tx: AsyncSession) -> None:
            nonlocal attempts, met
            attempts += 1
            await visit(tx, first)
            if not met:
                met = True
                await both_hold_one.wait()
            await visit(tx, second)

        return cross

    await asyncio.gather(rows.run(crossing(1, 2)), rows.run(crossing(2, 1)))
    assert attempts == 3
    assert await visits(rows) == ["2", "2"]


async def test_a_serialization_failure_is_called_one_and_repeated_a_few_times(rows: Database):
    async def behind(tx: AsyncSession) -> None:
        await tx.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        await tx.execute(text("SELECT * FROM meeting"))
        async with rows.transaction() as other:
            await visit(other, 1)
        await visit(tx, 1)

    assert await failed_attempts(rows, behind) == (4, "database.serialization_failure")
    assert await visits(rows) == ["4", "0"]


async def test_nothing_else_is_repeated(rows: Database):
    async def slow(tx: AsyncSession) -> None:
        await tx.execute(text("SET LOCAL statement_timeout = 1"))
        await tx.execute(text("SELECT pg_sleep(60)"))

    assert await failed_attempts(rows, slow) == (1, "database.statement_timeout")


async def test_time_outs_are_told_apart(rows: Database):
    sleep = "SELECT pg_sleep(60)"
    assert await code_of(rows, "SET LOCAL statement_timeout = 1", sleep) == "database.statement_timeout"
    too_long = "SELECT set_config('transaction_timeout', '1', true), pg_sleep(60)"
    assert await code_of(rows, too_long) == "database.transaction_timeout"
    async with rows.transaction() as tx:
        await visit(tx, 1)
        update = "UPDATE meeting SET visits = 5 WHERE id = 1"
        assert await code_of(rows, "SET LOCAL lock_timeout = 1", update) == "database.lock_timeout"


async def test_a_pool_that_ran_dry_is_no_outage(rows: Database):
    small = Database(rows.url, pool_size=1, pool_timeout_s=0.1)
    async with small.transaction() as one, small.transaction() as other:
        for tx in (one, other):
            await visit(tx, 1 if tx is one else 2)
        assert await code_of(small, "SELECT 1") == "database.busy"
    assert await visits(small) == ["1", "1"]
    await small.close()


async def test_a_server_without_a_place_is_no_outage(rows: Database):
    async with rows.transaction() as tx:
        await tx.execute(text("CREATE ROLE crowded LOGIN CONNECTION LIMIT 0 PASSWORD 'crowded'"))
    try:
        parts = {**conninfo_to_dict(rows.url), "user": "crowded", "password": "crowded"}
        with pytest.raises(psycopg.OperationalError) as raised:
            await psycopg.AsyncConnection.connect(make_conninfo(**parts))
        explained = Outage().explain(raised.value)
        assert explained is not None
        assert explained.code == "database.too_many_connections"
    finally:
        async with rows.transaction() as tx:
            await tx.execute(text("DROP ROLE crowded"))


async def test_a_standby_is_called_that(rows: Database):
    update = "UPDATE meeting SET visits = 5"
    assert await code_of(rows, "SET TRANSACTION READ ONLY", update) == "database.read_only"


async def test_a_connection_that_was_ended_is_an_outage(rows: Database):
    assert await code_of(rows, "SELECT pg_terminate_backend(pg_backend_pid())") == "database.unavailable"


async def test_a_statement_at_fault_is_no_outage(rows: Database):
    with pytest.raises(IntegrityError):
        await rows.run(lambda tx: tx.execute(text("INSERT INTO meeting VALUES (1, 0)")))
    with pytest.raises(psycopg.errors.UndefinedTable):
        await rows.texts("SELECT * FROM nowhere", {})
