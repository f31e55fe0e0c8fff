"""Record allocation and usage over time, once a minute."""

from collections.abc import Sequence

from carrel.controllers.loop import Tools
from carrel.usage import history


class UsageHistory:
    name = "usage_history"
    topics: Sequence[str] = ()
    tick_s = float(history.STEP_S)

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def close(self) -> None:
        """No-op: there are no background tasks."""

    async def step(self) -> None:
        """Store one point of each scope."""
        async with self._tools.transaction() as tx:
            await history.record(tx, self._tools.clock.now())
