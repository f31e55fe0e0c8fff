"""Keep the counts of arrays ready for lists."""

from carrel.controllers.loop import Tools
from carrel.sessions import announcements, arrays
from carrel.tables.session_states import SessionState


class ArrayCounts:
    name = "array counts"
    topics = tuple(announcements.topic(state) for state in SessionState)
    tick_s = 600.0
    calm_s = 2.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def close(self) -> None:
        """No-op: there are no background tasks."""

    async def step(self) -> None:
        """Add up the changes since the last step."""
        async with self._tools.transaction() as tx:
            await arrays.add_up_counts(tx)
