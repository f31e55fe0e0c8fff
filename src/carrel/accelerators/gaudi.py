"""Intel Gaudi 2 and 3, by the files of the kernel driver and hl-smi.

Sources: kernel, Documentation/ABI/testing/sysfs-driver-habanalabs; Intel Gaudi documentation, "System Management
Interface Tool (hl-smi)" and the guides to several workloads on one machine and to installation in containers.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from carrel.accelerators import plugin_resources
from carrel.accelerators.driver import (
    AcceleratorDriver,
    Card,
    MachineSettings,
    device_nodes,
    groups_of,
    missing_node,
    resources,
)
from carrel.accelerators.hardware import Machine, PciFunction, ToolError, pci_address, quantity
from carrel.accelerators.port import Attachment, Device, DeviceMetrics, Limit
from carrel.core.device_blocks import Block, Blocks
from carrel.core.slots import SlotKind, SlotType
from carrel.plugins import Plugin

VENDOR_ID = "1da3"
SMI = "hl-smi"
FAMILIES: Mapping[str, str] = {"1020": "gaudi2", "1060": "gaudi3", "1063": "gaudi3"}
"""By PCI device. Source: pci.ids and the driver's table of ids."""
_TITLES = {"gaudi2": "Intel Gaudi 2", "gaudi3": "Intel Gaudi 3"}
_VALID_SETS = (1, 2, 4, 8)
_MODULES_OF_PAIR = 2
_MIB = 1 << 20
QUERY = (
    "bus_id",
    "uuid",
    "name",
    "module_id",
    "memory.total",
    "memory.used",
    "utilization.aip",
    "temperature.aip",
    "power.draw",
    "ecc.errors.uncorrected.volatile.total",
)
_OPERATIONAL = "operational"

AipRow = Mapping[str, str]
"""Of hl-smi's answer: field -> value, with its unit."""


class Gaudi:
    """Slots: gaudi2.device and gaudi3.device, of which a container gets 1, 2, 4 or 8: pairs of modules are (0, 1),
    (2, 3), (4, 5), (6, 7), and groups of four 0 to 3, 4 to 7.
    """

    def __init__(self) -> None:
        self._modules: dict[str, str] = {}
        """By PCI address: kept while hl-smi does not answer."""

    def read(self, machine: Machine) -> Sequence[Card]:
        functions = [one for one in machine.pci_functions(VENDOR_ID) if one.device in FAMILIES]
        if not functions:
            return ()
        rows, failed = _rows(machine)
        for one in functions:
            module = _module(one, rows.get(one.address, {}), machine)
            self._modules[one.address] = module or self._modules.get(one.address, "")
        cards = [
            _card(one, rows.get(one.address), self._modules[one.address], failed, machine)
            for one in functions
        ]
        return _in_blocks(cards)

    def kinds(self, devices: Iterable[Device]) -> Sequence[SlotKind]:
        return [
            SlotKind(f"{family}.device", family, SlotType.COUNT, allowed=_VALID_SETS, title=title)
            for family, title in _TITLES.items()
        ]

    def attach(self, cards: Sequence[Card], machine: Machine) -> Attachment:
        """By its files: the runtime `habana` would add network devices and all files of RDMA."""
        modules = [card.handle for card in cards if card.handle]
        return Attachment(
            env={
                "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
                **({"HABANA_VISIBLE_MODULES": ",".join(modules)} if len(modules) == len(cards) else {}),
            },
            nodes=device_nodes(cards),
            groups=groups_of(cards),
            capabilities=("SYS_NICE",),
            limits=(Limit("memlock", -1, -1),),
            resources=resources(cards, dict.fromkeys(_TITLES, plugin_resources.GAUDI)),
        )


