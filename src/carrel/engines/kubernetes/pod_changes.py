"""One watch of all pods of the installation, shared by all watchers."""

import asyncio
from collections.abc import AsyncIterator

from carrel.engines.kubernetes.kubernetes_api import ApiError, KubernetesApi
from carrel.engines.kubernetes.pods import LABEL_ID, PodNames
from carrel.engines.port import EngineError

_PAUSE_S = 1.0
"""Before the next watch, after one without an event."""


class PodChanges:
    """Ids of containers whose pods change."""

    def __init__(self, api: KubernetesApi, names: PodNames) -> None:
        self._api = api
        self._names = names
        self._task: asyncio.Task[None] | None = None
        self._watchers: set[asyncio.Queue[str | None]] = set()

    def watch(self) -> AsyncIterator[str]:
        """Ids of changes from this call on; ends when the server becomes unavailable."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._watchers.add(queue)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return self._hints(queue)

    async def close(self) -> None:
        """Close the watch, which ends all watchers."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _hints(self, queue: "asyncio.Queue[str | None]") -> AsyncIterator[str]:
        try:
            while (container := await queue.get()) is not None:
                yield container
        finally:
            self._watchers.discard(queue)

    async def _run(self) -> None:
        chosen = {"labelSelector": self._names.selector}
        try:
            first = await self._api.call("GET", self._names.pods, params={**chosen, "limit": "1"})
            version = first["metadata"]["resourceVersion"]
            # The server ends a watch after some minutes; it goes on where it was.
            while True:
                latest = version
                async for event in self._api.changes(self._names.pods, chosen, version):
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        self._tell(event["object"]["metadata"]["labels"][LABEL_ID])
                if version == latest:
                    await asyncio.sleep(_PAUSE_S)
        except (EngineError, ApiError):
            pass  # the end of the stream tells watchers; 410: they list again
        finally:
            for watcher in self._watchers:
                watcher.put_nowait(None)
            self._watchers.clear()

    def _tell(self, container: str) -> None:
        for watcher in self._watchers:
            watcher.put_nowait(container)
