"""Run work on all engines concurrently, so that a slow or hung engine delays only itself."""

from collections.abc import Awaitable, Callable
from functools import partial

from carrel.controllers.active_tasks import ActiveTasks
from carrel.core.ids import EngineId
from carrel.engines.port import EngineUnavailable
from carrel.nodes.engines.connections import Engines

_PATIENCE_S = 1.0


class EachEngine:
    """work: load, decide and apply for one engine; never runs concurrently for the same one."""

    def __init__(self, engines: Engines, work: Callable[[EngineId], Awaitable[None]]) -> None:
        self._engines = engines
        self._work = work
        self._active = ActiveTasks[EngineId]()
        self._again: set[EngineId] = set()
        self._failures: list[Exception] = []

    async def step(self) -> None:
        """Start the work on idle engines, schedule a repeat on busy ones, and wait briefly for the started tasks.

        Raises: errors of tasks that ended since the last step; an unresponsive engine is reported last.
        """
        known = await self._engines.ids()
        for engine in self._active:
            if engine not in known:
                await self._active.stop(engine)
        self._again.update(self._active)
        begun = [engine for engine in known if engine not in self._active]
        for engine in begun:
            self._active.begin(engine, partial(self._until_done, engine))
        await self._active.wait(begun, timeout_s=_PATIENCE_S)
        failures, self._failures = self._failures, []
        for failure in sorted(failures, key=lambda error: isinstance(error, EngineUnavailable)):
            raise failure

    async def close(self) -> None:
        """Cancel running tasks."""
        await self._active.close()

    async def _until_done(self, engine: EngineId) -> None:
        try:
            while True:
                self._again.discard(engine)
                await self._work(engine)
                if engine not in self._again:
                    return
        except Exception as error:
            self._failures.append(error)
