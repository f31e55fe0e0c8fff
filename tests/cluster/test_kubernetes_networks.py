"""Private networks of pods on two nodes, by name and apart from all others."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from isolated_harness import IsolatedHarness, isolated
from own_cluster import Cluster
from people import wait_until
from service_accounts import NAMESPACE

from carrel.engines.conformance_networks import NetworkConformance, start, together
from carrel.engines.port import PrivateNetwork

_WITHIN_S = 60.0
_OBJECTS = (
    f"/api/v1/namespaces/{NAMESPACE}/services",
    f"/apis/networking.k8s.io/v1/namespaces/{NAMESPACE}/networkpolicies",
)


@pytest.fixture
async def harness(cluster: Cluster) -> AsyncIterator[IsolatedHarness]:
    async with isolated(cluster) as harness:
        yield harness


class TestKubernetesNetworks(NetworkConformance):
    pass


async def test_members_are_on_both_nodes_and_their_network_goes_with_the_last_one(
    cluster: Cluster, harness: IsolatedHarness
) -> None:
    main, sub = members = together(harness, "main1", "sub1")
    await start(harness, *members)
    chosen = f"labelSelector=carrel.installation={harness.installation}"
    pods = cluster.call("GET", f"/api/v1/namespaces/{NAMESPACE}/pods?{chosen}")["items"]
    assert {pod["spec"]["nodeName"] for pod in pods} == {node.name for node in cluster.nodes}
    assert isinstance(main.network, PrivateNetwork)
    name = f"carrel-{harness.installation}-network-{main.network.id}"
    paths = [f"{path}/{name}" for path in _OBJECTS]
    await harness.engine.remove(main.id, grace_s=0)
    assert all(cluster.call("GET", path) for path in paths)
    await harness.engine.remove(sub.id, grace_s=0)

    def gone() -> bool:
        return not any(cluster.call("GET", path) for path in paths)

    await asyncio.to_thread(wait_until, gone, within_s=_WITHIN_S)
