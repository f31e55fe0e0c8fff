"""Nodes that stop responding, are cut off or deleted, or take nothing new."""

import asyncio

import cluster_images
import pytest
from cluster_node import Node
from own_cluster import Cluster
from people import eventually, wait_until

from carrel.core.ids import new_id
from carrel.engines.conformance_kit import ProgressLog, refused, run
from carrel.engines.kubernetes import KubernetesEngine
from carrel.engines.port import (
    ContainerSpec,
    EngineError,
    EngineUnavailable,
    ObservedState,
)

_OUT = {"key": "node.kubernetes.io/out-of-service", "value": "off", "effect": "NoExecute"}


def idle(node: Node) -> ContainerSpec:
    return ContainerSpec(new_id(), cluster_images.tiny("work"), {"cpu": 100, "mem": 64 << 20}, node=node.name)


async def offers(engine: KubernetesEngine, node: Node) -> bool:
    return node.name in {one.name for one in await engine.nodes()}


async def lists(engine: KubernetesEngine, container: str) -> bool:
    return container in {one.id for one in await engine.list()}


async def lost(engine: KubernetesEngine, node: Node) -> None:
    async def is_lost() -> bool:
        return not await offers(engine, node)

    await eventually(is_lost)


async def test_a_container_on_a_node_without_kubelet_is_neither_listed_nor_ended_nor_doubled(
    cluster: Cluster, engine: KubernetesEngine, node: Node
) -> None:
    spec = idle(node)
    await engine.ensure(spec, ProgressLog())
    node.leave()
    await lost(engine, node)
    assert not await lists(engine, spec.id)
    assert await engine.usage() == ()
    await refused(EngineUnavailable, run(engine, spec.id, "true"))
    await refused(EngineUnavailable, engine.send(spec.id, b""))
    await refused(EngineUnavailable, _log(engine, spec.id))
    await refused(EngineUnavailable, engine.ensure(spec, ProgressLog()))
    # Here or there: it may go on, so it is not started elsewhere.
    for attempt in (
        engine.ensure(idle_elsewhere(cluster, spec), ProgressLog()),
        engine.remove(spec.id, grace_s=100),
        engine.remove(spec.id, grace_s=100, signal="SIGINT"),
    ):
        error = await refused(EngineError, attempt)
        assert f"{node.name} does not respond, so its container may go on" in error.message
        assert error.retriable
    node.join()

    async def is_ended() -> bool:
        return await offers(engine, node) and not await lists(engine, spec.id)

    await eventually(is_ended)
    await engine.remove(spec.id, grace_s=0)
    made = await engine.ensure(idle_elsewhere(cluster, spec), ProgressLog())
    assert made.state is ObservedState.RUNNING


async def test_a_container_on_a_node_that_was_cut_off_is_there_again_with_it(
    engine: KubernetesEngine, node: Node
) -> None:
    spec = idle(node)
    made = await engine.ensure(spec, ProgressLog())
    node.disconnect()
    await lost(engine, node)
    assert not await lists(engine, spec.id)
    node.connect()

    async def is_back() -> bool:
        return await lists(engine, spec.id)

    await eventually(is_back)
    assert await offers(engine, node)
    assert await engine.list() == (made,)
    assert (await run(engine, spec.id, "echo", "back")).stdout == b"back\n"


@pytest.mark.parametrize("how", ["deleted", "out of service"])
async def test_the_containers_of_a_node_that_is_gone_are_removed_and_start_elsewhere(
    cluster: Cluster, engine: KubernetesEngine, node: Node, how: str
) -> None:
    removed, moved = idle(node), idle(node)
    for one in (removed, moved):
        await engine.ensure(one, ProgressLog())
    node.leave()
    if how == "deleted":
        cluster.call("DELETE", f"/api/v1/nodes/{node.name}")
    else:
        cluster.call("PATCH", f"/api/v1/nodes/{node.name}", {"spec": {"taints": [_OUT]}})
    await lost(engine, node)
    assert await engine.list() == ()
    await engine.remove(removed.id, grace_s=100)
    made = await engine.ensure(idle_elsewhere(cluster, moved), ProgressLog())
    assert made.state is ObservedState.RUNNING
    assert await engine.list() == (made,)


def idle_elsewhere(cluster: Cluster, spec: ContainerSpec) -> ContainerSpec:
    """The same container on the first node."""
    return ContainerSpec(spec.id, spec.image, spec.slots, node=cluster.nodes[0].name)


async def _log(engine: KubernetesEngine, container: str) -> None:
    async for _ in engine.logs(container, follow=False):
        pass


async def test_a_cordoned_node_starts_nothing_and_keeps_what_it_has(
    cluster: Cluster, engine: KubernetesEngine
) -> None:
    node = cluster.nodes[0]
    there = idle(node)
    await engine.ensure(there, ProgressLog())
    path = f"/api/v1/nodes/{node.name}"
    cluster.call("PATCH", path, {"spec": {"unschedulable": True}})
    try:
        error = await refused(EngineError, engine.ensure(idle(node), ProgressLog()))
        assert "unschedulable" in error.message
        assert error.retriable
        assert [one.id for one in await engine.list()] == [there.id]
    finally:
        cluster.call("PATCH", path, {"spec": {"unschedulable": None}})
        await asyncio.to_thread(wait_until, lambda: cluster.ready(node))
