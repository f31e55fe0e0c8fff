"""Rebellions ATOM, ATOM+, ATOM-Max and REBEL, by the files of the kernel driver and rbln-smi.

Sources: RBLN SDK documentation, "Device Monitoring (rbln-smi)" and "NPU Allocation" (containers, RSD groups);
RBLN-SW/k8s-device-plugin (status in sysfs, virtual functions, resources, what a container gets),
RBLN-SW/rbln-container-toolkit (CDI), RBLN-SW/rbln-npu-feature-discovery (PCI ids). Output of `rbln-smi --json` as in a
capture that lablup/all-smi has published.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from carrel.accelerators import cdi, plugin_resources, tool_output
from carrel.accelerators.driver import (
    AcceleratorDriver,
    Card,
    MachineSettings,
    groups_of,
    missing_node,
    numbers,
    renumbered,
    resources,
)
from carrel.accelerators.hardware import Machine, PciFunction, ToolError, ToolMissing, pci_address
from carrel.accelerators.port import Attachment, Device, DeviceMetrics, Limit, MachinePath
from carrel.accelerators.tool_output import Record, number, percent, record, records, word
from carrel.core.device_blocks import Block, Blocks
from carrel.core.slots import SlotKind, SlotType
from carrel.plugins import Plugin

VENDOR_ID = "1eff"
TOOLS = ("rbln-smi", "rbln-stat")
"""The second is the name in older drivers."""
CDI_KIND = "rebellions.ai/npu"
_TITLES = {
    "atom": "Rebellions ATOM",
    "atom-plus": "Rebellions ATOM+",
    "atom-max": "Rebellions ATOM-Max",
    "rebel": "Rebellions REBEL",
}
MODELS: Mapping[str, tuple[str, str]] = {
    "1020": ("RBLN-CA02", "atom"),
    "1110": ("RBLN-CA11", "atom-plus"),
    "1120": ("RBLN-CA12", "atom-plus"),
    "1220": ("RBLN-CA22", "atom-plus"),
    "1250": ("RBLN-CA25", "atom-max"),
    "2030": ("RBLN-CR03", "rebel"),
    "2130": ("RBLN-CR13", "rebel"),
    "2230": ("RBLN-CR23", "rebel"),
}
"""Physical functions by PCI device: product and family. Virtual ones, with the next id, are for virtual machines."""
_HEALTHY = frozenset({"", "normal", "ready", "busy", "idle"})
_USABLE = ("0", "1")
"""In sysfs: ready and busy. What the numbers above mean depends on the version of the driver; none is good."""
_WATTS = {"uw": 1e-6, "mw": 1e-3}
_BYTES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_LIBRARY_DIRECTORIES = ("usr/lib", "usr/lib64", "usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu")
_MOST_LEVELS = 3


class Rebellions:
    """Slots: atom.device, atom-plus.device, atom-max.device and rebel.device, which count NPUs.

    Near each other are the NPUs of an RSD group, otherwise those of a card, of a PCIe switch, of a NUMA node. All but
    the last are blocks: several NPUs of a container are of as few as possible.
    """

    def __init__(self) -> None:
        self._groups: Mapping[str, str] = {}
        self._paths: tuple[MachinePath, ...] = ()
        self._in_cdi: frozenset[str] = frozenset()

    def read(self, machine: Machine) -> Sequence[Card]:
        functions = [one for one in machine.pci_functions(VENDOR_ID) if one.device in MODELS]
        if not functions:
            return ()
        try:
            rows, failed = _rows(machine), ""
        except ToolError as error:
            rows, failed = {}, str(error)
        self._groups = _groups(rows, machine)
        self._paths = _paths(machine)
        self._in_cdi = cdi.names(machine, CDI_KIND)
        cards = [_card(one, rows.get(one.address, {}), failed, machine) for one in functions]
        return _with_power_once(_in_sets(cards, rows, machine), rows)

    def kinds(self, devices: Iterable[Device]) -> Sequence[SlotKind]:
        return [
            SlotKind(f"{family}.device", family, SlotType.COUNT, title=title, unit="NPU")
            for family, title in _TITLES.items()
        ]

    def attach(self, cards: Sequence[Card], machine: Machine) -> Attachment:
        """By files, numbered from zero inside, or by CDI, which adds the libraries and tools of the driver.

        The file of an RSD group gives access to all of its NPUs: only who has them all gets it. CDI adds it always.
        """
        groups, complete = self._complete_groups(cards)
        by_files = Attachment(
            nodes=(
                *renumbered((node for card in cards for node in card.nodes), "/dev/rbln"),
                *renumbered(groups, "/dev/rsd"),
            ),
            paths=self._paths,
            groups=groups_of(cards),
            limits=(Limit("memlock", -1, -1),),
            resources=resources(cards, dict.fromkeys(_TITLES, plugin_resources.REBELLIONS_NPU)),
        )
        names = [card.handle.removeprefix("rbln") for card in cards]
        if machine.simulated or not complete or not self._in_cdi.issuperset(names):
            return by_files
        return replace(
            by_files,
            nodes=(),
            paths=(),
            cdi=tuple(f"{CDI_KIND}={name}" for name in names),
            without_cdi=by_files,
        )

    def _complete_groups(self, cards: Sequence[Card]) -> tuple[list[str], bool]:
        """The files of the groups all of whose NPUs these are; true if there is no NPU of another group."""
        held = {card.device.pci for card in cards}
        mine = sorted({self._groups[address] for address in held & self._groups.keys()})
        complete = [
            node for node in mine if held.issuperset(one for one, its in self._groups.items() if its == node)
        ]
        return complete, complete == mine


def _rows(machine: Machine) -> Mapping[str, Record]:
    """The tool's answer by PCI address. Versions that cannot list groups are asked without them."""
    last = ToolError("")
    for tool in TOOLS:
        for arguments in (("-g", "-j"), ("-j",)):
            try:
                answer = tool_output.run(machine, tool, *arguments)
            except ToolMissing as error:
                last = last if str(last) else error
                break
            except ToolError as error:
                last = error
                continue
            rows = {pci_address(word(record(row.get("pci")).get("bus_id"))): row for row in _listed([answer])}
            return {address: row for address, row in rows.items() if address}
    raise last


