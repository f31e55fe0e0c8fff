"""What controllers read all the time costs requests for changes only, and does not miss any of them."""

import asyncio
import uuid
from collections.abc import AsyncIterator

import cluster_images
import pytest
from api_front import ApiFront, too_old
from own_cluster import Cluster
from people import eventually
from service_accounts import NAMESPACE

from carrel.engines.conformance_kit import HarnessListener, ProgressLog
from carrel.engines.kubernetes import KubernetesEngine
from carrel.engines.kubernetes import engine as kubernetes_engine
from carrel.engines.port import ContainerSpec, ObservedState


@pytest.fixture
async def front(cluster: Cluster) -> AsyncIterator[ApiFront]:
    async with ApiFront(cluster) as front:
        yield front


@pytest.fixture
async def engine(front: ApiFront) -> AsyncIterator[KubernetesEngine]:
    engine = KubernetesEngine(front.access(), f"test-{uuid.uuid4().hex[:8]}", namespace=NAMESPACE)
    yield engine
    await engine.purge()
    await engine.close()


def idle(name: str, node: str = "") -> ContainerSpec:
    return ContainerSpec(name, cluster_images.tiny("work"), {"cpu": 100, "mem": 64 << 20}, node=node)


async def watching(engine: KubernetesEngine) -> HarnessListener:
    listener = HarnessListener(engine)
    watch = engine._watch
    lists = watch.pods, watch.machines, watch.foreign, watch.runtime_classes
    await eventually(lambda: all(one.is_watched for one in lists))
    return listener


async def test_lists_of_a_watched_cluster_need_no_requests(front: ApiFront, engine: KubernetesEngine) -> None:
    for name in ("a", "b"):
        await engine.ensure(idle(name), ProgressLog())
    listener = await watching(engine)
    await engine.nodes()
    seen = len(front.seen)
    for _ in range(5):
        assert {one.id for one in await engine.list()} == {"a", "b"}
    assert front.seen[seen:] == []
    for _ in range(5):
        assert len(await engine.nodes()) == 2
    # Nobody has changed the network policy.
    assert {path.split("?")[0] for path in front.seen[seen:]} == {f"/{engine._isolation._path}"}
    listener.task.cancel()


async def test_a_watched_cluster_shows_our_changes_at_once_and_those_of_others_soon(
    cluster: Cluster, engine: KubernetesEngine
) -> None:
    listener = await watching(engine)
    made = await engine.ensure(idle("a"), ProgressLog())
    assert await engine.list() == (made,)
    assert made.state is ObservedState.RUNNING
    await engine.ensure(idle("b"), ProgressLog())
    await engine.remove("a", grace_s=0)
    assert [one.id for one in await engine.list()] == ["b"]
    cluster.call("DELETE", f"/{engine._names.path('b')}", {"gracePeriodSeconds": 0})

    async def is_gone() -> bool:
        return await engine.list() == ()

    await eventually(is_gone)
    again = await engine.ensure(idle("b"), ProgressLog())
    assert await engine.list() == (again,)
    listener.task.cancel()


async def test_a_watch_that_is_too_old_is_replaced_by_a_list(
    front: ApiFront, engine: KubernetesEngine
) -> None:
    made = await engine.ensure(idle("a"), ProgressLog())
    front.instead("watch=true", *[too_old] * 4)
    await asyncio.wait_for(HarnessListener(engine).task, 30)
    assert await engine.list() == (made,)
    listener = await watching(engine)
    assert await engine.list() == (made,)
    listener.task.cancel()


async def test_a_network_policy_that_somebody_changes_is_restored(
    cluster: Cluster, engine: KubernetesEngine
) -> None:
    await engine.nodes()
    path = f"/{engine._isolation._path}"
    cluster.call("PATCH", path, {"spec": {"ingress": []}})
    await engine.nodes()
    assert cluster.call("GET", path)["spec"]["ingress"]


async def test_usage_is_read_of_so_many_nodes_at_a_time_by_turns(
    cluster: Cluster, front: ApiFront, engine: KubernetesEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubernetes_engine, "SUMMARIES", 1)
    names = {node.name for node in cluster.nodes}
    for node in names:
        await engine.ensure(idle(node, node), ProgressLog())
    await engine.usage()
    await engine.usage()
    read = [path.split("/")[4] for path in front.seen if "/stats/summary" in path]
    assert len(read) == 2
    assert set(read) == names
