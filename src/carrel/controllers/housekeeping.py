"""Delete expired data."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from carrel.apps import service as apps
from carrel.audit import retention
from carrel.controllers.loop import Tools
from carrel.events import service as events
from carrel.folders import outcomes
from carrel.folders import tasks as folder_tasks
from carrel.folders.files import interrupted, leftovers
from carrel.notifications import deliveries
from carrel.sessions.schedules import plain_variables, runs
from carrel.sessions.shares import service as session_shares
from carrel.signin.logins import service as logins
from carrel.signin.logins import sign_up
from carrel.site import service as site
from carrel.usage import history, packing
from carrel.usage import service as usage

EVENTS_KEPT = timedelta(days=7)
SWEPT_EVERY = timedelta(hours=6)


class Housekeeping:
    name = "housekeeping"
    topics: Sequence[str] = ()
    tick_s = 600.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._swept_at: datetime | None = None
        self._sealed = False
        """An earlier version may have stored schedules until this process began to lead."""

    async def close(self) -> None:
        """No-op: there are no background tasks."""

    async def step(self) -> None:
        """Delete old events, samples, statistics, deliveries, runs of schedules, ended sign-ins and tasks, unverified
        accounts, used tickets, expired shares of sessions, folders in the trash and audit entries, and abandoned
        uploads. Write missing audit entries of file changes. Once, encrypt what an earlier version stored in plain
        text.
        """
        now = self._tools.clock.now()
        async with self._tools.transaction() as tx:
            await events.prune(tx, before=now - EVENTS_KEPT)
            await usage.prune(tx, now)
            await history.prune(tx, now)
            await packing.prune(tx, now)
            await logins.prune(tx, now)
            await sign_up.prune(tx, now)
            await apps.prune(tx, now)
            await session_shares.prune(tx, now)
            await deliveries.prune(tx, now)
            await runs.prune(tx, now)
            await folder_tasks.prune(tx, now)
            if not self._sealed:
                await plain_variables.seal_stored(tx, self._tools.seal)
        self._sealed = True
        await self._empty_trash()
        await self._cut_audit(now)
        await self._cut_statistics(now)
        await interrupted.write_down_all(self._tools.transaction, self._tools.storages, self._tools.clock)
        # Last, because storage fails most often; it must complete before the step counts as done.
        await leftovers.prune(self._tools.transaction, self._tools.storages, now)
        if self._swept_at is None or now - self._swept_at >= SWEPT_EVERY:
            await leftovers.sweep(self._tools.transaction, self._tools.storages, now)
            self._swept_at = now

    async def _empty_trash(self) -> None:
        """Begin to delete expired folders, in batches."""
        more = True
        while more:
            async with self._tools.transaction() as tx:
                days = (await site.settings(tx)).trash_days
                more = days > 0 and await outcomes.expire(tx, self._tools.clock, days=days)

    async def _cut_audit(self, now: datetime) -> None:
        """Delete entries past their retention, in batches."""
        more = True
        while more:
            async with self._tools.transaction() as tx:
                days = (await site.settings(tx)).audit_retention_days
                before = retention.oldest_kept(now, days)
                more = days > 0 and await retention.cut(tx, before=before, now=now)

    async def _cut_statistics(self, now: datetime) -> None:
        """Delete the statistics of days past their retention."""
        async with self._tools.transaction() as tx:
            kept = (await site.settings(tx)).statistics_retention_days
            await packing.prune_days(tx, now, kept=kept)
