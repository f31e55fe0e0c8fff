"""InfiniBand adapters near accelerators, for programs that compute on several machines.

An adapter belongs to the devices that are nearest on the PCI bus. A container has it if it has all of these as a
whole, so that no two containers share one.

Sources: kernel, Documentation/ABI/stable/sysfs-class-infiniband and Documentation/infiniband/user_verbs; NVIDIA, "NCCL
environment variables" (NCCL_IB_HCA, NCCL_IB_DISABLE).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from carrel.accelerators.hardware import Machine
from carrel.accelerators.port import NOTHING, Attachment, Device, DeviceNode, Limit
from carrel.core.slots import WHOLE, SlotKind
from carrel.plugins import Plugin

_CLASS = "sys/class/infiniband"
_BUS = "sys/bus/pci/devices"
_CONNECTIONS = "/dev/infiniband/rdma_cm"
_ACTIVE = "4: ACTIVE"
_OWN_PORTS = re.compile(r"hbl_|hlib_")
"""Network ports of Gaudi cards, which come with the card."""
_ROOT_COMPLEX = 3
"""Common components of paths below the same one: sys, devices, pci0000:15."""


class InfiniBandSettings(BaseModel):
    model_config = ConfigDict(frozen=True)

    enabled: bool = Field(
        default=False,
        description="Sessions that have all accelerators near an InfiniBand adapter have the adapter too. They reach "
        "whatever the fabric allows this machine.",
    )


@dataclass(frozen=True, slots=True)
class _Adapter:
    """path: its place on the PCI bus, as components. ports: that are active."""

    name: str
    path: tuple[str, ...]
    numa: int | None
    ports: tuple[str, ...]
    node: str


class InfiniBand:
    """No devices of its own: `beside` has what containers with devices of others get."""

    def __init__(self, machine: Machine, *, enabled: bool) -> None:
        self._machine, self._enabled = machine, enabled
        self._paths: dict[str, tuple[str, ...]] = {}
        """By PCI address: a device that has fallen off the bus keeps its adapter, which others would get otherwise."""

    def discover(self) -> Sequence[Device]:
        self._learn()
        return ()

    def kinds(self) -> Sequence[SlotKind]:
        return ()

    def attach(self, held: Mapping[str, int]) -> Attachment:
        return NOTHING

    def beside(self, devices: Sequence[Device], held: Mapping[str, int]) -> Attachment:
        if not self._enabled:
            return NOTHING
        self._learn()
        adapters = [
            one
            for one in _adapters(self._machine)
            if (near := self._near(one, devices)) and all(held.get(each.id, 0) == WHOLE for each in near)
        ]
        if not adapters:
            return Attachment(env={"NCCL_IB_DISABLE": "1"})
        nodes = [one.node for one in adapters]
        if self._machine.has_node(_CONNECTIONS):
            nodes.append(_CONNECTIONS)
        ports = [f"{one.name}:{port}" for one in adapters for port in one.ports]
        return Attachment(
            env={"NCCL_IB_HCA": f"={','.join(ports)}"},
            nodes=tuple(map(DeviceNode, nodes)),
            groups=self._machine.groups_of(nodes),
            capabilities=("IPC_LOCK",),
            limits=(Limit("memlock", -1, -1),),
        )

    def _near(self, adapter: _Adapter, devices: Sequence[Device]) -> Sequence[Device]:
        """The devices to which it belongs: nearest on the bus, otherwise all of its NUMA node."""
        paths = {one.id: self._paths[one.pci] for one in devices if one.pci in self._paths}
        common = {id: _common(path, adapter.path) for id, path in paths.items()}
        nearest = max(common.values(), default=0)
        if nearest >= _ROOT_COMPLEX:
            return [one for one in devices if common.get(one.id) == nearest]
        return [one for one in devices if one.numa == adapter.numa is not None]

    def _learn(self) -> None:
        for address in self._machine.names(_BUS) if self._enabled else ():
            if address not in self._paths:
                self._paths[address] = self._machine.path_of(f"{_BUS}/{address}")


def _adapters(machine: Machine) -> Sequence[_Adapter]:
    """Those with an active port of an InfiniBand fabric; not Ethernet, whose addresses are of another network."""
    adapters = []
    for name in machine.names(_CLASS):
        place = f"{_CLASS}/{name}"
        ports = tuple(
            port
            for port in machine.names(f"{place}/ports")
            if machine.text(f"{place}/ports/{port}/state") == _ACTIVE
            and machine.text(f"{place}/ports/{port}/link_layer") == "InfiniBand"
        )
        verbs = [one for one in machine.names(f"{place}/device/infiniband_verbs") if one.startswith("uverbs")]
        node = f"/dev/infiniband/{verbs[0]}" if verbs else ""
        if ports and node and machine.has_node(node) and not _OWN_PORTS.match(name):
            path = machine.path_of(f"{place}/device")
            adapters.append(_Adapter(name, path, machine.numa(f"{place}/device/numa_node"), ports, node))
    return adapters


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many components at the start are the same."""
    return next(
        (count for count, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs),
        min(len(one), len(other)),
    )


PLUGIN = Plugin(
    InfiniBandSettings,
    lambda settings: InfiniBand(Machine(), enabled=settings.enabled),
    "InfiniBand adapters near accelerators",
)
