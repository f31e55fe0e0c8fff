"""Background tasks of a controller, at most one per key, and tasks that one of them has side by side."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from functools import partial
from typing import Generic, TypeVar

K = TypeVar("K")
T = TypeVar("T")
Work = Callable[[], Awaitable[None]]
"""A function, because a coroutine would stay unawaited if the task is cancelled before its first step."""


class ActiveTasks(Generic[K]):
    """Tasks by key; removed when they end. The work handles its own errors."""

    def __init__(self) -> None:
        self._tasks: dict[K, tuple[asyncio.Task[None], str]] = {}

    def __contains__(self, key: K) -> bool:
        return key in self._tasks

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def __iter__(self) -> Iterator[K]:
        return iter(list(self._tasks))

    def about(self, key: K) -> str | None:
        """The kind of the running task; None if there is none for the key."""
        entry = self._tasks.get(key)
        return entry[1] if entry else None

    def begin(self, key: K, work: Work, about: str = "") -> None:
        """Start the work, unless a task is running for the key."""
        if key not in self._tasks:
            task = asyncio.create_task(_done(work))
            self._tasks[key] = task, about
            task.add_done_callback(partial(self._forget, key))

    async def stop(self, key: K) -> None:
        """Cancel the task of the key and wait until it has stopped. Twice: no-op."""
        if entry := self._tasks.get(key):
            task, _ = entry
            task.cancel()
            await asyncio.wait([task])
            self._forget(key, task)

    async def wait(self, keys: Iterable[K], *, timeout_s: float) -> None:
        """Wait until no task of these keys is running, up to the timeout."""
        if tasks := [self._tasks[key][0] for key in keys if key in self._tasks]:
            await asyncio.wait(tasks, timeout=timeout_s)

    async def drain(self) -> None:
        """Wait until no task is running."""
        while self._tasks:
            await asyncio.wait([task for task, _ in self._tasks.values()])

    async def close(self) -> None:
        """Cancel all tasks and wait until they have stopped."""
        for task, _ in self._tasks.values():
            task.cancel()
        await self.drain()

    def _forget(self, key: K, task: "asyncio.Task[None]") -> None:
        entry = self._tasks.get(key)
        if entry and entry[0] is task:
            del self._tasks[key]


async def _done(work: Work) -> None:
    await work()


async def side_by_side(works: Iterable[Coroutine[None, None, T]]) -> list[T]:
    """The results of all, run concurrently. The first failure cancels the others; its error is raised after all have
    stopped.
    """
    tasks = [asyncio.create_task(work) for work in works]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
