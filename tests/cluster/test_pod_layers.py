"""App layers in pods of a real cluster, whose runtime has no image volumes: copies of their own, or one per node."""

import uuid
from collections.abc import AsyncIterator

import cluster_images
import pytest
from own_cluster import Cluster
from service_accounts import NAMESPACE, by_token

from carrel.engines.conformance_kit import ProgressLog, refused, run
from carrel.engines.kubernetes import KubernetesEngine
from carrel.engines.port import ContainerSpec, EngineError

LAYER = cluster_images.tiny("layer")
SCRIPT = (
    "/opt/carrel/bin/sh -c '/opt/carrel/busybox/echo runs'; "
    "(: > /opt/carrel/bin/z) 2>/dev/null || echo read-only; stat -c '%i %Y' /opt/carrel/busybox/busybox"
)


def spec(name: str, cluster: Cluster, layer: str = LAYER) -> ContainerSpec:
    slots = {"cpu": 200, "mem": 64 << 20}
    return ContainerSpec(name, cluster_images.tiny("bare"), slots, node=cluster.nodes[0].name, layer=layer)


@pytest.fixture
async def keeping(cluster: Cluster) -> AsyncIterator[KubernetesEngine]:
    """An engine that keeps the layer in a directory of each node."""
    label = f"test-{uuid.uuid4().hex[:8]}"
    directory = str(cluster.folder / f"layers-{label}")
    engine = KubernetesEngine(
        by_token(cluster), label, namespace=NAMESPACE, layer=LAYER, layer_directory=directory
    )
    yield engine
    await engine.purge()
    await engine.close()


async def test_pods_have_copies_of_their_own(cluster: Cluster, engine: KubernetesEngine) -> None:
    how = await engine.try_layer(LAYER, None)
    assert how.startswith("Copied into each pod, which takes time and disk: containerd 1.")
    seen = []
    for name in ("one", "two"):
        await engine.ensure(spec(name, cluster), ProgressLog())
        ran = (await run(engine, name, "sh", "-c", SCRIPT)).stdout.decode().splitlines()
        assert ran[:2] == ["runs", "read-only"]
        seen.append(ran[2])
    (first, time), (second, same) = (one.split() for one in seen)
    assert first != second
    # Compiled Python is valid only with the times of its sources.
    assert time == same


async def test_pods_of_a_node_share_its_copy(cluster: Cluster, keeping: KubernetesEngine) -> None:
    assert (await keeping.try_layer(LAYER, None)).startswith(f"Kept in {cluster.folder}/layers-")
    seen = []
    for name in ("one", "two"):
        await keeping.ensure(spec(name, cluster), ProgressLog())
        ran = (await run(keeping, name, "sh", "-c", SCRIPT)).stdout.decode().splitlines()
        assert ran[:2] == ["runs", "read-only"]
        seen.append(ran[2])
    assert seen[0] == seen[1]


async def test_a_layer_that_the_cluster_does_not_have_is_an_error_of_its_own(
    cluster: Cluster, engine: KubernetesEngine
) -> None:
    missing = "127.0.0.1:1/nobody/layer:1"
    error = await refused(EngineError, engine.ensure(spec("one", cluster, missing), ProgressLog()))
    assert (error.code, error.retriable) == ("app_layer_missing", True)
    assert missing in error.message
    assert await engine.list() == ()
