"""Accelerators of a cluster by the extended resources of its nodes, without a cluster."""

from typing import Any

import pytest
from tiny_api_server import machine

from carrel.accelerators.furiosa import Furiosa, FuriosaSettings
from carrel.accelerators.make import make
from carrel.core.slots import WHOLE, SlotType
from carrel.engines.kubernetes import extended_resources
from carrel.engines.kubernetes.pod_answers import listed, nodes, reservation
from carrel.engines.kubernetes.pods import DEFAULT_SANDBOX, PodNames, Sandbox, manifest
from carrel.engines.kubernetes.settings import KubernetesSettings
from carrel.engines.port import ContainerSpec, EngineError, NodeInfo

_NAMES = PodNames("lab", "carrel")


def node_with(**resources: str) -> Any:
    made = machine()
    made["metadata"]["labels"] = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
    made["status"]["allocatable"] |= _named(resources)
    return made


def _named(amounts: dict[str, str]) -> dict[str, str]:
    """nvidia_com__gpu is nvidia.com/gpu."""
    return {name.replace("__", "/").replace("_", "."): amount for name, amount in amounts.items()}


def pod_of_others(**requests: str) -> Any:
    return {"spec": {"nodeName": "a", "containers": [{"resources": {"requests": _named(requests)}}]}}


def ids(node: NodeInfo) -> list[str]:
    return [device.id for device in node.devices]


def pod_of(**more: Any) -> Any:
    spec = ContainerSpec("abc", "python:3.12", {"cpu": 500, "mem": 64 << 20}, **more)
    return manifest(spec, _NAMES, DEFAULT_SANDBOX, "its-secret")


def env_of(container: Any) -> dict[str, Any]:
    return {one["name"]: one.get("value") for one in container["env"]}


def test_resources_of_vendors_are_devices_with_the_slots_of_their_families() -> None:
    [node] = nodes(
        [node_with(nvidia_com__gpu="2", habana_ai__gaudi="8", example_com__npu="1", hugepages="1Gi")], []
    )
    assert ids(node)[:2] == ["habana.ai/gaudi/0", "habana.ai/gaudi/1"]
    assert ids(node)[-2:] == ["nvidia.com/gpu/0", "nvidia.com/gpu/1"]
    assert {one for one in node.slots if "." in one} == {"cuda.device", "gaudi.device"}
    assert (node.slots["cuda.device"], node.slots["gaudi.device"]) == (2, 8)
    assert node.devices[-1].model == "NVIDIA-H100-80GB-HBM3"
    [gaudi] = [one for one in node.slot_kinds if one.family == "gaudi"]
    assert not gaudi.allows(3)


def test_mig_instances_are_devices_of_their_profile_as_on_a_machine_without_cluster() -> None:
    kind = extended_resources.kind_of("nvidia.com/mig-1g.10gb.me", ())
    assert kind is not None
    assert (kind.name, kind.type) == ("cuda.mig-1g.10gb.me", SlotType.UNIQUE)


def test_families_are_those_of_the_drivers_of_machines() -> None:
    """So that a limit of a slot holds wherever a session runs."""
    installed = {kind.name for one in make({}) for kind in one.kinds()}
    names = (
        *("nvidia.com/gpu", "amd.com/gpu", "furiosa.ai/warboy", "furiosa.ai/rngd", "tenstorrent.com/n300"),
        "c600.graphcore.ai/ipu",
    )
    kinds = (extended_resources.kind_of(name, ()) for name in names)
    assert {kind.name for kind in kinds if kind} <= installed
    parts = {kind.name for kind in Furiosa(FuriosaSettings(rngd_partition="dual")).kinds(())}
    dual = extended_resources.kind_of("furiosa.ai/rngd-2core.12gb", ())
    assert dual is not None
    assert dual.name in parts


def test_other_resources_are_offered_if_the_engine_names_them() -> None:
    offered = KubernetesSettings(extended_resources=["example.com/NPU.v2"]).extended_resources
    made = machine()
    made["status"]["allocatable"]["example.com/NPU.v2"] = "3"
    [node] = nodes([made], [], extended=offered)
    assert node.slots["npu-v2.device"] == 3
    with pytest.raises(ValueError, match="extended_resources"):
        KubernetesSettings(extended_resources=["npu"])


