"""SambaNova machines (DataScale SN30, SN40L), each as one device, by snfadm and sntilestat.

All RDUs are behind the same two device files: a container that has them reaches every tile of the machine. A part of a
machine cannot be given away, and with the machine comes neither its network nor InfiniBand.

Sources: pci.ids (August 2026); SambaNova, Runtime documentation (SND, snfadm in /opt/sambaflow/bin); Argonne Leadership
Computing Facility, "AI Testbed: SambaNova" (output of both tools); SambaNova's device plug-in (the resource).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from carrel.accelerators.driver import (
    AcceleratorDriver,
    Card,
    MachineSettings,
    device_nodes,
    groups_of,
    missing_node,
)
from carrel.accelerators.hardware import Machine, ToolError, quantity
from carrel.accelerators.port import UNKNOWN, Attachment, Device, DeviceMetrics, Limit
from carrel.core.slots import SlotKind, SlotType
from carrel.plugins import Plugin

VENDOR_ID = "1e0d"
FAMILY = "rdu"
FAULTS, TILES = "snfadm", "sntilestat"
RESOURCE = "sambanova.ai/rdu-tile"
NODES = ("/dev/rdu", "/dev/rdu_mem_map")
_ID = "rdu-machine"
_TITLE = "SambaNova machine"
_PART = re.compile(r"/NODE/(XRDU_\d+/RDU_\d+(?:/TILE_\d+)?)")
_TILE = re.compile(r"/XRDU_\d+/RDU_\d+/TILE_\d+\s+(\S+)")
_GOOD = ("present", "online")


@dataclass(frozen=True, slots=True)
class Part:
    """An RDU or a tile of the inventory. name: such as XRDU_0/RDU_1/TILE_3. good: it is present and online."""

    name: str
    good: bool

    @property
    def is_tile(self) -> bool:
        return "TILE" in self.name


class SambaNova:
    """Slot: rdu.machine, of which a machine has one."""

    def __init__(self) -> None:
        self._tiles, self._model = 0, _TITLE
        """Of the last inventory: kept while the tool does not answer."""

    def read(self, machine: Machine) -> Sequence[Card]:
        if not machine.pci_functions(VENDOR_ID) and not machine.names("sys/class/rdu_class"):
            return ()
        try:
            text, failed = machine.run(FAULTS, "-l", "inventory"), ""
        except ToolError as error:
            text, failed = "", str(error)
        parts = list(_parts(text))
        self._tiles = sum(part.is_tile for part in parts) or self._tiles
        self._model = _model(text) or self._model
        return [
            Card(
                Device(_ID, FAMILY, self._model),
                nodes=NODES,
                groups=machine.groups_of(NODES),
                metrics=_metrics(machine),
                problem=failed or _problem(parts) or missing_node(NODES, machine),
            )
        ]

    def kinds(self, devices: Iterable[Device]) -> Sequence[SlotKind]:
        return [
            SlotKind(f"{FAMILY}.machine", FAMILY, SlotType.UNIQUE, allowed=(1,), title=_TITLE, unit="machine")
        ]

    def attach(self, cards: Sequence[Card], machine: Machine) -> Attachment:
        return Attachment(
            nodes=device_nodes(cards),
            groups=groups_of(cards),
            limits=(Limit("memlock", -1, -1),),
            resources={RESOURCE: self._tiles} if self._tiles else {},
        )


def _parts(inventory: str) -> Iterator[Part]:
    """The RDUs and tiles in a table: component | serial number | inventory state | functional state."""
    for line in inventory.splitlines():
        name, *cells = (cell.strip() for cell in line.split("|"))
        if match := _PART.fullmatch(name):
            yield Part(match[1], tuple(cell.lower() for cell in cells[1:3]) == _GOOD)


def _model(inventory: str) -> str:
    match = re.search(r"^Platform(?: Name)?:(.*)", inventory, re.MULTILINE)
    return f"SambaNova {match[1].strip()}" if match and match[1].strip() else ""


def _metrics(machine: Machine) -> DeviceMetrics:
    """The tiles' utilization is the share of time in which they are not idle; there is no other measurement."""
    try:
        lines = machine.run(TILES).splitlines()
    except ToolError:
        return UNKNOWN
    idle = [
        value for line in lines if (match := _TILE.match(line)) and (value := quantity(match[1])) is not None
    ]
    if not idle or max(idle) > 100:
        return UNKNOWN
    return DeviceMetrics(utilization_percent=round(100 - sum(idle) / len(idle), 1))


def _problem(parts: Sequence[Part]) -> str:
    if not parts:
        return f"{FAULTS} lists no RDU."
    bad = [part.name for part in parts if not part.good]
    return f"{len(bad)} of its RDUs and tiles are not online: {', '.join(bad[:3])}." if bad else ""


PLUGIN = Plugin(
    MachineSettings, lambda settings: AcceleratorDriver(SambaNova(), settings.machine()), "SambaNova machines"
)
