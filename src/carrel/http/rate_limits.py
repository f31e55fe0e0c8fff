"""Rate limiting: requests per client and quarter of an hour.

Each API process counts locally and adds its count to the database once a second. Together the processes exceed the
limit by at most one second's requests. No request waits for the database.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog
from sqlalchemy import BigInteger, Index, String, delete
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.errors import TooMany, Unavailable
from carrel.db.database import Database
from carrel.db.tables import Table

log = structlog.get_logger()

WINDOW_S = 900
ANONYMOUS_LIMIT = 3_000
_SHARE_EVERY_S = 1.0


class RequestCount(Table):
    """window: quarters of an hour since 1970. The table is unlogged: a database crash only resets the counts."""

    __tablename__ = "request_counts"
    __table_args__ = (Index("ix_request_counts_window", "window"), {"prefixes": ["UNLOGGED"]})

    key: Mapped[str] = mapped_column(String(100), primary_key=True)
    window: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    count: Mapped[int] = mapped_column(BigInteger)


class TooManyRequests(TooMany):
    """Too many requests in a time window, or concurrently."""


@dataclass(frozen=True, slots=True)
class RateLimitStanding:
    """The remaining requests. reset_s: seconds until the window resets."""

    limit: int
    remaining: int
    reset_s: int


class RateLimits:
    """Request counts of the current window, by client. now: seconds since 1970."""

    def __init__(self, database: Database, now: Callable[[], float] = time.time) -> None:
        self._database = database
        self._now = now
        self._window = 0
        self._counted: dict[str, int] = {}
        self._unshared: dict[str, int] = {}

    def count(self, key: str, most: int) -> RateLimitStanding:
        """Count one request against the limit. Raises: TooManyRequests; a rejected request is not counted."""
        window, into = divmod(self._now(), WINDOW_S)
        if window != self._window:
            self._window, self._counted, self._unshared = int(window), {}, {}
        made = self._counted.get(key, 0)
        reset_s = WINDOW_S - int(into)
        if made >= most:
            raise TooManyRequests(
                "rate.limited",
                f"More than {most} requests in 15 minutes.",
                hint=f"Wait {reset_s} seconds.",
                details={"retry_after_s": reset_s, "limit": most},
            )
        self._counted[key] = made + 1
        self._unshared[key] = self._unshared.get(key, 0) + 1
        return RateLimitStanding(most, most - made - 1, reset_s)

    async def run(self) -> None:
        """Exchange counts with the other processes until cancelled."""
        while True:
            await asyncio.sleep(_SHARE_EVERY_S)
            if self._unshared:
                try:
                    await self.share()
                except Unavailable:
                    log.warning("limits.database_unavailable")

    async def share(self) -> None:
        """Add the local counts to the database and read the totals."""
        window, unshared, self._unshared = self._window, self._unshared, {}
        rows = [{"key": key, "window": window, "count": count} for key, count in sorted(unshared.items())]
        added = insert(RequestCount).values(rows)
        added = added.on_conflict_do_update(
            index_elements=[RequestCount.key, RequestCount.window],
            set_={"count": RequestCount.count + added.excluded.count},
        )
        async with self._database.transaction() as tx:
            totals = (await tx.execute(added.returning(RequestCount.key, RequestCount.count))).all()
            await tx.execute(delete(RequestCount).where(RequestCount.window < window))
        if window == self._window:
            for key, total in totals:
                self._counted[key] = total + self._unshared.get(key, 0)
