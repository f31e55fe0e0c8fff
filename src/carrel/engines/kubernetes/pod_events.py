"""What the cluster does with pods, in sentences: their events, their ends, and why it admits none.

Source: the reasons in the code of the scheduler, the node lifecycle controller, the kubelet, the cluster autoscaler and
Karpenter; https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from carrel.engines.kubernetes.kubernetes_api import KubernetesApi
from carrel.engines.kubernetes.pods import PodNames

_ADDING = "The cluster's autoscaler is adding a machine for it."
_PREEMPTED = "The cluster ended it to make room for a pod of higher priority: {}."
_EVICTED = "It was evicted from its node: {}."
_EVICTIONS = (
    (re.compile(r"low on resource: memory"), "It was evicted because its node was low on memory: {}."),
    (
        re.compile(r"low on resource: ephemeral-storage"),
        "It was evicted because its node was low on disk space: {}.",
    ),
    (
        re.compile(r"ephemeral.*exceed|exceed.*ephemeral|EmptyDir.*exceeds"),
        "It was evicted because it wrote too much: {}.",
    ),
)
_OF_STARTS = {
    "FailedScheduling": "The cluster does not place it: {}.",
    "TriggeredScaleUp": _ADDING,
    "Nominated": _ADDING,
    "NotTriggerScaleUp": "The cluster's autoscaler adds no machine for it: {}.",
    "FailedMount": "Its node cannot mount a volume: {}.",
    "FailedAttachVolume": "A volume cannot be attached to its node: {}.",
    "FailedCreatePodSandBox": "Its node cannot set up its network: {}.",
    "NetworkNotReady": "The network of its node is not ready: {}.",
    "Failed": "Its node cannot start it: {}.",
    "BackOff": "Its node waits before the next attempt: {}.",
}
_OF_ENDS = {
    "NodeNotReady": "Its node is not ready in the cluster.",
    "Evicted": _EVICTED,
    "TaintManagerEviction": _EVICTED,
    "Preempted": _PREEMPTED,
    "Preempting": _PREEMPTED,
    "PreemptionByScheduler": _PREEMPTED,
    "EvictionByEvictionAPI": _EVICTED,
    "DeletionByTaintManager": _EVICTED,
    "TerminationByKubelet": _EVICTED,
}
_SENTENCES = {**_OF_STARTS, **_OF_ENDS}
_OTHER = "The cluster reports {}: {}."
_OTHER_END = "The cluster ended it ({}): {}."
_USUAL = ("Scheduled", "Pulling", "Pulled", "Created", "Started", "Killing")
_LONGEST = 300


def sentence(event: Mapping[str, Any]) -> str | None:
    """What an event of a pod means; None for what is usual."""
    reason, message = event.get("reason") or "", event.get("message")
    if reason in _SENTENCES:
        return _known(reason, message)
    return _OTHER.format(reason, _clause(message)) if event.get("type") == "Warning" else None


def end(pod: Mapping[str, Any]) -> str:
    """Why the cluster ended the pod; empty if it ended by itself, or was deleted."""
    status = pod["status"]
    if status.get("phase") == "Failed" and status.get("reason"):
        return _end(status["reason"], status.get("message"))
    for condition in status.get("conditions") or ():
        if condition["type"] == "DisruptionTarget" and condition["status"] == "True":
            return _end(condition.get("reason") or "", condition.get("message"))
    return ""


async def reports(
    api: KubernetesApi, names: PodNames, containers: Collection[str]
) -> Mapping[str, Sequence[str]]:
    """What happened to these containers since they have started, as long as the cluster keeps events: by default for an
    hour.

    Raises: ApiError, EngineUnavailable.
    """
    chosen = ",".join(["involvedObject.kind=Pod", *(f"reason!={one}" for one in (*_USUAL, *_OF_STARTS))])
    events, _ = await api.items(names.events, {"fieldSelector": chosen})
    of_pod = {names.pod(one): one for one in containers}
    known: defaultdict[str, list[str]] = defaultdict(list)
    for event in sorted(events, key=_moment):
        container, words = of_pod.get(event["involvedObject"]["name"]), sentence(event)
        if container and words and words not in known[container]:
            known[container].append(words)
    return {container: one for container, one in known.items() if one}


def _end(reason: str, message: str | None) -> str:
    return _known(reason, message) if reason in _SENTENCES else _OTHER_END.format(reason, _clause(message))


def _known(reason: str, message: str | None) -> str:
    template = _SENTENCES[reason]
    if template == _EVICTED:
        template = next((words for known, words in _EVICTIONS if known.search(message or "")), _EVICTED)
    return template.format(_clause(message))


def _moment(event: Mapping[str, Any]) -> str:
    """When it happened last, as text that sorts."""
    moment = event.get("lastTimestamp") or event.get("eventTime") or event["metadata"]["creationTimestamp"]
    return str(moment)


def _clause(message: str | None) -> str:
    """A message as the end of one sentence."""
    text = re.sub(r"\s+", " ", message or "no reason given").strip().rstrip(".")
    text = re.sub(r"\. (?=[A-Z])", "; ", text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
