"""Work on every engine, side by side: one that is slow, down or hangs holds up nothing but itself."""

import asyncio
from collections.abc import Awaitable, Callable

from carrel.core.ids import EngineId
from carrel.engines.port import EngineUnavailable
from carrel.nodes.engines.connections import Engines

_PATIENCE_S = 1.0


class EachEngine:
    """work: load, decide and apply for one engine; never called twice at once for the same one."""

    def __init__(self, engines: Engines, work: Callable[[EngineId], Awaitable[None]]) -> None:
        self._engines = engines
        self._work = work
        self._tasks: dict[EngineId, asyncio.Task[None]] = {}
        self._again: set[EngineId] = set()

    async def step(self) -> None:
        """Begin the work wherever it is not in hand, where it is have it done again, and wait for what was begun, but
        not for long.

        Raises: what work that has ended since the last step raised; that an engine does not answer comes last.
        """
        known = await self._engines.ids()
        for removed in self._tasks.keys() - known:
            await _cancel(self._tasks.pop(removed))
        failures = self._ended()
        self._again |= self._tasks.keys()
        begun = {
            engine: asyncio.create_task(self._until_done(engine)) for engine in known - self._tasks.keys()
        }
        self._tasks |= begun
        if begun:
            await asyncio.wait(begun.values(), timeout=_PATIENCE_S)
        failures += self._ended()
        for failure in sorted(failures, key=lambda error: isinstance(error, EngineUnavailable)):
            raise failure

    async def close(self) -> None:
        """Stop whatever is in hand."""
        for task in self._tasks.values():
            await _cancel(task)
        self._tasks.clear()

    async def _until_done(self, engine: EngineId) -> None:
        while True:
            self._again.discard(engine)
            await self._work(engine)
            if engine not in self._again:
                return

    def _ended(self) -> list[BaseException]:
        """Forget the tasks that have ended; what they raised."""
        ended = {engine: task for engine, task in self._tasks.items() if task.done()}
        for engine in ended:
            del self._tasks[engine]
        return [error for task in ended.values() if not task.cancelled() and (error := task.exception())]


async def _cancel(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait([task])
