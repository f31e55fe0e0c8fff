"""Which nodes of the cluster respond.

state    because                                             its containers
READY    its kubelet reports it as ready
AWAY     it is not ready: off, cut off, or without a kubelet  may go on
GONE     it was deleted from the cluster, or somebody          have ended
         declared that it is off (out-of-service)
"""

import sys
import time
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any

from carrel.engines.kubernetes.kubernetes_api import KubernetesApi
from carrel.engines.kubernetes.watched_list import WatchedList
from carrel.engines.port import EngineError, EngineUnavailable

NODES = "api/v1/nodes"
"""The path of all nodes."""
_FRESH_S = 5.0
_STATUS = ("addresses", "allocatable", "nodeInfo", "runtimeHandlers")
_OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


class Responding(StrEnum):
    READY = "ready"
    AWAY = "away"
    GONE = "gone"


class ClusterNodes:
    """The nodes of one cluster. machines: as `trimmed`."""

    def __init__(self, api: KubernetesApi, machines: WatchedList[Mapping[str, Any]]) -> None:
        self._api = api
        self._machines = machines
        self._states: Mapping[str, Responding] = {}
        self._read_at = 0.0

    async def all(self) -> Collection[Mapping[str, Any]]:
        """The nodes in all states, as they are now. Raises: ApiError, EngineUnavailable."""
        machines = await self._machines.read()
        self._states = {one["metadata"]["name"]: responding(one) for one in machines}
        self._read_at = time.monotonic()
        return machines

    async def are_ready(self, names: Collection[str]) -> frozenset[str]:
        """Those of these nodes that are, or were some seconds ago. Raises: ApiError, EngineUnavailable."""
        if self._machines.is_watched:
            return frozenset(one for one in names if self._is_ready(self._machines.get(one)))
        stale = time.monotonic() - self._read_at > _FRESH_S
        # A node that joined since then is unknown.
        if stale or not self._states.keys() >= set(names):
            await self.all()
        return frozenset(one for one in names if self._states.get(one) is Responding.READY)

    @staticmethod
    def _is_ready(machine: Mapping[str, Any] | None) -> bool:
        return machine is not None and responding(machine) is Responding.READY

    async def state(self, name: str) -> Responding:
        """The state of one node now. Raises: ApiError, EngineUnavailable."""
        machines, _ = await self._api.items(NODES, {"fieldSelector": f"metadata.name={name}"})
        return responding(machines[0]) if machines else Responding.GONE

    async def require(self, name: str) -> None:
        """Check that a node responds. Raises: EngineUnavailable, ApiError."""
        if not await self.are_ready([name]):
            raise EngineUnavailable(f"The node {name} does not respond.")


def not_known_to_end(name: str) -> EngineError:
    """The error for a container on a node that is AWAY: two of one id must not run."""
    return EngineError(
        f"The node {name} does not respond, so its container may go on; it ends once the node responds. If the machine "
        f"is off for good, delete the node from the cluster, or taint it with {_OUT_OF_SERVICE}.",
        retriable=True,
    )


def trimmed(machine: Mapping[str, Any]) -> Mapping[str, Any]:
    """A node with only what is read of it: each has up to 50 images, most of which all of them have."""
    metadata, spec, status = machine["metadata"], machine["spec"], machine["status"]
    images = [
        {"names": [sys.intern(name) for name in one.get("names") or ()], "sizeBytes": one.get("sizeBytes", 0)}
        for one in status.get("images") or ()
    ]
    return {
        "metadata": {"name": metadata["name"], "labels": metadata.get("labels") or {}},
        "spec": {key: spec[key] for key in ("taints", "unschedulable", "podCIDRs") if key in spec},
        "status": {
            **{key: status[key] for key in _STATUS if key in status},
            "conditions": [one for one in status.get("conditions") or () if one["type"] == "Ready"],
            "images": images,
        },
    }


def responding(machine: Mapping[str, Any]) -> Responding:
    """The state of a node."""
    if any(taint["key"] == _OUT_OF_SERVICE for taint in machine["spec"].get("taints") or ()):
        return Responding.GONE
    conditions = {one["type"]: one["status"] for one in machine["status"].get("conditions") or ()}
    return Responding.READY if conditions.get("Ready") == "True" else Responding.AWAY
