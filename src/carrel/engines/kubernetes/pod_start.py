"""The start of a pod: from its creation behind a gate to its first process."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from carrel.engines.kubernetes import pod_answers
from carrel.engines.kubernetes.kubernetes_api import ApiError, KubernetesApi
from carrel.engines.kubernetes.pods import SESSION, PodNames, files_secret, manifest
from carrel.engines.port import ContainerGone, ContainerSpec, Progress, ProgressSink

_LOOK_S = 1.0
"""Events of the pod are read this often while it does not change."""
_UNGATED = {"op": "remove", "path": "/spec/schedulingGates"}


async def create(api: KubernetesApi, names: PodNames, spec: ContainerSpec) -> Any:
    """The pod of this container behind its gate, or the existing one; and its files.

    Raises: ApiError, EngineUnavailable.
    """
    while True:
        try:
            pod = await api.call("POST", names.pods, body=manifest(spec, names))
        except ApiError as error:
            if error.status == 404:
                await _create_namespace(api, names)
                continue
            if error.reason != "AlreadyExists":
                raise
            with contextlib.suppress(ApiError):
                pod = await api.call("GET", names.path(spec.id))
                if "deletionTimestamp" not in pod["metadata"]:
                    break
                await absent(api, names, pod)
            continue
        break
    if is_gated(pod) and (secret := files_secret(spec, names, pod)):
        try:
            await api.call("POST", names.secrets, body=secret)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise
    return pod


def is_gated(pod: Mapping[str, Any]) -> bool:
    """True if it has not been permitted to start."""
    return bool(pod["spec"].get("schedulingGates"))


async def open_gate(api: KubernetesApi, names: PodNames, container: str) -> None:
    """Twice: no-op. Raises: ApiError, EngineUnavailable."""
    try:
        await api.patch(names.path(container), _UNGATED)
    except ApiError as error:
        # Somebody else has removed it.
        if error.status != 422:
            raise


async def started(
    api: KubernetesApi, names: PodNames, spec: ContainerSpec, pod: Mapping[str, Any], progress: ProgressSink
) -> Any:
    """The pod, once its main process has begun.

    Raises: ImageUnusable, MountUnusable, EngineError, ContainerGone, ApiError, EngineUnavailable.
    """
    pulls = _Pulls(spec.image, progress)
    changes = _OnePod(api, names, pod)
    try:
        while not has_begun(pod):
            if error := pod_answers.start_error(spec, pod):
                raise error
            changed = await changes.next(_LOOK_S)
            if changed is not None:
                pod = changed
            events = await _events(api, names, pod) if changed is None or pod_answers.pulled(pod) else ()
            pulls.note(events)
            if lost := pod_answers.mount_error(events):
                raise lost
    finally:
        await changes.close()
    progress(Progress("start"))
    return pod


def has_begun(pod: Mapping[str, Any]) -> bool:
    """True if its main process has been started, and may have ended since."""
    state = pod_answers.container_state(pod, SESSION)
    return "running" in state or (state.get("terminated") or {}).get("reason", "StartError") != "StartError"


async def ended(api: KubernetesApi, names: PodNames, pod: Mapping[str, Any]) -> None:
    """Wait until its main process has ended. Raises: ContainerGone, ApiError, EngineUnavailable."""
    changes = _OnePod(api, names, pod)
    try:
        while "terminated" not in pod_answers.container_state(pod, SESSION):
            pod = await changes.next(None)
    finally:
        await changes.close()


async def absent(api: KubernetesApi, names: PodNames, pod: Mapping[str, Any]) -> None:
    """Wait until this pod is gone. Raises: ApiError, EngineUnavailable."""
    try:
        there = await api.call("GET", f"{names.pods}/{pod['metadata']['name']}")
    except ApiError as error:
        if error.status != 404:
            raise
        return
    if there["metadata"]["uid"] != pod["metadata"]["uid"]:
        return
    changes = _OnePod(api, names, there)
    try:
        with contextlib.suppress(ContainerGone):
            while True:
                await changes.next(None)
    finally:
        await changes.close()


class _OnePod:
    """The changes of one pod."""

    def __init__(self, api: KubernetesApi, names: PodNames, pod: Mapping[str, Any]) -> None:
        metadata = pod["metadata"]
        self._api = api
        self._path = names.pods
        self._chosen = {"fieldSelector": f"metadata.name={metadata['name']}"}
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

    async def close(self) -> None:
        if self._pending is not None:
            self._pending.cancel()
            await asyncio.wait({self._pending})
        await self._events.aclose()  # type: ignore[attr-defined]

    async def _advance(self) -> Any:
        while True:
            async for event in self._events:
                if event["type"] == "BOOKMARK":
                    continue
                pod = event["object"]
                if event["type"] == "DELETED" or pod["metadata"]["uid"] != self._uid:
                    raise ContainerGone(f"The container {pod['metadata']['name']} was removed.")
                self._version = pod["metadata"]["resourceVersion"]
                return pod
            # The server ended the watch.
            self._events = self._api.changes(self._path, self._chosen, self._version)


class _Pulls:
    """Progress from the events of a pod."""

    def __init__(self, image: str, progress: ProgressSink) -> None:
        self._image = image
        self._progress = progress
        self._reported: set[str] = set()

    def note(self, events: Any) -> None:
        for event in events:
            reason, text = event["reason"], event.get("message") or ""
            if reason == "Pulling" and reason not in self._reported:
                self._reported.add(reason)
                self._progress(Progress("pull", 0.0, f"Pulling {self._image}"))
            elif reason == "Pulled" and text.startswith("Successfully") and reason not in self._reported:
                self._reported.add(reason)
                self._progress(Progress("pull", 1.0, text))


async def _events(api: KubernetesApi, names: PodNames, pod: Mapping[str, Any]) -> Any:
    chosen = {"fieldSelector": f"involvedObject.uid={pod['metadata']['uid']}"}
    answer = await api.call("GET", f"api/v1/namespaces/{names.namespace}/events", params=chosen)
    return answer["items"]


async def _create_namespace(api: KubernetesApi, names: PodNames) -> None:
    try:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": names.namespace}}
        await api.call("POST", "api/v1/namespaces", body=body)
    except ApiError as error:
        if error.reason != "AlreadyExists":
            raise
