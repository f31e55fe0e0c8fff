"""The changes of a single pod."""

import asyncio
from collections.abc import Mapping
from typing import Any

from carrel.engines.kubernetes.kubernetes_api import GONE, ApiError, KubernetesApi
from carrel.engines.kubernetes.pods import PodNames
from carrel.engines.kubernetes.watched_list import PAUSE_S
from carrel.engines.port import ContainerGone


class OnePod:
    """The changes of one pod."""

    def __init__(self, api: KubernetesApi, names: PodNames, pod: Mapping[str, Any]) -> None:
        metadata = pod["metadata"]
        self._api = api
        self._path = names.pods
        self._name = metadata["name"]
        self._chosen = {"fieldSelector": f"metadata.name={self._name}"}
        self._uid = metadata["uid"]
        self._version = metadata["resourceVersion"]
        self._pending: asyncio.Task[Any] | None = None
        self._events = api.changes(self._path, self._chosen, self._version)

    async def next(self, within_s: float | None) -> Any:
        """The changed pod; None if it does not change in time. Raises: ContainerGone if it was deleted."""
        if self._pending is None:
            self._pending = asyncio.ensure_future(self._advance())
        await asyncio.wait({self._pending}, timeout=within_s)
        if not self._pending.done():
            return None
        pod, self._pending = self._pending.result(), None
        return pod

    async def aclose(self) -> None:
        if self._pending is not None:
            self._pending.cancel()
            await asyncio.wait({self._pending})
        await self._events.aclose()  # type: ignore[attr-defined]

    async def _advance(self) -> Any:
        while True:
            try:
                async for event in self._events:
                    pod = event["object"]
                    self._version = pod["metadata"]["resourceVersion"]
                    if event["type"] == "BOOKMARK":
                        continue
                    if event["type"] == "DELETED" or pod["metadata"]["uid"] != self._uid:
                        raise self._removed()
                    return pod
            except ApiError as error:
                if error.status != GONE:
                    raise
                return await self._again()
            # The server ended the watch.
            await asyncio.sleep(PAUSE_S)
            self._events = self._api.changes(self._path, self._chosen, self._version)

    async def _again(self) -> Any:
        """The pod as it is now, after changes that the server no longer knows one by one."""
        try:
            pod = await self._api.call("GET", f"{self._path}/{self._name}")
        except ApiError as error:
            if error.status != 404:
                raise
            raise self._removed() from error
        if pod["metadata"]["uid"] != self._uid:
            raise self._removed()
        self._version = pod["metadata"]["resourceVersion"]
        self._events = self._api.changes(self._path, self._chosen, self._version)
        return pod

    def _removed(self) -> ContainerGone:
        return ContainerGone(f"The container {self._name} was removed.")