@pytest.mark.parametrize("names", [["a.com/npu", "b.com/NPU"], ["x.com/cuda"]])
def test_two_resources_of_one_slot_are_refused(names: list[str]) -> None:
    with pytest.raises(ValueError, match="of another resource"):
        KubernetesSettings(extended_resources=names)


def test_what_is_shared_is_no_accelerator() -> None:
    [node] = nodes([node_with(nvidia_com__gpu="1k")], [])
    assert node.devices == ()
    # Time slices under the name of whole GPUs, as the plug-in offers them by default.
    for labels in (
        {"nvidia.com/gpu.replicas": "4"},
        {"nvidia.com/gpu.sharing-strategy": "mps"},
        {"nvidia.com/gpu.product": "Tesla-T4-SHARED"},
    ):
        shared = node_with(nvidia_com__gpu="4", amd_com__gpu="1")
        shared["metadata"]["labels"] |= labels
        [node] = nodes([shared], [])
        assert ids(node) == ["amd.com/gpu/0"]
    for name in ("nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb.shared", "nvidia.com/mig-x.shares"):
        assert extended_resources.kind_of(name, ()) is None


def test_units_that_pods_of_others_have_are_not_offered_but_all_that_ours_hold() -> None:
    [free] = nodes([node_with(nvidia_com__gpu="4")], [reservation(pod_of_others(nvidia_com__gpu="3"))])
    assert ids(free) == ["nvidia.com/gpu/0"]
    ours = pod_of(devices={"nvidia.com/gpu/3": WHOLE}, node="a")
    ours["metadata"] |= {"uid": "1"}
    # It waits for the cluster's scheduler.
    ours["status"] = {}
    [node] = nodes(
        [node_with(nvidia_com__gpu="4")],
        [reservation(pod_of_others(nvidia_com__gpu="2"))],
        ours=[listed(ours)],
    )
    assert ids(node) == ["nvidia.com/gpu/0", "nvidia.com/gpu/3"]
    # Two others fell out of order: that of ours is counted all the same.
    [fewer] = nodes([node_with(nvidia_com__gpu="2")], [], ours=[listed(ours)])
    assert ids(fewer) == ["nvidia.com/gpu/0", "nvidia.com/gpu/3"]


def test_a_pod_requests_its_units_for_its_session_only() -> None:
    pod = pod_of(devices={"nvidia.com/gpu/0": WHOLE, "nvidia.com/gpu/2": WHOLE, "amd.com/gpu/0": WHOLE})
    [preparing], [main] = pod["spec"]["initContainers"], pod["spec"]["containers"]
    limits = {"cpu": "500m", "memory": str(64 << 20)}
    assert main["resources"]["limits"] == {**limits, "nvidia.com/gpu": "2", "amd.com/gpu": "1"}
    assert main["resources"]["requests"] == main["resources"]["limits"]
    assert preparing["resources"]["limits"] == limits


def test_a_pod_sees_only_what_its_plug_in_gives() -> None:
    tried = {"NVIDIA_VISIBLE_DEVICES": "all", "CUDA_VISIBLE_DEVICES": "7"}
    without = pod_of(env=tried)["spec"]
    for container in (*without["initContainers"], *without["containers"]):
        assert env_of(container)["NVIDIA_VISIBLE_DEVICES"] == "void"
    pod = pod_of(devices={"nvidia.com/gpu/0": WHOLE}, env=tried)["spec"]
    [main] = pod["containers"]
    # The plug-in's value, which one of the pod would replace.
    assert "NVIDIA_VISIBLE_DEVICES" not in env_of(main)
    assert "CUDA_VISIBLE_DEVICES" not in env_of(main)
    assert env_of(main)["AMD_VISIBLE_DEVICES"] == "none"
    spec = ContainerSpec("abc", "python:3.12", {"cpu": 500}, devices={"nvidia.com/gpu/0": WHOLE})
    by_cdi: Any = manifest(spec, _NAMES, Sandbox(nvidia_by_cdi=True), "its-secret")
    assert env_of(by_cdi["spec"]["containers"][0])["NVIDIA_VISIBLE_DEVICES"] == "void"
    assert env_of(pod["initContainers"][0])["NVIDIA_VISIBLE_DEVICES"] == "void"


@pytest.mark.parametrize("devices", [{"GPU-1234": WHOLE}, {"nvidia.com/gpu/0": 500}])
def test_devices_of_a_machine_and_parts_are_refused(devices: dict[str, int]) -> None:
    with pytest.raises(EngineError, match="whole devices"):
        extended_resources.amounts(devices)
