"""Connections and transactions."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import orjson
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, TimeoutError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool, ConnectionPoolEntry

from carrel.core.errors import Unavailable
from carrel.db import metrics
from carrel.db.embedded import Embedded
from carrel.db.outage import Outage, is_repeatable
from carrel.db.reader import StatementReader

CHANNEL = "carrel"
_ATTEMPTS = 4
_PAUSE_S = 0.05
T = TypeVar("T")

CommitHook = Callable[[str], None]
"""Called with "before" and "after" each commit; simulations kill the control plane there."""


def driver_url(url: str) -> str:
    """The same database URL, for the one driver that we use (psycopg 3)."""
    return "postgresql+psycopg://" + url.split("://", 1)[1]


class _Pool(AsyncAdaptedQueuePool):
    """Counts the callers that wait for a connection."""

    waiting = 0

    def _do_get(self) -> ConnectionPoolEntry:
        self.waiting += 1
        try:
            return super()._do_get()
        finally:
            self.waiting -= 1


class Database:
    """A pool of connections. One for each process and event loop.

    kind, size, in_use, idle, waiting: of the pool, for its metrics.
    data_dir: the installation's; a server that keeps its data there is away when that disk is full.
    """

    kind = "transactions"

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 10,
        pool_timeout_s: float = 15,
        data_dir: Path | None = None,
        commit_hook: CommitHook | None = None,
    ) -> None:
        self.url = url
        self._size = 2 * pool_size
        self._hook = commit_hook
        embedded = data_dir is not None and url == Embedded(data_dir / "postgres").url
        self._outage = Outage(data_dir if embedded else None)
        self._engine = create_async_engine(
            driver_url(url),
            poolclass=_Pool,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_timeout=pool_timeout_s,
            pool_pre_ping=False,
            # The one used last is the one whose statements are prepared.
            pool_use_lifo=True,
            json_serializer=lambda value: orjson.dumps(value).decode(),
            json_deserializer=orjson.loads,
            # What is bound may be somebody's secret, and errors end up in logs.
            hide_parameters=True,
            # Times go out in UTC whatever the server's own zone is.
            connect_args={"connect_timeout": 5, "options": "-c timezone=UTC"},
        )
        self._sessions = async_sessionmaker(self._engine, expire_on_commit=False)
        self._reader = StatementReader(url, size=pool_size, outage=self._outage)
        metrics.POOLS.add(self)
        metrics.POOLS.add(self._reader)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """A transaction: committed when the block ends, rolled back when it raises.

        Raises: Unavailable, with a code of its own for each cause; see `Outage`.
        """
        began = time.perf_counter()
        try:
            async with self._sessions() as tx:
                yield tx
                if self._hook:
                    self._hook("before")
                await tx.commit()
                if self._hook:
                    self._hook("after")
        except (TimeoutError, DBAPIError) as error:
            cause = error.orig or error if isinstance(error, DBAPIError) else error
            if (unavailable := self._outage.explain(cause)) is None:
                raise
            raise unavailable from cause
        finally:
            metrics.TRANSACTION_SECONDS.observe(time.perf_counter() - began)

    async def run(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        """What `work` gives in one transaction, repeated when PostgreSQL ends it in favor of another one.

        work: reads and writes this transaction only, so that it can run again from its start.
        Raises: Unavailable, as `transaction`; what the work raises.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                async with self.transaction() as tx:
                    return await work(tx)
            except Unavailable as error:
                if attempt == _ATTEMPTS or error.__cause__ is None or not is_repeatable(error.__cause__):
                    raise
            # Two that met once do not meet again in step.
            await asyncio.sleep(random.uniform(0, _PAUSE_S * attempt))
        raise AssertionError("unreachable")

    async def texts(self, statement: str, bound: Mapping[str, object]) -> list[str]:
        """The first column of every row of one statement that only reads; the quick way.

        statement: ours, with %(name)s where `bound` goes. Raises: Unavailable.
        """
        return await self._reader.texts(statement, bound)

    async def search(self, statement: str, bound: Mapping[str, object]) -> list[str]:
        """Like `texts`, for a statement whose best plan depends on what is bound: planned each time."""
        return await self._reader.search(statement, bound)

    @property
    def _connections(self) -> _Pool:
        pool = self._engine.sync_engine.pool
        assert isinstance(pool, _Pool)
        return pool

    @property
    def size(self) -> int:
        """How many transactions there can be at once."""
        return self._size

    @property
    def in_use(self) -> int:
        return self._connections.checkedout()

    @property
    def idle(self) -> int:
        return self._connections.checkedin()

    @property
    def waiting(self) -> int:
        return self._connections.waiting

    async def ping(self) -> str:
        """The server's version. Raises: Unavailable."""
        async with self.transaction() as tx:
            return str((await tx.execute(text("SHOW server_version"))).scalar_one())

    async def close(self) -> None:
        await self._reader.close()
        await self._engine.dispose()


async def notify(tx: AsyncSession, topic: str) -> None:
    """Tell every listener of the topic, when and only when this transaction commits."""
    await tx.execute(text("SELECT pg_notify(:channel, :topic)"), {"channel": CHANNEL, "topic": topic})
