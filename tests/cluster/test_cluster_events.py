"""What a real cluster reports about pods: starts that wait, quotas, nodes that are not ready, preemption."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import cluster_images
import pytest
from cluster_node import Node
from own_cluster import Cluster
from people import eventually, wait_until
from service_accounts import NAMESPACE, by_token

from carrel.core.ids import new_id
from carrel.engines.conformance_kit import HarnessListener, ProgressLog, refused
from carrel.engines.kubernetes import KubernetesEngine
from carrel.engines.kubernetes.pod_answers import quantity
from carrel.engines.port import ContainerSpec, InitialFile, ObservedState, QuotaExhausted

_CORE = f"/api/v1/namespaces/{NAMESPACE}"
_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


@pytest.fixture
async def engine(cluster: Cluster) -> AsyncIterator[KubernetesEngine]:
    engine = KubernetesEngine(by_token(cluster), f"test-{uuid.uuid4().hex[:8]}", namespace=NAMESPACE)
    yield engine
    await engine.purge()
    await engine.close()


def idle(node: Node, **more: Any) -> ContainerSpec:
    spec = ContainerSpec(new_id(), cluster_images.tiny("work"), {"cpu": 100, "mem": 64 << 20})
    return replace(spec, node=node.name, **more)


async def ready_again(cluster: Cluster, node: Node) -> None:
    await asyncio.to_thread(wait_until, lambda: cluster.ready(node))


async def test_a_quota_of_the_namespace_is_a_reason_and_leaves_nothing(
    cluster: Cluster, engine: KubernetesEngine
) -> None:
    quotas = f"{_CORE}/resourcequotas"
    cluster.call("POST", quotas, {"metadata": {"name": "lab"}, "spec": {"hard": {"pods": "0"}}})
    try:

        def counted() -> bool:
            return "hard" in cluster.call("GET", f"{quotas}/lab").get("status", {})

        # Until the quota is counted for the first time, the cluster admits nothing.
        await eventually(counted)
        error = await refused(QuotaExhausted, engine.ensure(idle(cluster.nodes[0]), ProgressLog()))
    finally:
        cluster.call("DELETE", f"{quotas}/lab")
    assert error.message == (
        "The quota lab of the namespace is exhausted: pods=1 requested, pods=0 used, pods=0 at most."
    )
    assert await engine.list() == ()


async def test_a_volume_that_cannot_be_mounted_yet_is_reported_once(
    cluster: Cluster, engine: KubernetesEngine
) -> None:
    spec = idle(cluster.nodes[0], files=(InitialFile("/etc/carrel/note", b"1"),))
    secret = f"{_CORE}/secrets/{engine._names.pod(spec.id)}"
    kept: list[Any] = []

    async def without_files() -> None:
        kept.append(cluster.call("GET", secret))
        cluster.call("DELETE", secret)

    def attempts() -> int:
        events = cluster.call("GET", f"{_CORE}/events?fieldSelector=reason=FailedMount")["items"]
        return sum(
            one["count"] for one in events if one["involvedObject"]["name"] == engine._names.pod(spec.id)
        )

    progress = ProgressLog()
    start = asyncio.create_task(engine.ensure(spec, progress, without_files))
    await eventually(lambda: kept and attempts() > 1)
    assert not start.done()
    again = {key: kept[0][key] for key in ("apiVersion", "kind", "data", "type")}
    metadata = {key: kept[0]["metadata"][key] for key in ("name", "labels", "ownerReferences")}
    cluster.call("POST", f"{_CORE}/secrets", {**again, "metadata": metadata})
    assert (await start).state is ObservedState.RUNNING
    [sentence] = [one.text for one in progress.seen if one.phase == "event"]
    assert sentence.startswith("Its node cannot mount a volume: ")
    assert "not found" in sentence


async def test_a_node_that_is_not_ready_is_reported_of_its_containers(
    cluster: Cluster, engine: KubernetesEngine
) -> None:
    node = cluster.nodes[1]
    spec = idle(node)
    await engine.ensure(spec, ProgressLog())
    node.leave()

    async def reported() -> bool:
        known = await engine.reports([spec.id, new_id()])
        return known == {spec.id: ["Its node is not ready in the cluster."]}

    try:
        await eventually(reported)
    finally:
        node.join()
        await ready_again(cluster, node)


async def test_a_container_that_is_preempted_says_so(cluster: Cluster, engine: KubernetesEngine) -> None:
    node = cluster.nodes[0]
    spec = idle(node)
    listener = HarnessListener(engine)
    await engine.ensure(spec, ProgressLog())
    cluster.call("POST", _CLASSES, {"metadata": {"name": "urgent"}, "value": 1000})
    allocatable = cluster.call("GET", f"/api/v1/nodes/{node.name}")["status"]["allocatable"]["cpu"]
    most = {"cpu": f"{quantity(allocatable, 1000) - 50}m"}
    container = {"name": "main", "image": cluster_images.tiny("work"), "resources": {"requests": most}}
    urgent = {
        "nodeSelector": {"kubernetes.io/hostname": node.name},
        "priorityClassName": "urgent",
        "containers": [container],
    }
    pods = "/api/v1/namespaces/default/pods"
    cluster.call("POST", pods, {"metadata": {"name": "urgent"}, "spec": urgent})

    async def reports() -> list[str]:
        """By its event, and by the condition that the pod had when it was deleted."""
        known = (await engine.reports([spec.id])).get(spec.id, ())
        return list(known) if len(known) == 2 else []

    async def is_gone() -> bool:
        return not await engine.list()

    try:
        await eventually(is_gone)
        for sentence in await eventually(reports):
            assert sentence.startswith("The cluster ended it to make room for a pod of higher priority: ")
    finally:
        listener.task.cancel()
        cluster.call("DELETE", f"{pods}/urgent", {"gracePeriodSeconds": 0})
        cluster.call("DELETE", f"{_CLASSES}/urgent")
