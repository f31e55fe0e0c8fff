"""One watch of all pods of the installation, shared by all watchers."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from typing import Any

from carrel.engines.hints import Hints
from carrel.engines.kubernetes import pod_events
from carrel.engines.kubernetes.kubernetes_api import ApiError, KubernetesApi
from carrel.engines.kubernetes.pod_watch import PAUSE_S
from carrel.engines.kubernetes.pods import LABEL_ID, PodNames
from carrel.engines.port import EngineError

_ENDS_KEPT = 1000


class PodChanges:
    """Ids of containers whose pods change."""

    def __init__(self, api: KubernetesApi, names: PodNames) -> None:
        self._api = api
        self._names = names
        self._task: asyncio.Task[None] | None = None
        self._hints = Hints()
        self.ends: OrderedDict[str, str] = OrderedDict()
        """Why the cluster ended and deleted containers, the latest of them."""

    def watch(self) -> AsyncIterator[str]:
        """Ids of changes from this call on; ends when the server becomes unavailable."""
        watcher = self._hints.watch()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return watcher

    async def close(self) -> None:
        """Close the watch, which ends all watchers."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

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
                        self._note(event)
                if version == latest:
                    await asyncio.sleep(PAUSE_S)
        except (EngineError, ApiError):
            pass  # the end of the stream tells watchers; 410: they list again
        finally:
            self._hints.end()

    def _note(self, event: Mapping[str, Any]) -> None:
        pod = event["object"]
        container = pod["metadata"]["labels"][LABEL_ID]
        if event["type"] == "DELETED" and (why := pod_events.end(pod)):
            self.ends[container] = why
            if len(self.ends) > _ENDS_KEPT:
                self.ends.popitem(last=False)
        self._hints.send(container)
