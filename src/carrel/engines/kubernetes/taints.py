"""Taints of nodes, and the tolerations that pods have against them.

Source: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
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


def _written(taint: Mapping[str, Any]) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"
