"""What traffic a process sees of sessions: noted in memory, written down together now and then.

A byte costs an entry in a set, and all sessions together one statement in half a minute, however many requests there
are. What a process had not written when it died is lost: half a minute, of time-outs of at least one.
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

# In one order, so that two who write the same rows do not wait for each other.
_TOUCH = text("""
    INSERT INTO session_activity (session_id, active_at)
    SELECT id, :now FROM sessions WHERE id = ANY(:sessions) AND ended_at IS NULL ORDER BY id
    ON CONFLICT (session_id) DO UPDATE SET active_at = greatest(session_activity.active_at, excluded.active_at)
""")


class Activity:
    """Sessions that something was seen of since the last write."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._seen: set[SessionId] = set()

    def beat_of(self, session: SessionId) -> Callable[[], None]:
        """To be called for every piece of traffic of the session."""
        return partial(self._seen.add, session)

    async def run(self) -> None:
        """Write down what was seen, until cancelled."""
        while True:
            await asyncio.sleep(EVERY_S)
            try:
                await self.write()
            except Unavailable:
                # They stay noted; that they seem active a little later harms nobody.
                log.warning("activity.database_unavailable", sessions=len(self._seen))

    async def write(self) -> None:
        """Write down what was seen since the last time. Raises: Unavailable."""
        seen = sorted(self._seen)
        if not seen:
            return
        async with self._database.transaction() as tx:
            await tx.execute(_TOUCH, {"sessions": seen, "now": self._clock.now()})
        # What was seen meanwhile was seen just now.
        self._seen.difference_update(seen)
