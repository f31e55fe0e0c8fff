"""Session traffic seen by this process: collected in memory and flushed periodically.

Traffic costs a set entry, and all sessions together one statement per half minute, however many requests there are. A
crash loses at most half a minute, while timeouts are at least one minute.
"""

import asyncio
from collections.abc import Callable
from functools import partial

import structlog
from sqlalchemy import text

from carrel.core.clock import Clock
from carrel.core.errors import Unavailable
from carrel.core.ids import SessionId
from carrel.db.database import Database

log = structlog.get_logger()

EVERY_S = 30.0

# In a fixed order, to avoid deadlocks between processes.
_TOUCH = text("""
    INSERT INTO session_activity (session_id, active_at)
    SELECT id, :now FROM sessions WHERE id = ANY(:sessions) AND ended_at IS NULL ORDER BY id
    ON CONFLICT (session_id) DO UPDATE SET active_at = greatest(session_activity.active_at, excluded.active_at)
""")


class Activity:
    """Sessions with traffic since the last flush."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._seen: set[SessionId] = set()

    def recorder_of(self, session: SessionId) -> Callable[[], None]:
        """Call for all traffic of the session."""
        return partial(self._seen.add, session)

    async def run(self) -> None:
        """Flush periodically until cancelled."""
        while True:
            await asyncio.sleep(EVERY_S)
            try:
                await self.write()
            except Unavailable:
                # They stay in the set; a slightly later activity time is harmless.
                log.warning("activity.database_unavailable", sessions=len(self._seen))

    async def write(self) -> None:
        """Flush the collected traffic. Raises: Unavailable."""
        seen = sorted(self._seen)
        if not seen:
            return
        async with self._database.transaction() as tx:
            await tx.execute(_TOUCH, {"sessions": seen, "now": self._clock.now()})
        # Traffic during the flush counts as now.
        self._seen.difference_update(seen)
