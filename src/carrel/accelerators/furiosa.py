"""FuriosaAI Warboy and RNGD, by the files of the kernel drivers and furiosa-smi.

Sources: furiosa-ai/device-api (files of sysfs and their meaning), furiosa-ai/libfuriosa-kubernetes (device files of a
card and of a group of its cores, CDI), furiosa-ai/furiosa-device-plugin (names of resources); FuriosaAI documentation,
"Furiosa SMI CLI" and "Container Support".
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from carrel.accelerators import cdi, plugin_resources, tool_output
from carrel.accelerators.driver import (
    AcceleratorDriver,
    Card,
    MachineSettings,
    device_nodes,
    groups_of,
    missing_node,
    resources,
)
from carrel.accelerators.hardware import Machine, PciFunction, ToolError, ToolMissing, pci_address
from carrel.accelerators.port import Attachment, Device, DeviceMetrics, Limit
from carrel.accelerators.tool_output import Record, number, percent, record, records, word
from carrel.core.slots import SlotKind, SlotType
from carrel.plugins import Plugin

VENDOR_ID = "1ed2"
SMI = "furiosa-smi"
CDI_KIND = "furiosa.ai/npu"
PLATFORM = "FuriosaAI"
"""Of real cards; an emulator says VITIS."""
_OUTPUT_OPTIONS = ("--format", "--output")
"""The second is that of versions for Warboy."""
_NOT_ALIVE = re.compile(r"\b(not|dead|false|fail\w*|hang\w*)\b|^0$", re.IGNORECASE)

Partition = Literal["none", "single", "dual", "quad"]
_CORES: Mapping[Partition, int] = {"none": 0, "single": 1, "dual": 2, "quad": 4}


@dataclass(frozen=True, slots=True)
class _Chip:
    """family: of whole cards. mem_gb: 0: not published. nodes: start of the names of its device files. alive: file of
    sysfs that has 1.
    """

    family: str
    title: str
    cores: int
    mem_gb: int
    class_directory: str
    entry: str
    nodes: str
    alive: str


_WARBOY = _Chip(
    "warboy", "FuriosaAI Warboy", 2, 16, "sys/class/npu_mgmt", r"(npu\d{1,3})_mgmt", "/dev/", "alive"
)
_RNGD = _Chip(
    "rngd",
    "FuriosaAI RNGD",
    8,
    48,
    "sys/class/rngd_mgmt",
    r"rngd!(npu\d{1,3})mgmt",
    "/dev/rngd/",
    "device_state",
)
CHIPS: Mapping[str, _Chip] = {
    "0000": _WARBOY,
    "0001": _RNGD,
    "0002": replace(_RNGD, family="rngd-plus", title="FuriosaAI RNGD+", mem_gb=0),
    "2222": replace(_RNGD, family="rngd-s", title="FuriosaAI RNGD-S", mem_gb=0),
}
"""By PCI device. Source: pci.ids, August 2026."""
_DIVIDED = (_WARBOY, _RNGD)
"""Those whose cores can be given in groups."""


class FuriosaSettings(MachineSettings):
    """Whether cards are given as a whole or as groups of their cores; the same for all cards of the machine."""

    rngd_partition: Partition = Field(
        default="none",
        description="Cores of RNGD in a device: single 1, dual 2, quad 4; none: the whole card.",
    )
    warboy_partition: Literal["none", "single"] = Field(
        default="none", description="Cores of Warboy in a device: single 1; none: the whole card, both fused."
    )


@dataclass(frozen=True, slots=True)
class _CoreGroup:
    """What a device has of a card: all of it or a group of its cores."""

    chip: _Chip
    cores: range

    @property
    def is_card(self) -> bool:
        return len(self.cores) == self.chip.cores

    @property
    def family(self) -> str:
        count = len(self.cores)
        mem_gb = self.chip.mem_gb * count // self.chip.cores
        return self.chip.family if self.is_card else f"{self.chip.family}.{count}core.{mem_gb}gb"

    @property
    def named_cores(self) -> str:
        """As device files and FURIOSA_DEVICES name them: 3, or 4-7."""
        return "-".join(str(core) for core in sorted({self.cores[0], self.cores[-1]}))


def _core_groups(chip: _Chip, partition: Partition) -> list[_CoreGroup]:
    size = _CORES[partition] if chip in _DIVIDED else 0
    size = size or chip.cores
    return [_CoreGroup(chip, range(first, first + size)) for first in range(0, chip.cores, size)]


@dataclass(frozen=True, slots=True)
class _Board:
    """A card in sysfs. name: of the kernel driver, such as npu0; empty: it does not drive the card."""

    function: PciFunction
    chip: _Chip
    name: str = ""
    place: str = ""
    identifier: str = ""


class Furiosa:
    """Slots: warboy.device, rngd.device, or with groups of cores such as rngd.2core.12gb and warboy.1core.8gb."""

    def __init__(self, settings: FuriosaSettings | None = None) -> None:
        settings = settings or FuriosaSettings()
        self._partitions: Mapping[str, Partition] = {
            _RNGD.family: settings.rngd_partition,
            _WARBOY.family: settings.warboy_partition,
        }
        self._options: Sequence[str] = _OUTPUT_OPTIONS
        self._identifiers: dict[str, str] = {}
        self._in_cdi: frozenset[str] = frozenset()

    def read(self, machine: Machine) -> Sequence[Card]:
        boards = [
            _board(one, CHIPS[one.device], machine)
            for one in machine.pci_functions(VENDOR_ID)
            if one.device in CHIPS
        ]
        if not boards:
            return ()
        info: Mapping[str, Record] = {}
        status: Mapping[str, Record] = {}
        failed = ""
        try:
            info = self._answer(machine, "info", "pci_bdf")
            status = self._answer(machine, "status", "device")
        except ToolMissing:
            pass
        except ToolError as error:
            failed = str(error)
        self._in_cdi = cdi.names(machine, CDI_KIND)
        self._identify(boards)
        return [
            self._card(
                one, group, info.get(one.function.address, {}), status.get(one.name, {}), failed, machine
            )
            for one in boards
            for group in _core_groups(one.chip, self._partition(one.chip))
        ]

    def kinds(self, devices: Iterable[Device]) -> Sequence[SlotKind]:
        families = {chip.family: chip.title for chip in CHIPS.values()}
        divided = [
            group
            for chip in _DIVIDED
            if self._partition(chip) != "none"
            for group in _core_groups(chip, self._partition(chip))[:1]
        ]
        return (
            *(
                SlotKind(f"{family}.device", family, SlotType.COUNT, title=title, unit="card")
                for family, title in families.items()
            ),
            *(
                SlotKind(
                    group.family,
                    group.family,
                    SlotType.COUNT,
                    title=f"{group.chip.title}, {len(group.cores)} of {group.chip.cores} cores",
                    unit="group",
                )
                for group in divided
            ),
        )

    def attach(self, cards: Sequence[Card], machine: Machine) -> Attachment:
        """The files of the cards, or by CDI, which gives the same files of whole cards."""
        named = {
            group.family: plugin_resources.part_of(plugin_resources.RNGD, group.family.partition(".")[2])
            for partition in _CORES
            for group in _core_groups(_RNGD, partition)
        } | {_RNGD.family: plugin_resources.RNGD, _WARBOY.family: plugin_resources.WARBOY}
        by_files = Attachment(
            env={"FURIOSA_DEVICES": ",".join(card.handle for card in cards)},
            nodes=device_nodes(cards),
            groups=groups_of(cards),
            limits=(Limit("memlock", -1, -1),),
            resources=resources(cards, named),
        )
        names = [card.handle.replace(":", "") for card in cards]
        if machine.simulated or not self._in_cdi.issuperset(names):
            return by_files
        return replace(
            by_files, nodes=(), cdi=tuple(f"{CDI_KIND}={name}" for name in names), without_cdi=by_files
        )

    def _partition(self, chip: _Chip) -> Partition:
        return self._partitions.get(chip.family, "none")

    def _answer(self, machine: Machine, command: str, key: str) -> Mapping[str, Record]:
        """The tool's answer: the cards by PCI address or name."""
        for option in self._options:
            try:
                rows = records(tool_output.run(machine, SMI, command, option, "json"))
            except ToolError:
                if option == self._options[-1]:
                    raise
                continue
            self._options = (option,)
            break
        names = ((word(row.get(key)), row) for row in rows)
        return {pci_address(name) or name: row for name, row in names if name}

    def _identify(self, boards: Sequence[_Board]) -> None:
        """Remember UUIDs and serial numbers by address: groups of cores need the id of their card."""
        seen = Counter(one.identifier for one in boards)
        for one in boards:
            if seen[one.identifier] == 1 and one.identifier.strip("0-"):
                self._identifiers[one.function.address] = one.identifier

    def _card(
        self, board: _Board, group: _CoreGroup, info: Record, status: Record, failed: str, machine: Machine
    ) -> Card:
        function, whole = board.function, group.is_card
        nodes, needed = _nodes(board, group, machine)
        metrics = _metrics(info, status, group)
        base = self._identifiers.get(function.address, function.address)
        number = board.name.removeprefix("npu")
        # A Warboy with both cores fused is 0-1; an RNGD without cores is all of it.
        cores = "" if whole and board.chip is not _WARBOY else f":{group.named_cores}"
        return Card(
            Device(
                base if whole else f"{base}-pe{group.named_cores}",
                group.family,
                board.chip.title if whole else f"{board.chip.title}, cores {group.named_cores}",
                set=function.numa or 0,
                pci=function.address,
                numa=function.numa,
                mem_bytes=group.chip.mem_gb * len(group.cores) // group.chip.cores << 30 or None,
            ),
            handle=f"npu:{number}{cores}",
            nodes=nodes,
            groups=machine.groups_of(nodes),
            metrics=metrics,
            problem=_problem(board, status, failed, machine) or missing_node(needed, machine),
        )


