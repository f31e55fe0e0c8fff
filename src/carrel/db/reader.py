"""Read-only statements with one round trip each and no transaction.

A transaction through SQLAlchemy costs three round trips and several times the CPU time; the most frequent queries of
the page use this path instead.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TypeAlias

import psycopg
from psycopg.rows import scalar_row

from carrel.db import connecting, metrics
from carrel.db.outage import Outage

_Connection: TypeAlias = psycopg.AsyncConnection[str]
_Ask: TypeAlias = Callable[[_Connection, str, Mapping[str, object]], Awaitable[list[str]]]

# These queries have one good plan: replanning costs more than execution.
_OPTIONS = "-c timezone=UTC -c plan_cache_mode=force_generic_plan"


class StatementReader:
    """A small pool of connections, opened on demand. size: maximum.

    kind, in_use, idle, waiting: pool metrics.
    """

    kind = "reads"

    def __init__(self, url: str, *, size: int, outage: Outage = Outage()) -> None:  # noqa: B008 - it is frozen
        self._url = url
        self._outage = outage
        self.size = size
        self.in_use = 0
        self.waiting = 0
        self._room = asyncio.Semaphore(size)
        self._idle: list[_Connection] = []

    async def texts(self, statement: str, bound: Mapping[str, object]) -> list[str]:
        """The first column of every row. statement: trusted SQL, with %(name)s placeholders for `bound`.

        Raises: Unavailable.
        """
        return await self._timed(_prepared, statement, bound)

    async def search(self, statement: str, bound: Mapping[str, object]) -> list[str]:
        """As `texts`, planned for the bound values. Raises: Unavailable."""
        return await self._timed(_planned, statement, bound)

    @property
    def idle(self) -> int:
        return len(self._idle)

    async def _timed(self, ask: _Ask, statement: str, bound: Mapping[str, object]) -> list[str]:
        began = time.perf_counter()
        try:
            async with self._place():
                return await self._tried(ask, statement, bound)
        finally:
            metrics.QUERY_SECONDS.observe(time.perf_counter() - began)

    async def _tried(self, ask: _Ask, statement: str, bound: Mapping[str, object]) -> list[str]:
        try:
            # An idle connection may be dead; a fresh one is conclusive.
            while self._idle:
                connection = self._idle.pop()
                try:
                    return await self._ask(ask, connection, statement, bound)
                except psycopg.OperationalError:
                    if not connection.closed:
                        raise
            return await self._ask(ask, await self._connect(), statement, bound)
        except psycopg.Error as error:
            if (unavailable := self._outage.explain(error)) is None:
                raise
            raise unavailable from error

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        """A connection for the duration of the block."""
        self.waiting += 1
        try:
            await self._room.acquire()
        finally:
            self.waiting -= 1
        self.in_use += 1
        try:
            yield
        finally:
            self.in_use -= 1
            self._room.release()

    async def close(self) -> None:
        """Close all connections. Twice: no-op."""
        while self._idle:
            await self._idle.pop().close()

    async def _ask(
        self, ask: _Ask, connection: _Connection, statement: str, bound: Mapping[str, object]
    ) -> list[str]:
        try:
            return await ask(connection, statement, bound)
        finally:
            if connection.closed or connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                await connection.close()
            else:
                self._idle.append(connection)

    async def _connect(self) -> _Connection:
        return await psycopg.AsyncConnection.connect(
            self._url, autocommit=True, options=_OPTIONS, row_factory=scalar_row, **connecting.OPTIONS
        )


async def _prepared(connection: _Connection, statement: str, bound: Mapping[str, object]) -> list[str]:
    return await (await connection.execute(statement, bound)).fetchall()


async def _planned(connection: _Connection, statement: str, bound: Mapping[str, object]) -> list[str]:
    # Without parameters there is no generic plan: the driver quotes them into the statement.
    async with psycopg.AsyncClientCursor(connection, row_factory=scalar_row) as cursor:
        return await (await cursor.execute(statement, bound)).fetchall()
