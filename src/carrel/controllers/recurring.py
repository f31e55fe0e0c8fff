"""Create the sessions of schedules whose time has come."""

import structlog

from carrel.controllers.loop import Tools
from carrel.sessions.schedules import runs
from carrel.tables import schedules

log = structlog.get_logger()


class Recurring:
    name = "recurring"
    topics = (schedules.TOPIC,)
    tick_s = 5.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def close(self) -> None:
        """No-op: there are no background tasks."""

    async def step(self) -> None:
        """Run each schedule that is due, in a transaction of its own."""
        clock = self._tools.clock
        async with self._tools.transaction() as tx:
            due = await runs.due(tx, clock.now())
        for schedule in due:
            async with self._tools.transaction() as tx:
                await runs.run_due(tx, clock, schedule)
            log.info("recurring.ran", schedule=schedule)
