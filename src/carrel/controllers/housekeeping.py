"""Delete what nobody needs any more."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from carrel.apps import service as apps
from carrel.audit import retention
from carrel.controllers.loop import Tools
from carrel.events import service as events
from carrel.logins import service as logins
from carrel.site import service as site
from carrel.usage import service as usage

EVENTS_KEPT = timedelta(days=7)


class Housekeeping:
    name = "housekeeping"
    topics: Sequence[str] = ()
    tick_s = 600.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def close(self) -> None:
        """Nothing runs beside the step."""

    async def step(self) -> None:
        """Old events, old samples, ended sign-ins, spent tickets, the oldest of the audit trail."""
        now = self._tools.clock.now()
        async with self._tools.transaction() as tx:
            await events.prune(tx, before=now - EVENTS_KEPT)
            await usage.prune(tx, now)
            await logins.prune(tx, now)
            await apps.prune(tx, now)
        await self._cut_audit(now)

    async def _cut_audit(self, now: datetime) -> None:
        """Let go of what is older than the installation keeps, a batch at a time."""
        more = True
        while more:
            async with self._tools.transaction() as tx:
                days = (await site.settings(tx)).audit_retention_days
                before = retention.oldest_kept(now, days)
                more = days > 0 and await retention.cut(tx, before=before, now=now)
