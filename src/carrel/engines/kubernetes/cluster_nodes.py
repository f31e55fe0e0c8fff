"""Which nodes of the cluster respond.

state    because                                             its containers
READY    its kubelet reports it as ready
AWAY     it is not ready: off, cut off, or without a kubelet  may go on
GONE     it was deleted from the cluster, or somebody          have ended
         declared that it is off (out-of-service)
"""

import time
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any

from carrel.engines.kubernetes.kubernetes_api import KubernetesApi
from carrel.engines.port import EngineError, EngineUnavailable

_PATH = "api/v1/nodes"
_FRESH_S = 5.0
_OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


class Responding(StrEnum):
    READY = "ready"
    AWAY = "away"
    GONE = "gone"


class ClusterNodes:
    """The nodes of one cluster, as they were read last."""

    def __init__(self, api: KubernetesApi) -> None:
        self._api = api
        self._states: Mapping[str, Responding] = {}
        self.all: Sequence[Any] = ()
        """As they were read last, in all states."""
        self._read_at = 0.0

    async def ready(self) -> Sequence[Any]:
        """The nodes that are ready, read now. Raises: ApiError, EngineUnavailable."""
        self.all, _ = await self._api.items(_PATH, {})
        self._states = {one["metadata"]["name"]: _responding(one) for one in self.all}
        self._read_at = time.monotonic()
        return [one for one in self.all if _responding(one) is Responding.READY]

    async def are_ready(self, names: Collection[str]) -> frozenset[str]:
        """Those of these nodes that are, or were some seconds ago. Raises: ApiError, EngineUnavailable."""
        stale = time.monotonic() - self._read_at > _FRESH_S
        # A node that joined since then is unknown.
        if stale or not self._states.keys() >= set(names):
            await self.ready()
        return frozenset(one for one in names if self._states.get(one) is Responding.READY)

    async def state(self, name: str) -> Responding:
        """The state of one node now. Raises: ApiError, EngineUnavailable."""
        machines, _ = await self._api.items(_PATH, {"fieldSelector": f"metadata.name={name}"})
        return _responding(machines[0]) if machines else Responding.GONE

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


def _responding(machine: Mapping[str, Any]) -> Responding:
    if any(taint["key"] == _OUT_OF_SERVICE for taint in machine["spec"].get("taints") or ()):
        return Responding.GONE
    conditions = {one["type"]: one["status"] for one in machine["status"].get("conditions") or ()}
    return Responding.READY if conditions.get("Ready") == "True" else Responding.AWAY
