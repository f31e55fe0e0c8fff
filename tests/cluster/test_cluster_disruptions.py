"""Disruptions of a cluster, after which no session is stuck, lost, doubled, or holds slots in vain."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from cluster_installation import Installation, Pods
from cluster_node import Node
from own_cluster import Cluster
from people import eventually, wait_until
from service_accounts import NAMESPACE

from carrel.core.ids import SessionId
from carrel.tables.session_states import SessionState as S


def change_node(cluster: Cluster, node: Node, **spec: object) -> None:
    cluster.call("PATCH", f"/api/v1/nodes/{node.name}", {"spec": spec})


async def test_a_drain_by_kubectl_ends_or_moves_sessions_by_the_rule_of_their_group(
    cluster: Cluster, installation: Installation, pods: Pods
) -> None:
    node = cluster.nodes[1]
    ends, moves, unseen = await installation.running(*[node.name] * 3)
    change_node(cluster, node, unschedulable=True)
    try:
        with _budget(cluster), pytest.raises(RuntimeError, match="disruption budget"):
            pods.evict(installation.main_of(ends))
        pods.evict(installation.main_of(ends))
        await installation.until(ends, S.ERROR)
        assert "evicted" in installation.why(ends, "evicted")
        installation.set_group(on_node_loss="reschedule")
        # One is seen while it ends, and one when it has ended.
        gone = installation.main_of(unseen)
        pods.evict(gone)
        await eventually(lambda: cluster.call("GET", pods.of(gone)) is None, every_s=0.1)
        pods.evict(installation.main_of(moves))
        for session in (moves, unseen):
            await _runs_elsewhere(installation, session, "evicted")
        await installation.rests()
        assert pods.nodes() == ["node-a", "node-a"]
    finally:
        change_node(cluster, node, unschedulable=None)


@contextmanager
def _budget(cluster: Cluster) -> Iterator[None]:
    """One that never permits an eviction, as the documents recommend it to those who want that."""
    path = f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets"
    selector = {"matchExpressions": [{"key": "carrel.id", "operator": "Exists"}]}
    spec = {"minAvailable": 100000, "selector": selector}
    cluster.call("POST", path, {"metadata": {"name": "sessions"}, "spec": spec})
    wait_until(lambda: cluster.call("GET", f"{path}/sessions").get("status", {}).get("observedGeneration"))
    yield
    cluster.call("DELETE", f"{path}/sessions")


async def _runs_elsewhere(installation: Installation, session: SessionId, cause: str) -> None:
    """It was requeued for that cause, and runs on the first node."""
    await installation.until_cause(session, cause)
    await installation.until(session, S.RUNNING)
    assert installation.node_of(session) == "node-a"


async def test_a_drain_by_us_moves_sessions(installation: Installation, pods: Pods) -> None:
    session, stays = await installation.running("node-b", "node-a")
    await installation.drain("node-b")
    await _runs_elsewhere(installation, session, "drained")
    await installation.rests()
    assert pods.nodes() == ["node-a", "node-a"]
    assert installation.state(stays) == S.RUNNING


async def test_people_are_warned_that_a_spot_machine_is_reclaimed_and_nothing_starts_there(
    cluster: Cluster, installation: Installation, pods: Pods, node: Node
) -> None:
    installation.set_group(on_node_loss="reschedule")
    key = "aws-node-termination-handler/spot-itn"
    [session] = await installation.running(node.name)
    # 1. The notice.
    change_node(cluster, node, taints=[{"key": key, "value": "1", "effect": "NoSchedule"}])
    await installation.until_cause(session, "node_leaving", step_s=5)
    words = f"Its node node-b is about to be taken away ({key})."
    assert installation.why(session, "node_leaving").startswith(words)
    pinned, other = await installation.create(node.name), await installation.create()
    await installation.until(other, S.RUNNING)
    await installation.pass_time(60)
    assert installation.state(pinned) == S.PENDING
    assert "about to be taken away" in installation.reason(pinned)
    assert installation.node_of(other) == "node-a"
    assert installation.state(session) == S.RUNNING
    # 2. The end of the machine.
    node.leave()
    cluster.call("DELETE", f"/api/v1/nodes/{node.name}")
    await installation.remove(pinned)
    await installation.pass_time(20)
    assert installation.state(session) == S.RUNNING
    await installation.pass_time(130)
    await _runs_elsewhere(installation, session, "node_lost")
    await installation.rests()
    assert "node_leaving" not in installation.warnings(session)


@pytest.mark.parametrize("lacks", ["memory.available", "nodefs.available"])
async def test_a_session_that_the_kubelet_evicts_for_memory_or_disk_restarts_elsewhere(
    installation: Installation, pods: Pods, node: Node, lacks: str
) -> None:
    """With too little disk, it refuses the pod that it has when it starts; with too little memory, it evicts it."""
    installation.set_group(on_node_loss="reschedule")
    [session] = await installation.running(node.name)
    node.leave()
    node.join(lacks=lacks)
    await _runs_elsewhere(installation, session, "evicted")
    await installation.rests()
    assert pods.nodes() == ["node-a"]
    if lacks == "memory.available":
        words = "It was evicted because its node was low on memory: The node was low on resource: memory"
        assert installation.why(session, "evicted").startswith(words)


async def test_a_pod_that_the_cluster_ends_before_it_begins_is_another_attempt(
    cluster: Cluster, installation: Installation, pods: Pods
) -> None:
    """Its status is written as the kubelet does it when it refuses a pod."""
    async with SilentRegistry(cluster.address) as registry:
        for node in cluster.nodes:
            node.trust(registry)
        session = await installation.create(image=f"{registry}/nobody/nothing:1")
        await installation.until(session, S.PREPARING)
        path = pods.of(installation.main_of(session))

        async def is_bound() -> bool:
            await installation.round()
            return bool((cluster.call("GET", path) or {"spec": {}})["spec"].get("nodeName"))

        await eventually(is_bound, every_s=0.1)
        failed = {"phase": "Failed", "reason": "OutOfcpu", "message": "Node didn't have enough resource: cpu"}
        cluster.call("PATCH", f"{path}/status", {"status": failed})

        await installation.until_cause(session, "retry")
        assert installation.why(session, "retry").endswith("Node didn't have enough resource: cpu.")
        # Nor does a pull without an end last for ever, or the end of a pod that is being pulled.
        await installation.pass_time(10, rounds=1)
        await installation.until(session, S.PREPARING)
        await installation.pass_time(61 * 60, rounds=1)
        await installation.until(session, S.TERMINATING, S.ERROR)
        await installation.pass_time(11 * 60, rounds=1)
        await installation.until(session, S.ERROR)
    await installation.rests()
    assert installation.causes(session).count("deadline") == 2
    assert pods.nodes() == []


class SilentRegistry:
    """Takes connections, and answers nothing. Entering gives its address."""

    def __init__(self, host: str) -> None:
        self._host = host

    async def __aenter__(self) -> str:
        self._open: list[asyncio.StreamWriter] = []

        def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._open.append(writer)

        self._server = await asyncio.start_server(listen, self._host, 0)
        return f"{self._host}:{self._server.sockets[0].getsockname()[1]}"

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for writer in self._open:
            writer.close()


async def test_an_image_that_cannot_be_pulled_ends_the_session_in_words_and_leaves_nothing(
    installation: Installation, pods: Pods
) -> None:
    away = await installation.create(image="127.0.0.1:1/nobody/nothing:1")

    await installation.until_cause(away, "registry_unavailable", step_s=5)
    await installation.until(away, S.ERROR)
    assert installation.reason(away).startswith(
        "No registry answered for the image 127.0.0.1:1/nobody/nothing:1"
    )
    assert installation.causes(away).count("retry") == 3
    await installation.rests()
    assert pods.nodes() == []
