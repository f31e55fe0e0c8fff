"""Taints of nodes, and the tolerations that pods have against them.

Sources: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/, and of notices that a machine is
taken away: https://kubernetes.io/docs/reference/labels-annotations-taints/,
https://github.com/aws/aws-node-termination-handler, https://karpenter.sh/docs/concepts/disruption/,
https://cloud.google.com/kubernetes-engine/docs/how-to/gpu-maintenance and the cluster autoscaler's FAQ.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_TOLERATION = re.compile(r"([\w./-]+)(?:=([\w.-]*))?(?::(NoSchedule|NoExecute|PreferNoSchedule))?")
_CLOSING = ("NoSchedule", "NoExecute")
_STATES = {
    "node.kubernetes.io/unschedulable": "cordoned in the cluster",
    "node.kubernetes.io/not-ready": "not ready in the cluster",
    "node.kubernetes.io/unreachable": "not ready in the cluster",
}
_NOTICES = frozenset(
    {
        "ToBeDeletedByClusterAutoscaler",
        "aws-node-termination-handler/asg-lifecycle-termination",
        "aws-node-termination-handler/rebalance-recommendation",
        "aws-node-termination-handler/scheduled-maintenance",
        "aws-node-termination-handler/spot-itn",
        "cloud.google.com/impending-node-termination",
        "karpenter.sh/disrupted",
        "karpenter.sh/disruption",
        "node.cloudprovider.kubernetes.io/shutdown",
        "node.kubernetes.io/out-of-service",
    }
)
"""Keys of taints that announce the end of a machine: a spot instance is reclaimed, or an autoscaler removes it."""


@dataclass(frozen=True, slots=True)
class Toleration:
    """value: None: any. effect: empty: any."""

    key: str
    value: str | None = None
    effect: str = ""

    def tolerates(self, taint: Mapping[str, Any]) -> bool:
        """True if the taint does not matter to a pod with it."""
        return (
            self.key == taint["key"]
            and self.value in (None, taint.get("value", ""))
            and self.effect in ("", taint["effect"])
        )

    def as_object(self) -> dict[str, str]:
        """As a pod has it."""
        value = {"operator": "Exists"} if self.value is None else {"operator": "Equal", "value": self.value}
        return {"key": self.key, **value, **({"effect": self.effect} if self.effect else {})}


def parse(text: str) -> Toleration:
    """A toleration from "key", "key=value", "key:effect" or "key=value:effect". Raises: ValueError."""
    match = _TOLERATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no toleration, such as nvidia.com/gpu or dedicated=lab:NoSchedule")
    return Toleration(match[1], match[2], match[3] or "")


def closed(machine: Mapping[str, Any], tolerations: Iterable[Toleration]) -> str:
    """Why the cluster places no pod with these tolerations on the node, as a clause; empty if it does."""
    spec = machine.get("spec") or {}
    taints: Sequence[Mapping[str, Any]] = spec.get("taints") or ()
    if notices := _notices(taints):
        return f"about to be taken away ({notices[0]})"
    known = list(tolerations)
    reasons = [
        _STATES.get(one["key"]) or f"has the taint {_written(one)}, which sessions do not tolerate"
        for one in taints
        if one["effect"] in _CLOSING and not any(toleration.tolerates(one) for toleration in known)
    ]
    # The cluster sets the taint of a cordon a moment later.
    if spec.get("unschedulable"):
        reasons.insert(0, _STATES["node.kubernetes.io/unschedulable"])
    return next(iter(sorted(reasons, key=lambda reason: "taint" in reason)), "")


def ending(machine: Mapping[str, Any]) -> bool:
    """True if it was announced that the machine is taken away."""
    return bool(_notices((machine.get("spec") or {}).get("taints") or ()))


def _notices(taints: Iterable[Mapping[str, Any]]) -> Sequence[str]:
    """Keys of the taints that announce it, whether pods tolerate them or not."""
    return sorted(one["key"] for one in taints if one["key"] in _NOTICES and one["effect"] in _CLOSING)


def _written(taint: Mapping[str, Any]) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"
