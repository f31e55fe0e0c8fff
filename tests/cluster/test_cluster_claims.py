"""Devices that pods get by claims: a real scheduler, kubelet and containerd, and a driver with a simulated machine."""

import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from claim_plugin import ClaimPlugin, claims
from cluster_images import tiny
from cluster_installation import Installation, Pods
from own_cluster import Cluster
from people import eventually
from service_accounts import NAMESPACE, by_token
from simulated_accelerators import driver, tree

from carrel.accelerators.nvidia import Nvidia
from carrel.accelerators.port import UNKNOWN, DeviceMetrics
from carrel.core.slots import WHOLE
from carrel.engines.conformance_kit import ProgressLog, run
from carrel.engines.kubernetes import KubernetesEngine
from carrel.engines.kubernetes.device_classes import parsed
from carrel.engines.port import ContainerSpec, NodeInfo, ObservedState
from carrel.tables.session_states import SessionState as S

_CLASS = "gpu.example.com"
_EXPORTER = "/api/v1/nodes/{node}:9400/proxy/metrics"
_CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
_LOOK = "echo $NVIDIA_VISIBLE_DEVICES $CUDA_VISIBLE_DEVICES; cd /dev; ls | grep -x 'nvidia[0-9]*' || :"


def make(cluster: Cluster, label: str, **more: Any) -> KubernetesEngine:
    kinds = parsed([f"{_CLASS}=cuda.device"])
    return KubernetesEngine(by_token(cluster), label, namespace=NAMESPACE, device_classes=kinds, **more)


@pytest.fixture
def plug_in(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[ClaimPlugin]:
    """Its devices have no UUIDs if its parameter says so."""
    machine = driver(Nvidia(), tree(cluster.folder / "simulated", "h100x2"))
    anonymous = bool(getattr(request, "param", False))
    with ClaimPlugin(cluster, cluster.nodes[0], _CLASS, machine, anonymous=anonymous) as plug_in:
        yield plug_in


@pytest.fixture
async def engine(cluster: Cluster, plug_in: ClaimPlugin) -> AsyncIterator[KubernetesEngine]:
    """Purged before the driver goes, without which no pod with its devices ends."""
    engine = make(cluster, f"test-{uuid.uuid4().hex[:8]}", device_metrics_url=_EXPORTER)
    yield engine
    await engine.purge()
    await engine.close()


async def offered(engine: KubernetesEngine) -> list[str]:
    return [device.id for device in (await first(engine)).devices]


async def inside(engine: KubernetesEngine, container: str) -> list[str]:
    """What a container has of accelerators."""
    return (await run(engine, container, "sh", "-c", _LOOK)).stdout.decode().split()


async def first(engine: KubernetesEngine) -> NodeInfo:
    [mine] = [one for one in await engine.nodes() if one.name == "node-a"]
    return mine


def holding(*devices: str) -> ContainerSpec:
    held = dict.fromkeys(devices, WHOLE)
    slots = {"cpu": 100, "mem": 64 << 20}
    return ContainerSpec("abc", tiny("work"), slots, command=("sleep", "1000"), node="node-a", devices=held)


def allocated(claim: Any) -> list[str]:
    return [one["device"] for one in claim["status"]["allocation"]["devices"]["results"]]


async def test_sessions_get_the_devices_that_were_planned_and_give_them_back(
    cluster: Cluster, installation: Installation, engine: KubernetesEngine, plug_in: ClaimPlugin
) -> None:
    async def known() -> bool:
        await installation.round()
        row = installation.look.execute("SELECT slots FROM nodes WHERE name = 'node-a'").fetchone()
        return bool(row and row[0].get("cuda.device") == 2)

    await eventually(known)
    described = (await first(engine)).devices
    assert {one.model for one in described} == {"NVIDIA H100 80GB HBM3"}
    assert all((one.mem_bytes or 0) > 70 << 30 for one in described)
    both = [await installation.create(accelerators={"cuda.device": 1}) for _ in range(2)]
    none = await installation.create(node="node-a")
    for session in (*both, none):
        await installation.until(session, S.RUNNING)
    # The scheduler gives each pod the device that was planned for it, and the driver prepares it on the node.
    planned: dict[Any, Any] = dict(
        installation.look.execute(
            "SELECT session_id, devices FROM allocations WHERE released_at IS NULL AND devices <> '{}'"
        ).fetchall()
    )
    assert len(planned) == 2
    names = {one.id: f"gpu-{number}" for number, one in enumerate(described)}
    expected = {
        container: [names[device] for device in planned[session]]
        for session in both
        for container in installation.containers_of(session).values()
    }
    assert {
        one["metadata"]["labels"]["carrel.id"]: allocated(one) for one in claims(cluster, NAMESPACE)
    } == expected
    assert sorted(plug_in.prepared.values()) == [["gpu-0"], ["gpu-1"]]
    # From inside, each has its device, and no other.
    seen = [await inside(engine, *installation.containers_of(session).values()) for session in both]
    held = [device for session in both for device in planned[session]]
    assert seen == [
        [device.rpartition("/")[2], "0", names[device].replace("gpu-", "nvidia")] for device in held
    ]
    assert await inside(engine, *installation.containers_of(none).values()) == ["void"]
    waiting = await installation.create(accelerators={"cuda.device": 1})
    await installation.round()
    assert "cuda.device" in installation.reason(waiting)
    # Whoever waits gets the device of one that ends, at the first attempt.
    await installation.remove(both[0])
    await installation.until(waiting, S.RUNNING)
    attempts: dict[Any, int] = dict(installation.look.execute("SELECT id, attempts FROM sessions").fetchall())
    assert attempts[waiting] == attempts[both[0]]
    assert await inside(engine, *installation.containers_of(waiting).values()) == seen[0]
    assert sorted(plug_in.prepared.values()) == [["gpu-0"], ["gpu-1"]]
    for session in (both[1], waiting):
        await installation.remove(session)
        await installation.until(session, S.TERMINATED)
    assert claims(cluster, NAMESPACE) == []
    assert plug_in.prepared == {}


async def test_a_start_that_was_interrupted_before_the_claim_goes_on(
    cluster: Cluster, engine: KubernetesEngine, plug_in: ClaimPlugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    [device, _] = await offered(engine)

    async def killed(*_: object) -> None:
        raise InterruptedError

    monkeypatch.setattr(engine._claimed, "claim", killed)
    with pytest.raises(InterruptedError):
        await engine.ensure(holding(device), ProgressLog())
    assert [one.state for one in await engine.list()] == [ObservedState.STARTING]
    assert claims(cluster, NAMESPACE) == []
    successor = make(cluster, engine._names.installation)
    seen = await successor.ensure(holding(device), ProgressLog())
    assert seen.state is ObservedState.RUNNING
    assert len(claims(cluster, NAMESPACE)) == 1
    assert [len(one) for one in plug_in.prepared.values()] == [1]
    # Nothing of it is left, also of one that goes without having had its claim.
    await successor.remove("abc", grace_s=0)
    assert claims(cluster, NAMESPACE) == []
    with pytest.raises(InterruptedError):
        await engine.ensure(holding(device), ProgressLog())
    await successor.remove("abc", grace_s=0)
    assert list(await successor.list()) == []
    await successor.close()


async def test_devices_of_claims_of_others_are_not_offered(
    cluster: Cluster, engine: KubernetesEngine, plug_in: ClaimPlugin, pods: Pods
) -> None:
    both = await offered(engine)
    request = {"name": "one", "exactly": {"deviceClassName": _CLASS}}
    claim = {"metadata": {"name": "other"}, "spec": {"devices": {"requests": [request]}}}
    cluster.call("POST", _CLAIMS, claim)
    container = {
        "name": "main",
        "image": tiny("work"),
        "imagePullPolicy": "Never",
        "command": ["sleep", "600"],
        "resources": {"claims": [{"name": "gpu"}]},
    }
    spec = {
        "terminationGracePeriodSeconds": 0,
        "containers": [container],
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "other"}],
    }
    cluster.call("POST", "/api/v1/namespaces/default/pods", {"metadata": {"name": "other"}, "spec": spec})

    async def one_left() -> bool:
        return len(await offered(engine)) == 1

    await eventually(one_left)
    # It is there, and in order.
    assert len((await first(engine)).device_states) == 2
    cluster.call("DELETE", "/api/v1/namespaces/default/pods/other")
    cluster.call("DELETE", f"{_CLAIMS}/other")

    async def all_again() -> bool:
        return await offered(engine) == both

    await eventually(all_again)


