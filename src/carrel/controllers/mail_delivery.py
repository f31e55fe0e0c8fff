"""Deliver mail from the outbox."""

from collections.abc import Sequence

from carrel.controllers.loop import Tools
from carrel.site import outbox

_TICK_S = 600.0


class MailDelivery:
    name = "post"
    topics: Sequence[str] = (outbox.TOPIC,)

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._next_s = _TICK_S

    @property
    def tick_s(self) -> float:
        """Time until the next retry."""
        return self._next_s

    async def close(self) -> None:
        """No-op: there are no background tasks."""

    async def step(self) -> None:
        """Send every due letter, one after the other."""
        tools = self._tools
        later = await outbox.send_due(tools.transaction, tools.seal, tools.clock.now())
        self._next_s = _TICK_S if later is None else min(max(later.total_seconds(), 0.1), _TICK_S)
