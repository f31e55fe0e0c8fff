"""Graphcore C600 cards, by their device files and gc-inventory.

Not IPU-Machines and IPU-PODs, whose IPUs are reached over a network: a file says there which ones a program uses, but
keeps it from no other one. What would, partitions of V-IPU with an owner each, no driver can give to a container.

Sources: Graphcore, "Command Line Tools" (device attributes of a C600 system; the tool for containers and its device
files); "IPU Programmer's Guide" (tiles and their memory); "Kubernetes IPU Device Plugin User Guide" (the resource);
"C600 IPU-Processor Card", data sheet (clusters of up to eight cards).
"""

import re
from collections.abc import Iterable, Mapping, Sequence

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
from carrel.accelerators.tool_output import record, records, run, word
from carrel.core.slots import SlotKind, SlotType
from carrel.plugins import Plugin

VENDOR_ID = "1d95"
FAMILY = "c600"
INVENTORY = "gc-inventory"
_BOARD = "C600"
_TITLE = "Graphcore C600"
_VALID_SETS = (1, 2, 4, 8)
_MEM_BYTES = 1472 * 624 * 1024
"""Of the tiles. What the tool calls active and total size is memory of the machine, for exchanges."""
NODES = ("/dev/ipu{}", "/dev/ipu{}_ex", "/dev/ipu{}_mailbox", "/dev/ipu{}_mem")
"""Parts of a card; drivers differ in whether they have the last two."""
_NO_ERRORS = ("", "no errors")

Attributes = Mapping[str, str]
"""Of a device in gc-inventory: name -> value, with its unit."""


class Graphcore:
    """Slot: c600.device, of which a container gets 1, 2, 4 or 8. Other boards than the C600 are not offered."""

    def __init__(self) -> None:
        self._numbers: dict[str, str] = {}
        """By PCI address: of the device files. Kept while the tool does not answer."""

    def read(self, machine: Machine) -> Sequence[Card]:
        functions = machine.pci_functions(VENDOR_ID)
        if not functions:
            return ()
        try:
            listed, failed = _inventory(machine), ""
        except ToolError as error:
            listed, failed = {}, str(error)
        self._numbers.update({address: one["sysfs file id"] for address, one in listed.items()})
        self._numbers.update(_linked(machine))
        return [
            _card(one, listed.get(one.address), failed, self._numbers.get(one.address, ""), machine)
            for one in functions
        ]

    def kinds(self, devices: Iterable[Device]) -> Sequence[SlotKind]:
        return [SlotKind(f"{FAMILY}.device", FAMILY, SlotType.COUNT, allowed=_VALID_SETS, title=_TITLE)]

    def attach(self, cards: Sequence[Card], machine: Machine) -> Attachment:
        return Attachment(
            nodes=device_nodes(cards),
            groups=groups_of(cards),
            limits=(Limit("memlock", -1, -1),),
            resources=resources(cards, {FAMILY: plugin_resources.C600}),
        )


def _inventory(machine: Machine) -> Mapping[str, Attributes]:
    """The tool's answer by PCI address. Devices of several IPUs have none, nor those on a network."""
    listed: dict[str, Attributes] = {}
    for device in records(record(run(machine, INVENTORY, "-2")).get("devices")):
        attributes = {"sysfs file id": ""} | {name: word(value) for name, value in device.items()}
        if address := pci_address(attributes.get("pci id", "")):
            listed.setdefault(address, attributes)
    return listed


def _linked(machine: Machine) -> Mapping[str, str]:
    """The numbers of device files by PCI address, as far as sysfs has them."""
    numbers = {}
    for path in machine.nodes("/dev/ipu*"):
        if (match := re.fullmatch(r"/dev/ipu(\d+)", path)) and (address := machine.address_of(path)):
            numbers[address] = match[1]
    return numbers


def _card(
    function: PciFunction, attributes: Attributes | None, failed: str, number: str, machine: Machine
) -> Card:
    attributes = attributes or {}
    serial = attributes.get("board serial number", "")
    main, *others = (node.format(number) for node in NODES)
    nodes = (main, *filter(machine.has_node, others)) if re.fullmatch(r"\d{1,4}", number) else ()
    return Card(
        Device(
            serial if re.fullmatch(r"[0-9A-Za-z.-]{6,64}", serial) else function.address,
            FAMILY,
            f"Graphcore {attributes.get('board type') or _BOARD}",
            set=function.numa or 0,
            pci=function.address,
            numa=function.numa,
            mem_bytes=_MEM_BYTES,
        ),
        nodes=nodes,
        groups=machine.groups_of(nodes),
        metrics=_metrics(attributes),
        problem=_problem(attributes, failed) or missing_node(nodes, machine),
    )


def _metrics(attributes: Attributes) -> DeviceMetrics:
    """A C600 has no sensor for the power of the IPU, but for that of the board."""

    def of(*names: str) -> float | None:
        values = (quantity(attributes.get(name, "")) for name in names)
        return next((value for value in values if value is not None), None)

    return DeviceMetrics(
        utilization_percent=of("ipu utilisation"),
        temperature_c=of("average die temp", "average board temp"),
        power_w=of("ipu power", "total board power"),
    )


def _problem(attributes: Attributes, failed: str) -> str:
    if not attributes:
        return failed or f"{INVENTORY} does not list it."
    if (board := attributes.get("board type", "")) and board.upper() != _BOARD:
        return f"It is a board of type {board[:40]}; only {_BOARD} is supported."
    state = attributes.get("ipu error state", "")
    return "" if state.lower() in _NO_ERRORS else f"Its error state is: {state[:100]}."


PLUGIN = Plugin(
    MachineSettings, lambda settings: AcceleratorDriver(Graphcore(), settings.machine()), "Graphcore C600"
)
