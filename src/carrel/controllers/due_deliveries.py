"""Deliver queued messages that are due: mail from the outbox, and messages to webhooks."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from carrel.controllers.loop import Tools
from carrel.notifications import deliveries
from carrel.site import outbox

_TICK_S = 600.0


class DueDeliveries:
    """send: attempts all that are due and returns the time until the next retry; None: wait for a new message."""

    def __init__(self, name: str, topic: str, send: Callable[[], Awaitable[timedelta | None]]) -> None:
        self.name = name
        self.topics = (topic,)
        self.tick_s = _TICK_S
        self._send = send

    async def close(self) -> None:
        """No-op: there are no background tasks."""

    async def step(self) -> None:
        """Attempt every due delivery. The next tick is the time of the next retry."""
        later = await self._send()
        self.tick_s = _TICK_S if later is None else min(max(later.total_seconds(), 0.1), _TICK_S)


def mail(tools: Tools) -> DueDeliveries:
    """One letter after the other."""
    return DueDeliveries(
        "mail", outbox.TOPIC, lambda: outbox.send_due(tools.transaction, tools.seal, tools.clock.now())
    )


def webhooks(tools: Tools) -> DueDeliveries:
    return DueDeliveries(
        "webhooks",
        deliveries.TOPIC,
        lambda: deliveries.send_due(tools.transaction, tools.seal, tools.clock.now),
    )
