"""The start of a pod: from its creation behind a gate to its first process."""

import secrets
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from carrel.engines.kubernetes import pod_answers, pod_end, pod_events
from carrel.engines.kubernetes.cluster_nodes import ClusterNodes
from carrel.engines.kubernetes.kubernetes_api import ApiError, KubernetesApi
from carrel.engines.kubernetes.pod_layers import PodLayer
from carrel.engines.kubernetes.pod_watch import OnePod
from carrel.engines.kubernetes.pods import SESSION, PodNames, Sandbox, manifest, node_of, secrets_of
from carrel.engines.kubernetes.private_networks import join
from carrel.engines.port import ContainerSpec, MachineAwaited, Progress, ProgressSink

_LOOK_S = 1.0
"""Events of the pod are read this often while it does not change."""
_FAILED = "Failed"
"""The reason of events that the error of the start repeats."""
_UNGATED = {"op": "remove", "path": "/spec/schedulingGates"}


async def create(
    api: KubernetesApi,
    names: PodNames,
    nodes: ClusterNodes,
    spec: ContainerSpec,
    sandbox: Sandbox,
    layer: PodLayer | None,
) -> Any:
    """The pod of this container behind its gate, or the existing one on its node; its secrets and its private network.

    Raises: EngineError if there is one on a node that does not respond, ApiError, EngineUnavailable.
    """
    secret_name = f"{names.pod(spec.id)}-{secrets.token_hex(4)}"
    while True:
        try:
            body = manifest(spec, names, sandbox, secret_name, layer)
            pod = await api.create(names.namespace, "pods", body)
            break
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise
        if (existing := await _existing(api, names, spec.id)) is None:
            continue
        if "deletionTimestamp" in existing["metadata"]:
            await pod_end.absent(api, names, nodes, existing)
        elif spec.node and node_of(existing) != spec.node:
            # Its former node is lost, as far as the caller knows.
            await pod_end.delete(api, names, nodes, existing, seconds=1)
        else:
            pod = existing
            break
    if not is_gated(pod):
        return pod
    await join(api, names, spec, pod)
    for secret in secrets_of(spec, names, pod):
        try:
            await api.create(names.namespace, "secrets", secret)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise
    return pod


async def permitted(api: KubernetesApi, names: PodNames, spec: ContainerSpec) -> Any:
    """The existing pod of this container on its node, if it has been permitted to start; None otherwise.

    Raises: ApiError, EngineUnavailable.
    """
    pod = await _existing(api, names, spec.id)
    if pod is None or "deletionTimestamp" in pod["metadata"] or is_gated(pod):
        return None
    return pod if spec.node in ("", node_of(pod)) else None


async def _existing(api: KubernetesApi, names: PodNames, container: str) -> Any:
    """The pod of this container; None if it is gone again."""
    try:
        return await api.call("GET", names.path(container))
    except ApiError as error:
        if error.status != 404:
            raise
        return None


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
    api: KubernetesApi,
    names: PodNames,
    nodes: ClusterNodes,
    spec: ContainerSpec,
    pod: Mapping[str, Any],
    progress: ProgressSink,
) -> Any:
    """The pod, once its main process has begun.

    Raises: ImageUnusable, MountUnusable, EngineError, ContainerGone, ApiError, EngineUnavailable; MachineAwaited if the
    cluster has no node for it.
    """
    noted = _StartEvents(spec.image, progress)
    async with aclosing(OnePod(api, names, pod)) as changes:
        while not has_begun(pod):
            if error := pod_answers.start_error(spec, pod):
                raise error
            if node := pod["spec"].get("nodeName"):
                await nodes.require(node)
            elif spec.elastic and pod_answers.not_placed(pod):
                raise MachineAwaited(
                    f"The cluster: {pod_answers.not_placed(pod, await _events(api, names, pod))}."
                )
            changed = await changes.next(_LOOK_S)
            if changed is not None:
                pod = changed
            events = await _events(api, names, pod) if changed is None or pod_answers.pulled(pod) else ()
            noted.note(events)
            if lost := pod_answers.mount_error(events):
                raise lost
    progress(Progress("start"))
    return pod


def has_begun(pod: Mapping[str, Any]) -> bool:
    """True if its main process has been started, and may have ended since."""
    state = pod_answers.container_state(pod, SESSION)
    return "running" in state or (state.get("terminated") or {}).get("reason", "StartError") != "StartError"


async def ended(api: KubernetesApi, names: PodNames, pod: Mapping[str, Any]) -> None:
    """Wait until its main process has ended. Raises: ContainerGone, ApiError, EngineUnavailable."""
    async with aclosing(OnePod(api, names, pod)) as changes:
        while "terminated" not in pod_answers.container_state(pod, SESSION):
            pod = await changes.next(None)


class _StartEvents:
    """Progress from the events of a pod, each once."""

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
            elif reason != _FAILED and (words := pod_events.sentence(event)) and words not in self._reported:
                self._reported.add(words)
                self._progress(Progress("event", text=words))


async def _events(api: KubernetesApi, names: PodNames, pod: Mapping[str, Any]) -> Any:
    chosen = {"fieldSelector": f"involvedObject.uid={pod['metadata']['uid']}"}
    answer = await api.call("GET", names.events, params=chosen)
    return answer["items"]
