"""Cancel sessions that were to start after others that did not end as needed."""

from collections.abc import Sequence

from carrel.controllers.loop import Tools
from carrel.sessions import announcements, dependencies
from carrel.tables.session_states import LIFECYCLE, SessionState


class Dependencies:
    """The scheduler does not start a session before its dependencies are met; this ends those that never will be."""

    name = "dependencies"
    # A session may be created after another one has failed in the meantime.
    topics: Sequence[str] = [announcements.topic(s) for s in (SessionState.PENDING, *sorted(LIFECYCLE.final))]
    tick_s = 15.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def close(self) -> None:
        """No-op: there are no background tasks."""

    async def step(self) -> None:
        """Cancel them, then those that were to start after them, and so on."""
        cancelled = True
        while cancelled:
            async with self._tools.transaction() as tx:
                cancelled = bool(await dependencies.cancel_failed(tx, self._tools.clock.now()))
