"""The end of a pod: its deletion, and the wait until nothing of it is left."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing, suppress
from typing import Any

from carrel.engines.kubernetes.cluster_nodes import ClusterNodes, Responding, not_known_to_end
from carrel.engines.kubernetes.kubernetes_api import ApiError, KubernetesApi
from carrel.engines.kubernetes.pod_watch import OnePod
from carrel.engines.kubernetes.pods import PodNames, claim_names
from carrel.engines.port import ContainerGone

_LOOK_S = 2.0
"""The node is looked at this often while the pod does not end."""
_RELEASED_WITHIN_S = 30.0
_FIRST_LOOK_S, _LAST_LOOK_S = 0.1, 2.0
"""At a claim: most are gone at once, and hundreds may end together."""


async def delete(
    api: KubernetesApi, names: PodNames, nodes: ClusterNodes, pod: Mapping[str, Any], *, seconds: int
) -> None:
    """Delete the pod and wait for its end; the cluster deletes its files with it. seconds: grace period. Twice: no-op.

    Raises: EngineError if its node does not respond, ApiError, EngineUnavailable.
    """
    await _request(api, names, pod, seconds)
    await absent(api, names, nodes, pod)


async def absent(api: KubernetesApi, names: PodNames, nodes: ClusterNodes, pod: Mapping[str, Any]) -> None:
    """Wait until this pod, which is being deleted, is gone, and holds no devices.

    Raises: EngineError if its node does not respond, ApiError, EngineUnavailable.
    """
    await _gone(api, names, nodes, pod)
    # The cluster's controller takes a moment, and whoever gets the devices next would not be placed.
    with suppress(TimeoutError):
        async with asyncio.timeout(_RELEASED_WITHIN_S):
            for name in claim_names(pod):
                await _released(api, f"{names.claims}/{name}")


async def _released(api: KubernetesApi, path: str) -> None:
    """Delete a claim until it is gone, which takes as long as the cluster's controller needs."""
    look_s = _FIRST_LOOK_S
    try:
        while True:
            await api.call("DELETE", path)
            await asyncio.sleep(look_s)
            look_s = min(look_s * 2, _LAST_LOOK_S)
    except ApiError as error:
        if error.status != 404:
            raise


async def _gone(api: KubernetesApi, names: PodNames, nodes: ClusterNodes, pod: Mapping[str, Any]) -> None:
    try:
        there = await api.call("GET", f"{names.pods}/{pod['metadata']['name']}")
    except ApiError as error:
        if error.status != 404:
            raise
        return
    if there["metadata"]["uid"] != pod["metadata"]["uid"]:
        return
    try:
        async with aclosing(OnePod(api, names, there)) as changes:
            while True:
                await _require_ending(api, names, nodes, there)
                there = await changes.next(_LOOK_S) or there
    except ContainerGone:
        return


async def _require_ending(
    api: KubernetesApi, names: PodNames, nodes: ClusterNodes, pod: Mapping[str, Any]
) -> None:
    """Check that the pod's node will end it; without its node, it is forgotten at once."""
    node = pod["spec"].get("nodeName")
    if not node or await nodes.are_ready([node]):
        return
    state = await nodes.state(node)
    if state is Responding.AWAY:
        raise not_known_to_end(node)
    if state is Responding.GONE:
        await _request(api, names, pod, 0)


async def _request(api: KubernetesApi, names: PodNames, pod: Mapping[str, Any], seconds: int) -> None:
    body = {"gracePeriodSeconds": seconds, "preconditions": {"uid": pod["metadata"]["uid"]}}
    try:
        await api.call("DELETE", f"{names.pods}/{pod['metadata']['name']}", body=body)
    except ApiError as error:
        # 409: another pod has its name since.
        if error.status not in (404, 409):
            raise
