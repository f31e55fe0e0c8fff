"""Hints that containers have changed, for any number of watchers."""

import asyncio
from collections.abc import AsyncIterator


class Hints:
    """What `Engine.watch` returns, from one source of changes."""

    def __init__(self) -> None:
        self._watchers: set[asyncio.Queue[str | None]] = set()

    def watch(self) -> AsyncIterator[str]:
        """The ids that are sent from this call on; ends at `end`."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._watchers.add(queue)
        return self._received(queue)

    def send(self, container: str) -> None:
        """The container has changed."""
        for watcher in self._watchers:
            watcher.put_nowait(container)

    def end(self) -> None:
        """End all watchers: changes may be missed from now on."""
        for watcher in self._watchers:
            watcher.put_nowait(None)
        self._watchers.clear()

    async def _received(self, queue: "asyncio.Queue[str | None]") -> AsyncIterator[str]:
        try:
            while (container := await queue.get()) is not None:
                yield container
        finally:
            self._watchers.discard(queue)
