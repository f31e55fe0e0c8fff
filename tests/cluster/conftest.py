"""One cluster for all tests of this folder; a test that breaks it repairs it."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator

import pytest
from cluster_installation import Installation, Pods
from cluster_node import Node
from own_cluster import Cluster
from people import People, wait_until
from service_accounts import NAMESPACE, apply_rights, by_token

from carrel.core.ids import LOCAL_ENGINE
from carrel.engines.kubernetes import KubernetesEngine

pytest.register_assert_rewrite("carrel.engines.conformance", "carrel.engines.conformance_kit")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """There is no skipping: what is missing is an error."""
    with Cluster() as cluster:
        apply_rights(cluster)
        yield cluster


@pytest.fixture
async def node(cluster: Cluster) -> AsyncIterator[Node]:
    """A node that a test may break; afterwards it is as it was."""
    node = cluster.nodes[1]
    yield node
    node.connect()
    node.leave()
    cluster.call("DELETE", f"/api/v1/nodes/{node.name}")
    node.join()
    await asyncio.to_thread(wait_until, lambda: cluster.ready(node))


@pytest.fixture
async def engine(cluster: Cluster) -> AsyncIterator[KubernetesEngine]:
    engine = KubernetesEngine(by_token(cluster), f"test-{uuid.uuid4().hex[:8]}", namespace=NAMESPACE)
    yield engine
    await engine.purge()
    await engine.close()


@pytest.fixture
async def installation(
    postgres: str, people: People, engine: KubernetesEngine
) -> AsyncIterator[Installation]:
    installation = await Installation.start(postgres, {LOCAL_ENGINE: engine}, people.superadmin)
    await installation.round()
    yield installation
    await installation.close()


@pytest.fixture
def pods(cluster: Cluster, engine: KubernetesEngine) -> Pods:
    return Pods(cluster, engine)
