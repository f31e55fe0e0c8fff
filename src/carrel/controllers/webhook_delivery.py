"""Deliver messages to webhooks."""

from collections.abc import Sequence

from carrel.controllers.loop import Tools
from carrel.notifications import deliveries

_TICK_S = 600.0


class WebhookDelivery:
    name = "webhooks"
    topics: Sequence[str] = (deliveries.TOPIC,)

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
        """Attempt every due delivery."""
        tools = self._tools
        later = await deliveries.send_due(tools.transaction, tools.seal, tools.clock.now)
        self._next_s = _TICK_S if later is None else min(max(later.total_seconds(), 0.1), _TICK_S)
