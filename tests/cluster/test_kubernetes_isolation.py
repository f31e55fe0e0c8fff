"""What a session in a cluster cannot reach, and who cannot reach it.

Each attempt has a counterpart that succeeds, so that a broken probe fails too.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from conformance import test_isolation as isolation
from conformance.test_isolation import MIB, Desk
from isolated_harness import LISTENS, Bystander, IsolatedHarness, isolated
from own_cluster import Cluster
from people import eventually
from service_accounts import NAMESPACE

from carrel.core.ids import new_id
from carrel.engines.conformance_kit import ProgressLog, spec
from carrel.engines.kubernetes import KubernetesEngine
from carrel.engines.kubernetes.credentials import ClusterAccess
from carrel.engines.optional import NETWORK_POLICY
from carrel.engines.port import IDLE, ContainerSpec

_POLICIES = f"/apis/networking.k8s.io/v1/namespaces/{NAMESPACE}/networkpolicies"
_INTERNET, _METADATA = "203.0.113.80", "169.254.169.254"
_KUBELET, _API_SERVER, _NAMES = 10250, 6443, 53

_LACKING = {"test_a_fork_bomb_stops_at_the_pids_limit": "pids-limit"}
"""Common tests that need a capability which the nodes do not have."""
_OTHERWISE = {
    "test_a_session_cannot_reach_the_ports_of_another": "by network policy, below",
    "test_a_session_cannot_reach_services_of_its_host": "by network policy, below",
    "test_a_session_cannot_send_datagrams_to_its_host": "by network policy, below",
    "test_networks_of_single_sessions_go_with_them": "there are no networks of single sessions",
    "test_a_session_has_no_ipv6_way_around": "the network policy has both families",
    "test_the_cpu_limit_holds_within_ten_percent": "readings are some seconds old: the quota, below",
    "test_the_kernel_ends_sessions_before_the_processes_of_the_host": "the kubelet chooses their scores",
}
"""Common tests of what is otherwise here, and how."""
_ALL = {name: test for name, test in vars(isolation).items() if name.startswith("test_")}
globals().update({name: test for name, test in _ALL.items() if name not in _LACKING | _OTHERWISE})


@pytest.fixture
async def harness(cluster: Cluster) -> AsyncIterator[IsolatedHarness]:
    async with isolated(cluster) as harness:
        yield harness


@pytest.fixture
async def bystander(harness: IsolatedHarness) -> AsyncIterator[Bystander]:
    bystander = Bystander(harness, f"bystander-{new_id()}")
    await bystander.start()
    yield bystander
    await bystander.delete()


@pytest.fixture
def world(cluster: Cluster) -> Iterator[None]:
    """A host of the internet and a metadata service, behind the nodes' router."""
    for address in (_INTERNET, _METADATA):
        cluster.hub.run(f"ip addr replace {address}/32 dev lo")
    listening = cluster.hub.start("outside", "busybox", "nc", "-ll", "-p", "7000", "-e", "true")
    yield
    listening.end()


@pytest.fixture
def docker_engine(harness: IsolatedHarness) -> KubernetesEngine:
    """The engine of the common tests."""
    return harness.engines[0]


@pytest.fixture
async def desk(harness: IsolatedHarness, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Awaitable[Any]]:
    ours = {"/home/work", "/etc/passwd", "/dev/termination-log"}
    monkeypatch.setattr(isolation, "FROM_DISK", isolation.FROM_DISK | ours)

    async def make(*command: str, cpu: int = 500, mem_bytes: int = 64 * MIB) -> Desk:
        slots = {"cpu": cpu, "mem": mem_bytes}
        desired = ContainerSpec(new_id(), harness.image, slots, command=command or IDLE)
        return Desk(harness.engine, await harness.engine.ensure(desired, ProgressLog()))  # type: ignore[arg-type]

    return make


async def test_common_tests_that_do_not_run_need_a_capability_that_nodes_do_not_have(
    harness: IsolatedHarness,
) -> None:
    assert _ALL.keys() >= _LACKING.keys() | _OTHERWISE.keys()
    for node in await harness.engine.nodes():
        assert not node.capabilities & {*_LACKING.values()}


async def test_the_cpu_limit_is_a_quota(desk: Callable[..., Awaitable[Any]]) -> None:
    session = await desk(cpu=500)
    quota = "cat /sys/fs/cgroup/cpu.max || cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us"
    assert (await session.sh(f"exec 2>/dev/null; {quota}")).split()[0] == "50000"