def _listed(value: object, group: str = "", levels: int = _MOST_LEVELS) -> Iterator[Record]:
    """The NPUs in an answer, each with its group, whether they are listed below it or name it."""
    for one in records(value):
        mine = word(one.get("group_id")) or group
        if record(one.get("pci")):
            yield {**one, "group_id": mine}
        elif levels:
            for part in one.values():
                yield from _listed(part, mine, levels - 1)


def _groups(rows: Mapping[str, Record], machine: Machine) -> Mapping[str, str]:
    """The device file of the RSD group of each NPU, by PCI address."""
    files = {address: f"/dev/rsd{word(row.get('group_id'))}" for address, row in rows.items()}
    return {
        address: file
        for address, file in files.items()
        if re.fullmatch(r"/dev/rsd\d{1,4}", file) and machine.has_node(file)
    }


def _paths(machine: Machine) -> tuple[MachinePath, ...]:
    """The libraries and the tool of the driver, whose version programs must match."""
    tools = [f"{directory}/{tool}" for directory in ("usr/bin", "usr/local/bin") for tool in TOOLS[:1]]
    files = [
        *(path for path in tools if path.rpartition("/")[2] in machine.names(path.rpartition("/")[0])),
        *(
            f"{directory}/{name}"
            for directory in _LIBRARY_DIRECTORIES
            for name in machine.names(directory)
            if re.fullmatch(r"librbln-[A-Za-z0-9_.-]+", name)
        ),
    ]
    return tuple(MachinePath(f"/{file}", f"/{file}") for file in files)


def _card(function: PciFunction, row: Record, failed: str, machine: Machine) -> Card:
    place = f"sys/bus/pci/devices/{function.address}"
    product, family = MODELS[function.device]
    entries = [*machine.names(f"{place}/rebellions"), word(row.get("device"))]
    entry = next((name for name in entries if re.fullmatch(r"rbln\d{1,4}", name)), "")
    node = (f"/dev/{entry}",) if entry else ()
    metrics = _metrics(row)
    uuid = word(row.get("uuid"))
    return Card(
        Device(
            uuid if re.fullmatch(r"[0-9A-Za-z-]{8,64}", uuid) else function.address,
            family,
            word(row.get("name")) or product,
            pci=function.address,
            numa=function.numa,
            mem_bytes=metrics.mem_total_bytes,
        ),
        handle=entry,
        nodes=node,
        groups=machine.groups_of(node),
        metrics=metrics,
        problem=_problem(place, entry, row, failed, machine) or missing_node(node, machine),
    )


