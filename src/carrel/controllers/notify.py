"""Pass on notices of sessions: to the mail outbox and to webhooks."""

from collections.abc import Sequence

from carrel.controllers.loop import Tools
from carrel.notifications import fan_out


class Notify:
    name = "notify"
    topics: Sequence[str] = (fan_out.TOPIC,)
    tick_s = 60.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def close(self) -> None:
        """No-op: there are no background tasks."""

    async def step(self) -> None:
        """Pass on all notices, in batches."""
        tools, more = self._tools, True
        while more:
            async with tools.transaction() as tx:
                more = await fan_out.step(tx, tools.seal, tools.public_url, tools.clock.now())
