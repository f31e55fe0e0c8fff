"""Runtime classes of a cluster, such as those of gVisor and Kata, each for a handler in the runtime of the nodes.

The API server adds to a pod what its class says: the labels that its node must have, and its overhead, which the
scheduler counts on the node besides what the containers request.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from carrel.core.units import format_size
from carrel.engines.kubernetes.kubernetes_api import ApiError
from carrel.engines.kubernetes.quantities import quantity
from carrel.engines.kubernetes.watched_list import WatchedList
from carrel.engines.port import EngineError

RUNTIME_CLASSES = "apis/node.k8s.io/v1/runtimeclasses"
"""The path of all runtime classes."""


@dataclass(frozen=True, slots=True)
class RuntimeClass:
    """handler: its name in the runtime of the nodes; empty: their usual one. labels: of its nodes. overhead: `cpu` and
    `mem` that a pod takes besides its containers.
    """

    name: str
    handler: str
    labels: Mapping[str, str]
    overhead: Mapping[str, int]

    def runs_on(self, machine: Mapping[str, Any]) -> bool:
        """True if the node has its labels, and its handler, unless it does not list its handlers."""
        labels = machine["metadata"].get("labels") or {}
        listed = {one.get("name", "") for one in machine["status"].get("runtimeHandlers") or ()}
        return self.labels.items() <= labels.items() and (not listed or self.handler in listed)


def kept(runtime_class: Mapping[str, Any]) -> RuntimeClass:
    """What is kept of a runtime class."""
    fixed = (runtime_class.get("overhead") or {}).get("podFixed") or {}
    return RuntimeClass(
        runtime_class["metadata"]["name"],
        runtime_class["handler"],
        (runtime_class.get("scheduling") or {}).get("nodeSelector") or {},
        {"cpu": quantity(fixed.get("cpu", "0"), 1000), "mem": quantity(fixed.get("memory", "0"))},
    )


async def read(classes: WatchedList[RuntimeClass]) -> Collection[RuntimeClass]:
    """All of the cluster; none without the right to list them, which former versions did not need.

    Raises: ApiError, EngineUnavailable.
    """
    try:
        return await classes.read()
    except ApiError as error:
        if error.status != 403:
            raise
        return ()


def without_overhead(slots: Mapping[str, int], runtime: RuntimeClass) -> dict[str, int]:
    """What the containers of a pod get of its slots, so that it takes no more than these with its overhead.

    Raises: EngineError if nothing is left.
    """
    left = {slot: amount - runtime.overhead.get(slot, 0) for slot, amount in slots.items()}
    for slot, amount in left.items():
        if slots[slot] > 0 >= amount:
            needed, there = (
                format_size(size) if slot == "mem" else f"{size / 1000:g} CPUs"
                for size in (runtime.overhead[slot], slots[slot])
            )
            raise EngineError(
                f"The runtime class {runtime.name} needs {needed} for itself, and the container has {there}.",
                retriable=False,
            )
    return left