def _rows(machine: Machine) -> tuple[Mapping[str, AipRow], str]:
    """The tool's answer by PCI address, and why it lacks some."""
    failed = ""
    try:
        text = machine.run(SMI, "-Q", ",".join(QUERY), "-f", "csv,noheader")
    except ToolError as error:
        text, failed = error.output, str(error)
    rows = [dict(zip(QUERY, map(str.strip, line.split(",")), strict=False)) for line in text.splitlines()]
    return {address: row for row in rows if (address := pci_address(row.get("bus_id", "")))}, failed


def _module(function: PciFunction, row: AipRow, machine: Machine) -> str:
    """Where it is on the board: 0 to 7; empty: unknown."""
    named = (machine.text(f"sys/bus/pci/devices/{function.address}/module_id"), row.get("module_id"))
    return next((one for one in named if one and one.isdecimal()), "")


def _in_blocks(cards: Sequence[Card]) -> Sequence[Card]:
    """With their blocks, if the modules of all are known."""
    return (
        [replace(card, device=replace(card.device, blocks=_blocks(int(card.handle)))) for card in cards]
        if all(card.handle for card in cards)
        else cards
    )


def _blocks(module: int) -> Blocks:
    return tuple([Block(f"{size}-{module // size}", size, whole=True) for size in _VALID_SETS[1:]])


def _card(function: PciFunction, row: AipRow | None, module: str, failed: str, machine: Machine) -> Card:
    place = f"sys/bus/pci/devices/{function.address}"
    row = row or {}
    nodes = _nodes(place, machine)
    metrics = _metrics(row)
    family = FAMILIES[function.device]
    uuid = row.get("uuid", "")
    return Card(
        Device(
            uuid if re.fullmatch(r"[0-9A-Za-z-]{8,64}", uuid) else function.address,
            family,
            row.get("name") or _TITLES[family],
            set=int(module) // _MODULES_OF_PAIR if module else function.numa or 0,
            pci=function.address,
            numa=function.numa,
            mem_bytes=metrics.mem_total_bytes,
        ),
        handle=module,
        nodes=nodes,
        groups=machine.groups_of(nodes),
        metrics=metrics,
        problem=_problem(machine.text(f"{place}/status"), row, failed) or missing_node(nodes, machine),
    )


def _nodes(place: str, machine: Machine) -> tuple[str, ...]:
    """The device files of a card: for computing, for control, and those of its own network ports."""
    names = [name for name in machine.names(f"{place}/accel") if re.fullmatch(r"accel\d+", name)]
    verbs = [name for name in machine.names(f"{place}/infiniband_verbs") if re.fullmatch(r"uverbs\d+", name)]
    return (
        *(f"/dev/accel/{name}" for name in names),
        *(f"/dev/accel/{name.replace('accel', 'accel_controlD')}" for name in names),
        *(f"/dev/infiniband/{name}" for name in verbs),
    )


def _metrics(row: AipRow) -> DeviceMetrics:
    def of(field: str) -> float | None:
        return quantity(row.get(field, ""))

    total, used, errors = of("memory.total"), of("memory.used"), of("ecc.errors.uncorrected.volatile.total")
    return DeviceMetrics(
        of("utilization.aip"),
        None if used is None else int(used * _MIB),
        int(total * _MIB) if total else None,
        of("temperature.aip"),
        of("power.draw"),
        None if errors is None else int(errors),
    )


def _problem(status: str | None, row: AipRow, failed: str) -> str:
    """status: "operational", "in reset after device release" after a process has ended, "needs reset" and more."""
    if status and status.lower() != _OPERATIONAL:
        return f"Its state is: {status.lower()[:60]}."
    if not row:
        return failed or "hl-smi does not list it."
    if errors := quantity(row.get("ecc.errors.uncorrected.volatile.total", "")):
        return f"Its memory has had {errors:.0f} uncorrected errors since the last reset."
    return ""


PLUGIN = Plugin(
    MachineSettings, lambda settings: AcceleratorDriver(Gaudi(), settings.machine()), "Intel Gaudi"
)
