"""Seal audit entries into the hash chain."""

from collections.abc import Sequence

from carrel.audit import sealing
from carrel.audit.service import TOPIC
from carrel.controllers.loop import Tools

_TICK_S = 5.0
_FIRST_PAUSE_S, _LAST_PAUSE_S = 0.02, 1.0


class AuditSealing:
    name = "seal"
    topics: Sequence[str] = (TOPIC,)
    calm_s = 0.05

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._pause_s: float | None = None

    @property
    def tick_s(self) -> float:
        """The end of a transaction that holds entries back is not notified, so poll."""
        return self._pause_s or _TICK_S

    async def close(self) -> None:
        """No-op: there are no background tasks."""

    async def step(self) -> None:
        """Seal all entries that can be sealed, in batches."""
        while True:
            async with self._tools.database.transaction() as tx:
                unsealed = await sealing.load(tx)
            if unsealed.entries:
                seals = sealing.decide(unsealed)
                async with self._tools.transaction() as tx:
                    await sealing.apply(tx, unsealed, seals)
            if not unsealed.full:
                break
        if unsealed.held:
            self._pause_s = min((self._pause_s or _FIRST_PAUSE_S / 2) * 2, _LAST_PAUSE_S)
        else:
            self._pause_s = None
