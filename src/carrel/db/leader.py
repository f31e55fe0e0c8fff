"""Leader election: an advisory lock on a separate connection, and a fencing epoch.

The lock is released with the connection, so a dead leader never blocks the next one. PostgreSQL ends the connection of
a leader that is silent for SILENT_S, because it hangs or its network does; the next leader ends transactions that the
former one left open. A stalled leader is fenced: each of its transactions checks that its epoch is current.
"""

import asyncio
import contextlib
from typing import TypeAlias

import psycopg
from sqlalchemy import BigInteger, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from carrel.db import connecting
from carrel.db.tables import Table

_Connection: TypeAlias = psycopg.AsyncConnection[tuple[object, ...]]
LOCK_KEY = 0x_CA44E1
SILENT_S = 3.0
_BEAT_S = 1.0
FORMER_S = 0.5
"""How long the transactions of the former leader may take to end by themselves."""
_END_BLOCKERS = "SELECT pg_terminate_backend(pid) FROM unnest(pg_blocking_pids(%s)) AS pid"

# A leader repeats the same queries, which have one good plan: replanning costs more than execution.
_REQUIRE = text("""
    SELECT epoch, set_config('plan_cache_mode', 'force_generic_plan', true) FROM leadership WHERE id = 1 FOR SHARE
""")


class Leadership(Table):
    """The single row with the epoch counter."""

    __tablename__ = "leadership"

    id: Mapped[int] = mapped_column(primary_key=True)
    epoch: Mapped[int] = mapped_column(BigInteger)


class LeadershipLost(Exception):
    """Another process is the leader; this transaction must not commit."""


class Leader:
    """The held lock. epoch: greater than that of every previous leader."""

    def __init__(self, connection: _Connection, epoch: int) -> None:
        self._connection = connection
        self.epoch = epoch

    async def require(self, tx: AsyncSession) -> None:
        """Block the next leader until this transaction ends. Raises: LeadershipLost."""
        current = await tx.execute(_REQUIRE)
        if current.scalar_one() != self.epoch:
            raise LeadershipLost

    async def until_lost(self) -> None:
        """Keep the lock until its connection is lost, or the database does not respond to it."""
        while True:
            # Not cancelled by a timeout, because the driver waits for the database before it raises that.
            beat = asyncio.create_task(self._beat())
            try:
                await asyncio.wait([beat], timeout=SILENT_S)
            finally:
                beat.cancel()
            if not beat.done() or not beat.result():
                return
            await asyncio.sleep(_BEAT_S)

    async def _beat(self) -> bool:
        """False if the connection is lost."""
        try:
            await self._connection.execute("SELECT 1")
        except psycopg.Error:
            return False
        return True

    async def resign(self) -> None:
        """Release leadership. Twice: no-op."""
        with contextlib.suppress(psycopg.Error):
            await self._connection.close()


async def lead(url: str) -> Leader:
    """Wait for leadership. Raises: psycopg.Error if the database is unavailable."""
    connection = await _connect(url)
    try:
        # Set before the lock is granted, which may be when this process is no longer there.
        await connection.execute("SELECT set_config('idle_session_timeout', %s, false)", (f"{SILENT_S:g}s",))
        await connection.execute("SELECT pg_advisory_lock(%s)", (LOCK_KEY,))
        return Leader(connection, await _next_epoch(url, connection))
    except BaseException:
        await connection.close()
        raise


async def _next_epoch(url: str, connection: _Connection) -> int:
    """Begin a new epoch once the transactions of the former one have ended; they are ended if they take long."""
    beginning = asyncio.create_task(_begin_epoch(connection))
    try:
        while not (await asyncio.wait([beginning], timeout=FORMER_S))[0]:
            async with await _connect(url) as other:
                await other.execute(_END_BLOCKERS, (connection.info.backend_pid,))
    except BaseException:
        beginning.cancel()
        await asyncio.wait([beginning])
        raise
    return beginning.result()


async def _begin_epoch(connection: _Connection) -> int:
    cursor = await connection.execute(
        "INSERT INTO leadership (id, epoch) VALUES (1, 1) "
        "ON CONFLICT (id) DO UPDATE SET epoch = leadership.epoch + 1 RETURNING epoch"
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(str(row[0]))


async def _connect(url: str) -> _Connection:
    return await psycopg.AsyncConnection.connect(url, autocommit=True, **connecting.OPTIONS)


_EXISTS = text("""
    SELECT EXISTS (
        SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND (classid::bigint << 32) | objid::bigint = :key)
""")


async def exists(tx: AsyncSession) -> bool:
    """Whether any process is the leader now."""
    return bool((await tx.execute(_EXISTS, {"key": LOCK_KEY})).scalar_one())
