"""Thin out usage as it gets older, and compute the statistics of days."""

from collections.abc import Sequence

from carrel.controllers.loop import Tools
from carrel.usage import packing

_HOURS_AT_ONCE = 24
"""After an outage or upgrade; the rest in the next step."""


class UsagePacking:
    name = "usage_packing"
    topics: Sequence[str] = ()
    tick_s = 60.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def close(self) -> None:
        """No-op: there are no background tasks."""

    async def step(self) -> None:
        """Pack the hours that have ended."""
        now = self._tools.clock.now()
        for _ in range(_HOURS_AT_ONCE):
            async with self._tools.transaction() as tx:
                if not await packing.advance(tx, now):
                    return
