"""Accelerators of a cluster: a real kubelet, and a device plug-in that serves a simulated machine."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_images import tiny
from cluster_installation import Installation, Pods
from cluster_node import Node
from device_plugin import DevicePlugin
from own_cluster import Cluster
from people import eventually
from simulated_accelerators import driver, tree

from carrel.accelerators.gaudi import Gaudi
from carrel.accelerators.nvidia import VENDOR_ID, Nvidia
from carrel.core.ids import SessionId
from carrel.engines.conformance_kit import run
from carrel.engines.kubernetes import KubernetesEngine
from carrel.tables.session_states import SessionState as S

_LOOK = "echo $NVIDIA_VISIBLE_DEVICES; ls /dev | grep nvidia; env | grep -c HABANA_VISIBLE_MODULES || :"


@pytest.fixture
def machine_tree(cluster: Cluster) -> Path:
    """The simulated machine, in a folder that the nodes see."""
    return tree(cluster.folder / "simulated", "h100x2,gaudi3x4")


@pytest.fixture
def plug_in(cluster: Cluster, machine_tree: Path) -> Iterator[DevicePlugin]:
    folder = cluster.nodes[0].device_plugins
    with DevicePlugin("nvidia.com/gpu", driver(Nvidia(), machine_tree), folder) as plug_in:
        yield plug_in


async def offered(engine: KubernetesEngine, node: Node, slot: str) -> int:
    [mine] = [one for one in await engine.nodes() if one.name == node.name]
    return mine.slots.get(slot, 0)


async def seen(engine: KubernetesEngine, installation: Installation, session: SessionId) -> list[str]:
    """What a session sees of accelerators."""
    [container] = installation.containers_of(session).values()
    ran = await run(engine, container, "sh", "-c", _LOOK)
    return ran.stdout.decode().split()


async def test_sessions_get_the_devices_that_the_plug_in_gives_and_no_others(
    cluster: Cluster, installation: Installation, engine: KubernetesEngine, plug_in: DevicePlugin
) -> None:
    node = cluster.nodes[0]

    async def known() -> bool:
        await installation.round()
        [slots] = installation.look.execute(
            "SELECT slots FROM nodes WHERE name = %s", (node.name,)
        ).fetchone()
        return bool(slots.get("cuda.device") == 2)

    await eventually(known)
    both = [await installation.create(accelerators={"cuda.device": 1}) for _ in range(2)]
    none = await installation.create(node=node.name)
    for session in (*both, none):
        await installation.until(session, S.RUNNING)
    waiting = await installation.create(accelerators={"cuda.device": 1})
    await installation.round()
    assert "cuda.device" in installation.reason(waiting)
    [first, second] = [await seen(engine, installation, session) for session in both]
    assert first[0] != second[0]
    for one in (first, second):
        assert one[0].startswith("GPU-")
        # Its own device, and those for control.
        assert len([name for name in one if re.fullmatch(r"nvidia\d+", name)]) == 1
        assert one[-1] == "0"
    assert await seen(engine, installation, none) == ["void", "0"]
    # Whoever waits gets the device of one that ends.
    await installation.remove(both[0])
    await installation.until(waiting, S.RUNNING)
    assert (await seen(engine, installation, waiting))[0] == first[0]


async def test_a_device_that_its_plug_in_calls_unhealthy_is_not_offered(
    cluster: Cluster, engine: KubernetesEngine, plug_in: DevicePlugin, machine_tree: Path
) -> None:
    node = cluster.nodes[0]
    vendors = (machine_tree / "sys/bus/pci/devices").glob("*/vendor")
    lost = next(one for one in vendors if one.read_text().strip() == f"0x{VENDOR_ID}")
    kept = lost.rename(lost.with_name("kept"))
    try:

        async def one() -> bool:
            plug_in.changed()
            return await offered(engine, node, "cuda.device") == 1

        await eventually(one)
    finally:
        kept.rename(lost)


async def test_units_that_pods_of_others_have_are_not_offered(
    cluster: Cluster, engine: KubernetesEngine, machine_tree: Path, pods: Pods
) -> None:
    node = cluster.nodes[1]
    resources = {"limits": {"habana.ai/gaudi": "3"}}
    other = {
        "metadata": {"name": "other"},
        "spec": {
            "nodeName": node.name,
            "terminationGracePeriodSeconds": 0,
            "containers": [
                {
                    "name": "main",
                    "image": tiny("work"),
                    "imagePullPolicy": "Never",
                    "command": ["sleep", "600"],
                    "resources": resources,
                }
            ],
        },
    }

    async def offers(count: int) -> None:
        async def so_many() -> bool:
            return await offered(engine, node, "gaudi.device") == count

        await eventually(so_many)

    with DevicePlugin("habana.ai/gaudi", driver(Gaudi(), machine_tree), node.device_plugins):
        await offers(4)
        cluster.call("POST", "/api/v1/namespaces/default/pods", other)
        await offers(1)
        cluster.call("DELETE", "/api/v1/namespaces/default/pods/other")
        await offers(4)