def _board(function: PciFunction, chip: _Chip, machine: Machine) -> _Board:
    for entry in machine.names(chip.class_directory):
        place = f"{chip.class_directory}/{entry}"
        match = re.fullmatch(chip.entry, entry)
        if match and pci_address(machine.text(f"{place}/busname") or "") == function.address:
            texts = (machine.text(f"{place}/{name}") or "" for name in ("device_uuid", "device_sn"))
            identifier = next((one for one in texts if re.fullmatch(r"[0-9A-Za-z-]{8,64}", one)), "")
            return _Board(function, chip, match[1], place, identifier)
    return _Board(function, chip)


def _nodes(board: _Board, group: _CoreGroup, machine: Machine) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The device files of these cores and of what all cores of the card share, and those without which nothing works.

    A group of cores has several: 0-3 is used by pe0-3, pe0-1, pe2-3 and pe0 to pe3.
    """
    if not board.name:
        return (), ()
    start = board.chip.nodes + board.name
    pattern = re.compile(
        re.escape(start) + r"(?:pe(?P<first>\d)(?:-(?P<last>\d))?|_?mgmt|ch\d{1,2}r?|dmar|bar\d|)"
    )
    nodes = [
        path
        for path in machine.nodes(f"{start}*")
        if (match := pattern.fullmatch(path))
        and (
            match["first"] is None
            or {int(match["first"]), int(match["last"] or match["first"])} <= {*group.cores}
        )
    ]
    management = f"{start}_mgmt" if board.chip is _WARBOY else f"{start}mgmt"
    return tuple(nodes), (management, *(f"{start}pe{core}" for core in group.cores))


def _metrics(info: Record, status: Record, group: _CoreGroup) -> DeviceMetrics:
    """Of a group of cores only what is its own: memory and power of a card are used by all."""
    busy = [
        share
        for row in records(status.get("pe_utilizations"))
        if group.is_card or number(row.get("pe_core")) in group.cores
        if (share := percent(row.get("pe_utilization", row.get("utilization")))) is not None
    ]
    utilization = sum(busy) / len(busy) if busy else None
    temperature = number(info.get("temperature"))
    if not group.is_card:
        return DeviceMetrics(utilization, temperature_c=temperature)
    memory = record(status.get("memory"))
    dram = record(memory.get("dram", memory.get("DRAM")))
    used, total = number(dram.get("used_size")), number(dram.get("total_size"))
    return DeviceMetrics(
        utilization,
        None if used is None else int(used),
        int(total) if total else None,
        temperature,
        number(info.get("power")),
    )


def _problem(board: _Board, status: Record, failed: str, machine: Machine) -> str:
    if not board.name:
        return "The kernel driver does not offer it."
    platform = machine.text(f"{board.place}/platform_type")
    if platform not in (None, PLATFORM):
        return f"Its platform is {platform}, not {PLATFORM}."
    if machine.text(f"{board.place}/{board.chip.alive}") not in (None, "1"):
        return "The kernel driver says that it is not alive."
    if _NOT_ALIVE.search(liveness := word(status.get("liveness"))):
        return f"{SMI} says of its liveness: {liveness}."
    return failed


PLUGIN = Plugin(
    FuriosaSettings,
    lambda settings: AcceleratorDriver(Furiosa(settings), settings.machine()),
    "FuriosaAI Warboy and RNGD",
)
