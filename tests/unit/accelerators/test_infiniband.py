"""InfiniBand adapters near accelerators, in trees of files as the kernel has them."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from carrel.accelerators.hardware import Machine
from carrel.accelerators.infiniband import InfiniBand
from carrel.accelerators.port import NOTHING, Attachment, Device, DeviceNode, attach

_SWITCHES = {"18": "pci0000:15/0000:15:01.0/0000:16:00.0", "2a": "pci0000:15/0000:15:03.0/0000:29:00.0"}


class Tree:
    """Two GPUs, each behind a switch of its own, of one NUMA node."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.gpus = [self.gpu(bus) for bus in _SWITCHES]

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    def gpu(self, bus: str) -> Device:
        address = f"0000:{bus}:00.0"
        self.function(f"{_SWITCHES[bus]}/{address}", f"sys/bus/pci/devices/{address}", 0)
        return Device(f"GPU-{bus}", "cuda", pci=address, numa=0)

    def function(self, place: str, name: str, numa: int) -> None:
        self.write(f"sys/devices/{place}/numa_node", str(numa))
        link = self.root / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(self.root / "sys/devices" / place, link.parent))

    def adapter(
        self, number: int, place: str, *, layer: str = "InfiniBand", name: str = "", **states: str
    ) -> None:
        name = name or f"mlx5_{number}"
        self.function(place, f"sys/class/infiniband/{name}/device", 0)
        self.write(f"sys/devices/{place}/infiniband_verbs/uverbs{number}/dev", "231:192")
        for port, state in (states or {"port1": "4: ACTIVE"}).items():
            ports = f"sys/class/infiniband/{name}/ports/{port.removeprefix('port')}"
            self.write(f"{ports}/state", state)
            self.write(f"{ports}/link_layer", layer)
        self.write(f"dev/infiniband/uverbs{number}", "")
        self.write(f"dev/infiniband/umad{number}", "")

    def given(self, held: Mapping[str, int]) -> Attachment:
        return InfiniBand(Machine(self.root, simulated=True), enabled=True).beside(self.gpus, held)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def holding(*buses: str) -> dict[str, int]:
    return {f"GPU-{bus}": 1000 for bus in buses}


def test_a_container_has_the_adapters_behind_the_switches_of_its_devices(tree: Tree) -> None:
    tree.adapter(0, f"{_SWITCHES['18']}/0000:19:00.0")
    tree.adapter(1, f"{_SWITCHES['2a']}/0000:2b:00.0", port1="4: ACTIVE", port2="1: DOWN")
    tree.write("dev/infiniband/rdma_cm", "")
    first = tree.given(holding("18"))
    assert first.nodes == (DeviceNode("/dev/infiniband/uverbs0"), DeviceNode("/dev/infiniband/rdma_cm"))
    assert first.env == {"NCCL_IB_HCA": "=mlx5_0:1"}
    assert first.capabilities == ("IPC_LOCK",)
    assert tree.given(holding("18", "2a")).env == {"NCCL_IB_HCA": "=mlx5_0:1,mlx5_1:1"}
    assert tree.given({"GPU-18": 500}) == Attachment(env={"NCCL_IB_DISABLE": "1"})


def test_an_adapter_stays_with_a_device_that_has_fallen_off_the_bus(tree: Tree) -> None:
    tree.adapter(0, f"{_SWITCHES['18']}/0000:19:00.0")
    adapters = InfiniBand(Machine(tree.root, simulated=True), enabled=True)
    adapters.discover()
    (tree.root / "sys/bus/pci/devices/0000:18:00.0").unlink()
    assert not adapters.beside(tree.gpus, holding("2a")).nodes
    assert adapters.beside(tree.gpus, holding("18")).nodes


@pytest.mark.parametrize("place", ["pci0000:15/0000:15:05.0/0000:3a:00.0", "pci0000:80/0000:81:00.0"])
def test_an_adapter_that_is_as_near_to_several_devices_needs_all_of_them(tree: Tree, place: str) -> None:
    """Below the same root complex, or in the same NUMA node."""
    tree.adapter(0, place)
    assert not tree.given(holding("18")).nodes
    assert tree.given(holding("18", "2a")).nodes


@pytest.mark.parametrize(
    "changes",
    [{"port1": "1: DOWN"}, {"layer": "Ethernet"}, {"name": "hbl_0"}],
    ids=["inactive", "ethernet", "of a Gaudi card"],
)
def test_other_adapters_are_not_given(tree: Tree, changes: dict[str, str]) -> None:
    tree.adapter(0, f"{_SWITCHES['18']}/0000:19:00.0", **changes)
    assert not tree.given(holding("18")).nodes


def test_a_disabled_one_changes_nothing(tree: Tree) -> None:
    tree.adapter(0, f"{_SWITCHES['18']}/0000:19:00.0")
    disabled = InfiniBand(Machine(tree.root, simulated=True), enabled=False)
    assert disabled.beside(tree.gpus, holding("18")) == NOTHING
    assert attach([disabled], holding("18")) == NOTHING
