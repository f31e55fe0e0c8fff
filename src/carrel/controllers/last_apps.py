"""Start the app that a person used last in a session of the same image, as soon as their next one runs.

Whoever opens it then waits for less, or not at all. Nothing depends on it: opening an app starts it in any case.
"""

from datetime import timedelta
from functools import partial

from carrel.apps import last_used
from carrel.apps.app_processes import AppProcesses
from carrel.apps.container_engines import ContainerEngines
from carrel.apps.last_used import LastUsed
from carrel.apps.opening import AppStarter
from carrel.apps.start_leases import StartLeases
from carrel.controllers.active_tasks import ActiveTasks
from carrel.controllers.loop import Tools, beside
from carrel.core.ids import ContainerId
from carrel.sessions import announcements
from carrel.sessions import service as sessions
from carrel.tables.session_states import SessionState

_RECENT = timedelta(seconds=30)
"""Sessions that run for longer have their app, or had it stopped."""


class LastApps:
    """At most one start for each start of a container."""

    name = "last_apps"
    topics = (announcements.topic(SessionState.RUNNING),)
    tick_s = 60.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        engines = ContainerEngines(tools.database, tools.engines)
        leases = StartLeases(tools.database, tools.clock)
        self._starter = AppStarter(engines, AppProcesses(engines), leases, tools.clock)
        self._active = ActiveTasks[tuple[ContainerId, str]]()
        self._begun: set[tuple[ContainerId, str]] = set()

    async def step(self) -> None:
        """Begin the starts that are due; they go on in the background."""
        async with self._tools.transaction() as tx:
            due = await last_used.due(tx, since=self._tools.clock.now() - _RECENT)
        starts = {(one.main.id, one.start): one for one in due}
        for key in starts.keys() - self._begun:
            work = partial(self._start, starts[key])
            self._active.begin(key, partial(beside, "start of an app", work, session=starts[key].session.id))
        self._begun = set(starts)

    async def drain(self) -> None:
        """Wait until no start is running."""
        await self._active.drain()

    async def close(self) -> None:
        """Stop waiting for apps. What has begun to start goes on."""
        await self._active.close()

    async def _start(self, last: LastUsed) -> None:
        tools = self._tools
        async with tools.transaction() as tx:
            app = await last_used.begin(tx, last, tools.clock.now())
        if app is None:
            return
        try:
            await self._starter.ensure(last.server(tools.key), app.template, app.options)
        finally:
            async with tools.transaction() as tx:
                await sessions.apps_changed(tx, last.session)
