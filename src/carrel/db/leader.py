"""Leader election: an advisory lock on a separate connection, and a fencing epoch.

The lock is released with the connection, so a dead leader never blocks the next one. A stalled leader is fenced: each
of its transactions checks that its epoch is current.
"""

import asyncio
import contextlib

import psycopg
from sqlalchemy import BigInteger, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from carrel.db.tables import Table

LOCK_KEY = 0x_CA44E1


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

    def __init__(self, connection: psycopg.AsyncConnection[tuple[object, ...]], epoch: int) -> None:
        self._connection = connection
        self.epoch = epoch

    async def require(self, tx: AsyncSession) -> None:
        """Block the next leader until this transaction ends. Raises: LeadershipLost."""
        current = await tx.execute(_REQUIRE)
        if current.scalar_one() != self.epoch:
            raise LeadershipLost

    async def until_lost(self) -> None:
        """Wait until the connection that holds the lock is lost."""
        while True:
            try:
                await self._connection.execute("SELECT 1")
            except psycopg.Error:
                return
            await asyncio.sleep(2)

    async def resign(self) -> None:
        """Release leadership. Twice: no-op."""
        with contextlib.suppress(psycopg.Error):
            await self._connection.close()


async def lead(url: str) -> Leader:
    """Wait for leadership. Raises: psycopg.Error if the database is unavailable."""
    connection = await psycopg.AsyncConnection.connect(url, autocommit=True, connect_timeout=5)
    try:
        await connection.execute("SELECT pg_advisory_lock(%s)", (LOCK_KEY,))
        cursor = await connection.execute(
            "INSERT INTO leadership (id, epoch) VALUES (1, 1) "
            "ON CONFLICT (id) DO UPDATE SET epoch = leadership.epoch + 1 RETURNING epoch"
        )
        row = await cursor.fetchone()
        assert row is not None
        return Leader(connection, int(str(row[0])))
    except BaseException:
        await connection.close()
        raise