async def test_a_session_reaches_the_internet_and_nothing_of_the_cluster(
    cluster: Cluster, harness: IsolatedHarness, bystander: Bystander, world: None
) -> None:
    hub = cluster.url.removeprefix("https://").partition(":")[0]
    outside = [(_INTERNET, 7000), (hub, _NAMES)]
    inside = [
        (_METADATA, 7000),
        (hub, _API_SERVER),
        *((node.address, _KUBELET) for node in cluster.nodes),
        (bystander.address, 7000),
    ]
    assert await bystander.reaches(*outside, *inside) == [True] * len(outside + inside)
    for node in cluster.nodes:
        session = await harness.session(node=node.name)

        async def confined(session=session) -> bool:  # type: ignore[no-untyped-def]
            return not any(await harness.reaches(session, *inside))

        await eventually(confined, every_s=0.1)
        assert await harness.reaches(session, *outside) == [True] * len(outside)


async def test_only_the_gateway_reaches_a_session(
    cluster: Cluster, harness: IsolatedHarness, bystander: Bystander
) -> None:
    server = await harness.session(*LISTENS, node=cluster.nodes[0].name)
    target = (server.address or "", 7000)
    others = [await harness.session(node=node.name) for node in cluster.nodes]

    async def confined() -> bool:
        answers = [await harness.reaches(other, target) for other in others]
        return not any(answer for [answer] in [*answers, await bystander.reaches(target)])

    await eventually(confined, every_s=0.1)
    reader, writer = await asyncio.wait_for(asyncio.open_connection(*target), 10)
    assert await reader.readline()
    writer.close()
    hub = f"busybox nc -w 2 {target[0]} {target[1]} </dev/null && echo REACHED || echo REFUSED"
    assert "REFUSED" in await asyncio.to_thread(cluster.hub.run, hub)


async def test_changes_of_others_to_the_policy_are_undone(cluster: Cluster, harness: IsolatedHarness) -> None:
    await harness.engine.nodes()
    path = f"{_POLICIES}/carrel-{harness.installation}"
    before = cluster.call("GET", path)
    cluster.call("PATCH", path, {"spec": {"egress": [{}], "ingress": [{}]}})
    await harness.engine.nodes()
    assert cluster.call("GET", path)["spec"] == before["spec"]
    version = cluster.call("GET", path)["metadata"]["resourceVersion"]
    await harness.engine.nodes()
    assert cluster.call("GET", path)["metadata"]["resourceVersion"] == version
    cluster.call("DELETE", path)
    await harness.another().nodes()
    assert cluster.call("GET", path)["spec"] == before["spec"]


async def test_sessions_without_folders_are_admitted_where_pod_security_is_restricted(
    cluster: Cluster, harness: IsolatedHarness
) -> None:
    access = ClusterAccess(kubeconfig=cluster.kubeconfig.read_text())
    engine = KubernetesEngine(access, harness.installation, namespace=f"made-{new_id()}")
    await engine.nodes()
    path = f"/api/v1/namespaces/{engine._names.namespace}"
    label = "pod-security.kubernetes.io"
    assert cluster.call("GET", path)["metadata"]["labels"][f"{label}/warn"] == "restricted"
    cluster.call("PATCH", path, {"metadata": {"labels": {f"{label}/enforce": "restricted"}}})
    assert (await engine.ensure(spec(harness), ProgressLog())).address
    await engine.purge()
    await engine.close()


async def test_a_self_test_finds_out_whether_policies_are_enforced(
    cluster: Cluster, harness: IsolatedHarness
) -> None:
    engine = harness.engines[0]
    assert await engine.self_test() == "It enforces network policies."
    assert await capable(harness) == [True, True]
    for node in cluster.nodes:
        node.stop_enforcing()
    try:
        result = await engine.self_test()
        assert all(
            one in result for one in ("other sessions", "nodes", "the API server", "incoming connections")
        )
        assert await capable(harness) == [False, False]
    finally:
        for node in cluster.nodes:
            node.enforce()
    pods = cluster.call("GET", f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=carrel.check")["items"]
    assert all("deletionTimestamp" in pod["metadata"] for pod in pods)


async def capable(harness: IsolatedHarness) -> list[bool]:
    """For each node, as a control plane sees it that has not done the test."""
    return [NETWORK_POLICY in node.capabilities for node in await harness.another().nodes()]