@pytest.mark.parametrize("plug_in", ["anonymous"], indirect=True)
async def test_devices_that_cannot_be_told_apart_are_units(
    engine: KubernetesEngine, plug_in: ClaimPlugin
) -> None:
    assert await offered(engine) == [f"{_CLASS}/0", f"{_CLASS}/1"]
    await engine.ensure(holding(f"{_CLASS}/1", f"{_CLASS}/0"), ProgressLog())
    assert sorted(*plug_in.prepared.values()) == ["gpu-0", "gpu-1"]
    [uuids, *others] = await inside(engine, "abc")
    assert uuids.count("GPU-") == 2
    assert others == ["0,1", "nvidia0", "nvidia1"]
    assert await offered(engine) == [f"{_CLASS}/0", f"{_CLASS}/1"]


async def test_a_device_with_a_taint_is_out_of_order(engine: KubernetesEngine, plug_in: ClaimPlugin) -> None:
    [_, kept] = await offered(engine)
    plug_in.tainted = {"gpu-0": "example.com/broken"}
    plug_in.publish()
    node = await first(engine)
    assert [one.id for one in node.devices] == [kept]
    assert [one.problem for one in node.device_states if not one.healthy] == [
        "The cluster keeps it back: example.com/broken."
    ]


async def test_devices_are_measured_by_an_exporter_of_their_node(
    cluster: Cluster, engine: KubernetesEngine, plug_in: ClaimPlugin
) -> None:
    node, folder = cluster.nodes[0], cluster.folder / "exporter"
    folder.mkdir()
    [device, other] = await offered(engine)
    labels = f'UUID="{device.rpartition("/")[2]}",pod="x"'
    series = {"GPU_UTIL": 37, "FB_USED": 1024, "FB_FREE": 3072, "GPU_TEMP": 41}
    lines = [f"DCGM_FI_DEV_{name}{{{labels}}} {value}\n" for name, value in series.items()]
    (folder / "metrics").write_text("".join(lines))
    program = node.start("exporter", sys.executable, "-m", "http.server", "9400", "--directory", str(folder))
    try:

        async def known() -> bool:
            return {one.device.id: one.metrics for one in (await first(engine)).device_states} == {
                device: DeviceMetrics(37.0, 1 << 30, 4 << 30, 41.0, None),
                other: UNKNOWN,
            }

        await eventually(known)
        await engine.ensure(holding(device), ProgressLog())

        async def used() -> bool:
            return [one.accelerator_percent for one in await engine.usage()] == [37]

        await eventually(used)
    finally:
        program.end()
