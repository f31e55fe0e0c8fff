"""Sessions with a runtime class of the cluster, whose handler is a second name of runc."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import cluster_images
import pytest
from cluster_installation import Installation, Pods
from cluster_node import Node
from own_cluster import Cluster

from carrel.engines import runtimes
from carrel.engines.conformance_kit import ProgressLog
from carrel.engines.kubernetes import KubernetesEngine
from carrel.engines.kubernetes.quantities import quantity
from carrel.engines.port import ContainerSpec, EngineError
from carrel.tables.session_states import SessionState as S

_CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
_MIB = 1 << 20

Make = Callable[..., None]


@pytest.fixture
def runtime_class(cluster: Cluster) -> Iterator[Make]:
    """Creates runtime classes, and deletes them afterwards."""
    made: list[str] = []

    def make(name: str, **fields: object) -> None:
        cluster.call("POST", _CLASSES, {"metadata": {"name": name}, "handler": "second", **fields})
        made.append(name)

    yield make
    for name in made:
        cluster.call("DELETE", f"{_CLASSES}/{name}")


def small(node: Node, runtime: str, mem_mib: int = 64) -> ContainerSpec:
    slots = {"cpu": 100, "mem": mem_mib * _MIB}
    return ContainerSpec("abc", cluster_images.tiny("work"), slots, node=node.name, runtime=runtime)


async def capabilities(engine: KubernetesEngine) -> dict[str, list[str]]:
    """The runtimes of each node."""
    return {one.name: runtimes.names(one.capabilities) for one in await engine.nodes()}


async def test_a_session_runs_with_the_runtime_class_of_its_group_once_the_cluster_has_it(
    cluster: Cluster, installation: Installation, pods: Pods, runtime_class: Make
) -> None:
    installation.set_group(runtime="second")
    before = {node.name: node.times_second_ran() for node in cluster.nodes}
    session = await installation.create()
    await installation.round()
    assert "does not have the runtime second" in str(installation.reason(session))
    runtime_class("second")
    await installation.until(session, S.RUNNING)
    (pod,) = pods.all()
    assert pod["spec"]["runtimeClassName"] == "second"
    node = next(one for one in cluster.nodes if one.name == pod["spec"]["nodeName"])
    assert node.times_second_ran() > before[node.name]


async def test_nodes_without_the_labels_of_a_runtime_class_do_not_have_it(
    cluster: Cluster, engine: KubernetesEngine, runtime_class: Make
) -> None:
    runtime_class("some", scheduling={"nodeSelector": {"sandbox": "yes"}})
    first, second = cluster.nodes[:2]
    cluster.call("PATCH", f"/api/v1/nodes/{first.name}", {"metadata": {"labels": {"sandbox": "yes"}}})
    try:
        assert await capabilities(engine) == {first.name: ["some"], second.name: []}
        observed = await engine.ensure(small(first, "some"), ProgressLog())
        assert observed.node == first.name
    finally:
        cluster.call("PATCH", f"/api/v1/nodes/{first.name}", {"metadata": {"labels": {"sandbox": None}}})


async def test_a_pod_takes_no_more_than_its_slots_with_the_overhead_of_its_runtime_class(
    cluster: Cluster, engine: KubernetesEngine, pods: Pods, runtime_class: Make
) -> None:
    runtime_class("heavy", overhead={"podFixed": {"cpu": "30m", "memory": "16Mi"}})
    spec = small(cluster.nodes[0], "heavy")
    await engine.ensure(spec, ProgressLog())
    (pod,) = pods.all()
    assert pod["spec"]["overhead"] == {"cpu": "30m", "memory": "16Mi"}
    requested = pod["spec"]["containers"][0]["resources"]["requests"]
    assert (quantity(requested["cpu"], 1000), quantity(requested["memory"])) == (70, 48 * _MIB)
    with pytest.raises(EngineError, match="heavy needs 16 MiB for itself, and the container has 16 MiB"):
        await engine.ensure(replace(small(cluster.nodes[0], "heavy", mem_mib=16), id="other"), ProgressLog())
