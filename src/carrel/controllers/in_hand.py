"""What a controller has in hand: work that runs beside its steps, at most one task for each key."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import Generic, TypeVar

K = TypeVar("K")
Work = Callable[[], Awaitable[None]]
"""A function, since a coroutine would be left unawaited by who is cancelled before the first step."""


class InHand(Generic[K]):
    """Tasks by their keys; each is forgotten when it has ended. The work deals with its own errors."""

    def __init__(self) -> None:
        self._tasks: dict[K, tuple[asyncio.Task[None], str]] = {}

    def __contains__(self, key: K) -> bool:
        return key in self._tasks

    def __iter__(self) -> Iterator[K]:
        return iter(list(self._tasks))

    def about(self, key: K) -> str | None:
        """What its work was begun as; None when nothing is in hand for the key."""
        found = self._tasks.get(key)
        return found[1] if found else None

    def begin(self, key: K, work: Work, about: str = "") -> None:
        """Do it, unless something is in hand for the key."""
        if key not in self._tasks:
            task = asyncio.create_task(_done(work))
            self._tasks[key] = task, about
            task.add_done_callback(partial(self._forget, key))

    async def stop(self, key: K) -> None:
        """Cancel what is in hand for the key; nothing of it goes on when this returns. Twice: no-op."""
        if found := self._tasks.get(key):
            task, _ = found
            task.cancel()
            await asyncio.wait([task])
            self._forget(key, task)

    async def wait(self, keys: Iterable[K], *, timeout_s: float) -> None:
        """Wait until nothing is in hand for these keys, but no longer than that."""
        if tasks := [self._tasks[key][0] for key in keys if key in self._tasks]:
            await asyncio.wait(tasks, timeout=timeout_s)

    async def drain(self) -> None:
        """Wait until nothing is in hand."""
        while self._tasks:
            await asyncio.wait([task for task, _ in self._tasks.values()])

    async def close(self) -> None:
        """Cancel all of it, and wait until none of it goes on."""
        for task, _ in self._tasks.values():
            task.cancel()
        await self.drain()

    def _forget(self, key: K, task: "asyncio.Task[None]") -> None:
        found = self._tasks.get(key)
        if found and found[0] is task:
            del self._tasks[key]


async def _done(work: Work) -> None:
    await work()
