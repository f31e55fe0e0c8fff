"""Tenstorrent Wormhole cards n150 and n300, by the files of the kernel driver; tt-smi for what older drivers lack.

Sources: tenstorrent/tt-kmd, docs/sysfs-attributes.md and hwmon.c; tenstorrent/tt-umd (TT_VISIBLE_DEVICES: PCI
addresses, or numbers that depend on the version); tenstorrent/tt-smi, "Snapshots"; tenstorrent/tt-dra-driver (what a
container gets, chips without a device file belong to the card of another).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import Field, StringConstraints

from carrel.accelerators import plugin_resources, tool_output
from carrel.accelerators.driver import (
    AcceleratorDriver,
    Card,
    MachineSettings,
    device_nodes,
    groups_of,
    missing_node,
    resources,
)
from carrel.accelerators.hardware import Machine, PciFunction, ToolError, pci_address
from carrel.accelerators.port import UNKNOWN, Attachment, Device, DeviceMetrics, Limit, MachinePath
from carrel.accelerators.tool_output import Record, number, record, records, word
from carrel.core.slots import SlotKind, SlotType
from carrel.plugins import Plugin

VENDOR_ID = "1e52"
WORMHOLE = "401e"
SMI = "tt-smi"
HUGE_PAGES = "/dev/hugepages-1G"
"""Where Tenstorrent's libraries look for pages of 1 GiB."""
MEM_GB: Mapping[str, int] = {"n150": 12, "n300": 24}
"""GDDR6 of a card, by its type. Source: Tenstorrent's specifications of the Wormhole cards."""
_CHIPS: Mapping[str, int] = {"n150": 1, "n300": 2}
_NO_ANSWER = 0xFFFFFFFF
"""What the processor reads from a PCI device that has fallen off its bus: all bits are set."""
_MILLI = 1_000
_MICRO = 1_000_000

_Directory = Annotated[str, StringConstraints(pattern=r"^(/[A-Za-z0-9_./-]+)?$", max_length=500)]


class TenstorrentSettings(MachineSettings):
    """Pages of 1 GiB, which programs need on a machine without IOMMU."""

    hugepages: _Directory = Field(
        default="",
        description="Directory of a hugetlbfs with pages of 1 GiB, such as /dev/hugepages-1G. Sessions with cards "
        "share it: they can read each other's pages. Empty: they get none, which suffices with an IOMMU.",
    )


class Tenstorrent:
    """Slots: n150.device and n300.device. An n300 is a card with two chips, and one device file for both."""

    def __init__(self, hugepages: str = "") -> None:
        self._hugepages = hugepages
        self._types: dict[str, str] = {}

    def read(self, machine: Machine) -> Sequence[Card]:
        functions = [one for one in machine.pci_functions(VENDOR_ID) if one.device == WORMHOLE]
        entries = {one.address: _entry(one, machine) for one in functions}
        rows: Mapping[str, Record] = {}
        failed = ""
        if any(not machine.text(f"{entry}/tt_card_type") for entry in entries.values() if entry):
            try:
                rows = _rows(machine)
            except ToolError as error:
                failed = str(error)
        for one in functions:
            card_type = _card_type(entries[one.address], rows.get(one.address, {}), machine)
            self._types[one.address] = card_type or self._types.get(one.address, "")
        return [
            _card(
                one,
                self._types[one.address],
                entries[one.address],
                rows.get(one.address, {}),
                failed,
                machine,
            )
            for one in functions
            if self._types[one.address] in MEM_GB
        ]

    def kinds(self, devices: Iterable[Device]) -> Sequence[SlotKind]:
        return [
            SlotKind(f"{one}.device", one, SlotType.COUNT, title=f"Tenstorrent Wormhole {one}", unit="card")
            for one in MEM_GB
        ]

    def attach(self, cards: Sequence[Card], machine: Machine) -> Attachment:
        """Its libraries number the cards that a container has from zero, in the order of PCI addresses."""
        pages = (MachinePath(self._hugepages, HUGE_PAGES, read_only=False),) if self._hugepages else ()
        return Attachment(
            env={"TT_VISIBLE_DEVICES": ",".join(card.device.pci for card in cards)},
            nodes=device_nodes(cards),
            paths=pages,
            groups=groups_of(cards),
            limits=(Limit("memlock", -1, -1),),
            resources=resources(cards, {"n150": plugin_resources.N150, "n300": plugin_resources.N300}),
        )


