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

from carrel.core.errors import Unavailable
from carrel.db import connecting, metrics
from carrel.db.embedded import Embedded
from carrel.db.outage import Outage, is_repeatable
from carrel.db.pool import Pool
from carrel.db.reader import StatementReader

CHANNEL = "carrel"
_ATTEMPTS = 4
_PAUSE_S = 0.05
T = TypeVar("T")

CommitHook = Callable[[str], None]
"""Called with "before" and "after" each commit; simulations kill the control plane there."""


class Database:
    """A connection pool, one per process and event loop.

    kind, size, in_use, idle, waiting: pool metrics.
    data_dir: of the installation; if the server stores its data there, a full disk explains an outage.
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
            connecting.driver_url(url),
            poolclass=Pool,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_timeout=pool_timeout_s,
            pool_pre_ping=False,
            # LIFO: the connection used last has prepared statements.
            pool_use_lifo=True,
            json_serializer=lambda value: orjson.dumps(value).decode(),
            json_deserializer=orjson.loads,
            # Bound values may be secrets, and errors end up in logs.
            hide_parameters=True,
            # Times are returned in UTC, whatever the server's time zone.
            connect_args={**connecting.OPTIONS, "options": "-c timezone=UTC"},
        )
        self._sessions = async_sessionmaker(self._engine, expire_on_commit=False)
        self._reader = StatementReader(url, size=pool_size, outage=self._outage)
        metrics.POOLS.add(self)
        metrics.POOLS.add(self._reader)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """A transaction: commits at the end of the block, rolls back on an exception.

        Raises: Unavailable, with a separate code for each cause; see `Outage`.
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
        """The result of `work` in one transaction, retried if PostgreSQL aborts it in favor of another one.

        work: reads and writes only through this transaction, so that it can be repeated.
        Raises: Unavailable, as `transaction`; exceptions of the work.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                async with self.transaction() as tx:
                    return await work(tx)
            except Unavailable as error:
                if attempt == _ATTEMPTS or error.__cause__ is None or not is_repeatable(error.__cause__):
                    raise
            # Jitter, so that conflicting transactions do not retry in step.
            await asyncio.sleep(random.uniform(0, _PAUSE_S * attempt))
        raise AssertionError("unreachable")

    async def texts(self, statement: str, bound: Mapping[str, object]) -> list[str]:
        """The first column of every row of a read-only statement, without the overhead of a transaction.

        statement: trusted SQL, with %(name)s placeholders for `bound`. Raises: Unavailable.
        """
        return await self._reader.texts(statement, bound)

    async def search(self, statement: str, bound: Mapping[str, object]) -> list[str]:
        """As `texts`, for statements whose best plan depends on the bound values: planned on every call."""
        return await self._reader.search(statement, bound)

    @property
    def _connections(self) -> Pool:
        pool = self._engine.sync_engine.pool
        assert isinstance(pool, Pool)
        return pool

    @property
    def size(self) -> int:
        """The maximum number of concurrent transactions."""
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
    """Notify listeners of the topic when this transaction commits."""
    await tx.execute(text("SELECT pg_notify(:channel, :topic)"), {"channel": CHANNEL, "topic": topic})
