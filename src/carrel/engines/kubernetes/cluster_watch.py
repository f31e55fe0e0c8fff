"""One watch of what controllers read all the time, shared by all watchers: our pods, the nodes, pods of others, and
runtime classes.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import structlog

from carrel.engines.hints import Hints
from carrel.engines.kubernetes import pod_answers, runtime_classes
from carrel.engines.kubernetes.cluster_nodes import NODES, responding, trimmed
from carrel.engines.kubernetes.kubernetes_api import ApiError, KubernetesApi
from carrel.engines.kubernetes.pod_answers import ListedPod, Reservation
from carrel.engines.kubernetes.pods import LABEL_INSTALLATION, PodNames
from carrel.engines.kubernetes.runtime_classes import RUNTIME_CLASSES, RuntimeClass
from carrel.engines.kubernetes.watched_list import WatchedList
from carrel.engines.port import EngineError

log = structlog.get_logger()

_ENDS_KEPT = 1000
_UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed"


class ClusterWatch:
    """Lists of the cluster, which are current while somebody watches, and ids of containers whose pods change.

    beside: lists that are watched too.
    """

    def __init__(self, api: KubernetesApi, names: PodNames, beside: Sequence[WatchedList[Any]] = ()) -> None:
        others = {
            "fieldSelector": _UNFINISHED,
            "labelSelector": f"{LABEL_INSTALLATION}!={names.installation}",
        }
        self.pods: WatchedList[ListedPod] = WatchedList(
            api, names.pods, {"labelSelector": names.selector}, pod_answers.listed, self._pod_changed
        )
        self.machines: WatchedList[Mapping[str, Any]] = WatchedList(
            api, NODES, {}, trimmed, self._machine_changed
        )
        self.foreign: WatchedList[Reservation] = WatchedList(
            api, "api/v1/pods", others, pod_answers.reservation
        )
        self.runtime_classes: WatchedList[RuntimeClass] = WatchedList(
            api, RUNTIME_CLASSES, {}, runtime_classes.kept
        )
        self._beside: list[WatchedList[Any]] = [self.machines, self.foreign, self.runtime_classes, *beside]
        self.ends: OrderedDict[str, str] = OrderedDict()
        """Why the cluster ended and deleted containers, the latest of them."""
        self._task: asyncio.Task[None] | None = None
        self._hints = Hints()

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
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.pods.run())
                for one in self._beside:
                    group.create_task(_if_allowed(one))
        except* (EngineError, ApiError):
            pass  # the end of the stream tells watchers; 410: they list again
        finally:
            self._hints.end()

    def _pod_changed(self, before: ListedPod | None, now: ListedPod | None) -> None:
        if before and now is None and before.end:
            self.ends[before.observed.id] = before.end
            if len(self.ends) > _ENDS_KEPT:
                self.ends.popitem(last=False)
        changed = now or before
        if changed and (before and before.observed) != (now and now.observed):
            self._hints.send(changed.observed.id)

    def _machine_changed(self, before: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> None:
        """Containers on a node that does not respond are not listed."""
        if (before and responding(before)) == (now and responding(now)):
            return
        for machine in filter(None, (now or before,)):
            for pod in self.pods.watched:
                if pod.node == machine["metadata"]["name"]:
                    self._hints.send(pod.observed.id)


async def _if_allowed(one: WatchedList[Any]) -> None:
    """Rights of former versions allow to list these, but not to watch them; older clusters do not have all of them."""
    try:
        await one.run()
    except ApiError as error:
        if error.status not in (403, 404):
            raise
        log.warning("kubernetes.not_watched", error=error.message)