def _entry(function: PciFunction, machine: Machine) -> str:
    """The directory with the attributes of the kernel driver; empty if it does not drive the card."""
    place = f"sys/bus/pci/devices/{function.address}/tenstorrent"
    name = next((one for one in machine.names(place) if re.fullmatch(r"tenstorrent!\d{1,4}", one)), "")
    return f"{place}/{name}" if name else ""


def _rows(machine: Machine) -> Mapping[str, Record]:
    """The tool's answer by PCI address; chips without one are the second of a card."""
    answer = record(tool_output.run(machine, SMI, "-s", "--snapshot_no_tty"))
    rows = records(answer.get("device_info"))
    return {
        address: row
        for row in rows
        if (address := pci_address(word(record(row.get("board_info")).get("bus_id"))))
    }


def _card_type(entry: str, row: Record, machine: Machine) -> str:
    """n150 or n300. The tool says "n300 L" of the chip on the bus, and pads with blanks."""
    text = (machine.text(f"{entry}/tt_card_type") if entry else "") or word(
        record(row.get("board_info")).get("board_type")
    )
    return (text.lower().split() or [""])[0]


def _card(
    function: PciFunction, card_type: str, entry: str, row: Record, failed: str, machine: Machine
) -> Card:
    serial = (machine.text(f"{entry}/tt_serial") if entry else "") or word(
        record(row.get("board_info")).get("board_id")
    )
    node = (f"/dev/tenstorrent/{entry.rpartition('!')[2]}",) if entry else ()
    problem = _problem(entry, row, failed, machine) or missing_node(node, machine)
    return Card(
        Device(
            serial if re.fullmatch(r"[0-9A-Fa-f]{8,32}", serial) else function.address,
            card_type,
            f"Tenstorrent Wormhole {card_type}",
            set=function.numa or 0,
            pci=function.address,
            numa=function.numa,
            mem_bytes=MEM_GB[card_type] << 30,
        ),
        nodes=node,
        groups=machine.groups_of(node),
        # Of a card that does not answer the sensors have nonsense.
        metrics=UNKNOWN if problem else _metrics(function, card_type, row, machine),
        problem=problem,
    )


def _metrics(function: PciFunction, card_type: str, row: Record, machine: Machine) -> DeviceMetrics:
    """Temperature and power: Wormhole measures neither its utilization nor its memory.

    Those of an n300 are of one chip: its power is not known.
    """
    place = f"sys/bus/pci/devices/{function.address}/hwmon"
    sensors = [f"{place}/{name}" for name in machine.names(place)][:1]
    telemetry = record(row.get("telemetry"))

    def of(name: str, scale: int, field: str) -> float | None:
        values = (machine.number(f"{sensor}/{name}") for sensor in sensors)
        return next((value / scale for value in values if value is not None), number(telemetry.get(field)))

    return DeviceMetrics(
        temperature_c=of("temp1_input", _MILLI, "asic_temperature"),
        power_w=of("power1_input", _MICRO, "power") if _CHIPS[card_type] == 1 else None,
    )


def _problem(entry: str, row: Record, failed: str, machine: Machine) -> str:
    if not entry:
        return "The kernel driver does not offer it."
    if machine.number(f"{entry}/tt_heartbeat") == _NO_ANSWER:
        return "It does not answer on the PCI bus."
    if machine.text(f"{entry}/tt_card_type") or row:
        return ""
    return failed or f"{SMI} does not list it."


PLUGIN = Plugin(
    TenstorrentSettings,
    lambda settings: AcceleratorDriver(Tenstorrent(settings.hugepages), settings.machine()),
    "Tenstorrent Wormhole",
)