def _in_sets(cards: Sequence[Card], rows: Mapping[str, Record], machine: Machine) -> list[Card]:
    of_card = Counter(_serial(rows, card) for card in cards)
    groups = {card.device.pci: word(rows.get(card.device.pci, {}).get("group_id")) for card in cards}
    of_group = Counter(groups.values())

    def place(card: Card) -> tuple[str, Hashable]:
        address, serial = card.device.pci, _serial(rows, card)
        if groups[address] and 1 < of_group[groups[address]] < len(cards):
            return "group", groups[address]
        if serial and of_card[serial] > 1:
            return "card", serial
        switch = machine.pci_switch(address)
        return ("switch", switch) if switch else ("numa", card.device.numa or 0)

    places = [place(card) for card in cards]
    number_of = numbers(places)
    connected = all(kind != "numa" for kind, _ in places)
    sizes = Counter((card.device.family, where) for card, where in zip(cards, places, strict=True))
    families = Counter(card.device.family for card in cards)

    def blocks(card: Card, where: tuple[str, Hashable]) -> Blocks:
        family = card.device.family
        near = Block(f"set-{number_of[where]}", sizes[family, where])
        return (near, Block("machine", families[family])) if connected else ()

    return [
        replace(card, device=replace(card.device, set=number_of[where], blocks=blocks(card, where)))
        for card, where in zip(cards, places, strict=True)
    ]


def _with_power_once(cards: Sequence[Card], rows: Mapping[str, Record]) -> list[Card]:
    """Each NPU of a card repeats the power of the card: it is that of the first, so that a sum is right."""
    seen: set[str] = set()
    once = []
    for card in cards:
        serial = _serial(rows, card)
        once.append(
            replace(card, metrics=replace(card.metrics, power_w=None)) if serial and serial in seen else card
        )
        seen.add(serial)
    return once


def _serial(rows: Mapping[str, Record], card: Card) -> str:
    """Of the card of an NPU; empty: unknown, or zeros as on test cards."""
    serial = word(rows.get(card.device.pci, {}).get("sid"))
    return serial if serial.strip("0") else ""


def _metrics(row: Record) -> DeviceMetrics:
    memory = record(row.get("memory"))
    used, total = _bytes(memory.get("used")), _bytes(memory.get("total"))
    return DeviceMetrics(
        percent(row.get("util")),
        used,
        total or None,
        number(row.get("temperature")),
        _watts(row.get("card_power")),
    )


def _watts(value: object) -> float | None:
    """18109794uW is 18.1; without a unit: watts."""
    power = number(value)
    unit = re.sub(r"[^a-z]", "", word(value).lower())
    return None if power is None else round(power * _WATTS.get(unit, 1), 3)


def _bytes(value: object) -> int | None:
    """16877879296, or 15.7GiB."""
    amount = number(value)
    unit = re.sub(r"[^a-z]", "", word(value).lower())[:1]
    return None if amount is None else int(amount * _BYTES.get(unit, 1))


def _problem(place: str, entry: str, row: Record, failed: str, machine: Machine) -> str:
    if machine.number(f"{place}/sriov_numvfs"):
        return "It has virtual functions, which virtual machines use."
    if failed or not row:
        return failed or f"{TOOLS[0]} does not list it."
    if (status := word(row.get("status"))).lower() not in _HEALTHY:
        return f"Its state is: {status.lower()[:60]}."
    number_of_status = machine.text(f"sys/class/rebellions/{entry}/status") if entry else None
    if number_of_status not in (None, "", *_USABLE):
        return f"Its state in sysfs is {number_of_status}, neither ready (0) nor busy (1)."
    return ""


PLUGIN = Plugin(
    MachineSettings,
    lambda settings: AcceleratorDriver(Rebellions(), settings.machine()),
    "Rebellions ATOM and REBEL",
)
