"""Create the sessions of schedules whose time has come."""

from functools import partial

import structlog

from carrel.controllers.loop import Tools, beside
from carrel.core.ids import ScheduleId
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
        async with self._tools.transaction() as tx:
            due = await runs.due(tx, self._tools.clock.now())
        for schedule in due:
            # A schedule that fails must not stop those after it.
            await beside("recurring", partial(self._run, schedule), schedule=schedule)

    async def _run(self, schedule: ScheduleId) -> None:
        async with self._tools.transaction() as tx:
            await runs.run_due(tx, self._tools.clock, schedule)
        log.info("recurring.ran", schedule=schedule)
