"""Machines that a cluster has removed stay on record for past sessions; what runs all the time does not read them."""

from databases import scalar, sql
from node_kit import join, machine
from people import People
from session_kit import enqueue, fill_history
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import SystemClock
from carrel.core.ids import LOCAL_ENGINE
from carrel.db.database import Database
from carrel.nodes import service as nodes
from carrel.queue import loading

_REMOVED = 50_000
_FEW = 100


async def with_removed_machines(database: Database) -> None:
    """One node, and the records of many that are gone."""
    await join(database, machine("there"))
    await sql(
        database,
        "INSERT INTO nodes (id, engine_id, name, architecture, engine_version, slots, capabilities, state, down_since,"
        " forgotten_at, seen_at) SELECT 'gone-' || n, :engine, 'gone-' || n, 'x86_64', '', '{}', '[]', 'DOWN', now(),"
        " now(), now() FROM generate_series(1, :count) AS n",
        engine=LOCAL_ENGINE,
        count=_REMOVED,
    )
    await sql(database, "ANALYZE")


async def rows_read(tx: AsyncSession) -> int:
    """Rows of nodes, sessions and containers that this connection has read, as far as it still keeps its counts to
    itself, as it does during a transaction.
    """
    counted = "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables"
    tables = "('nodes', 'sessions', 'containers')"
    return int(await tx.scalar(text(f"{counted} WHERE relname IN {tables}")) or 0)


async def test_the_scheduler_and_the_observer_read_no_machines_that_are_gone(
    database: Database, people: People
) -> None:
    await with_removed_machines(database)
    await fill_history(database, people, 5_000)
    clock = SystemClock()
    await enqueue(database, people.user)
    async with database.transaction() as tx:
        before = await rows_read(tx)
        waiting = await loading.waiting(tx, clock.now())
        snapshot = await loading.snapshot(tx, clock.now(), waiting)
        assert [node.name for node in snapshot.nodes] == ["there"]
        assert [node.name for node in (await nodes.of_engine(tx, LOCAL_ENGINE)).values()] == ["there"]
        assert [address.name for address in (await nodes.addresses(tx)).values()] == ["there"]
        assert await nodes.gone(tx, clock.now()) == {}
        await nodes.record(tx, [machine("there")], clock.now())
        assert await rows_read(tx) - before < _FEW


async def test_a_machine_that_is_gone_is_read_while_containers_are_on_it_and_keeps_its_name(
    database: Database, people: People
) -> None:
    await with_removed_machines(database)
    session = await enqueue(database, people.user)
    await sql(database, "UPDATE sessions SET state = 'RUNNING'")
    await sql(database, "UPDATE containers SET state = 'RUNNING', node_id = 'gone-7'")
    async with database.transaction() as tx:
        assert {node.name for node in (await nodes.of_engine(tx, LOCAL_ENGINE)).values()} == {
            "there",
            "gone-7",
        }
        assert {address.name for address in (await nodes.addresses(tx)).values()} == {"there", "gone-7"}
        assert [*await nodes.gone(tx, SystemClock().now())] == ["gone-7"]
    await sql(database, "UPDATE sessions SET state = 'TERMINATED', ended_at = now()")
    await sql(database, "UPDATE containers SET state = 'GONE'")
    async with database.transaction() as tx:
        assert await nodes.gone(tx, SystemClock().now()) == {}
    name = "SELECT n.name FROM containers c JOIN nodes n ON n.id = c.node_id WHERE c.session_id = :session"
    assert await scalar(database, name, session=session) == "gone-7"
