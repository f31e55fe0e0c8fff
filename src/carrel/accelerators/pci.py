"""Cards of any vendor by configuration alone: their PCI ids, their device files, a variable.

It serves cards for which there is no driver of their own, today or later. The profile of Sapeon is built in.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from carrel.accelerators.driver import (
    AcceleratorDriver,
    Card,
    MachineSettings,
    device_nodes,
    groups_of,
    missing_node,
)
from carrel.accelerators.hardware import Machine, PciFunction
from carrel.accelerators.port import Attachment, Device, Limit, MachinePath
from carrel.core.slots import SlotKind, SlotType
from carrel.plugins import Plugin

_INDEX, _ADDRESS = "{index}", "{address}"

_PciId = Annotated[str, StringConstraints(pattern=r"^[0-9A-Fa-f]{4}$", to_lower=True)]
_DeviceFile = Annotated[
    str, StringConstraints(pattern=r"^/dev(/[A-Za-z0-9_{][A-Za-z0-9_.:{}-]*)+$", max_length=200)
]
_DirectoryOrFile = Annotated[str, StringConstraints(pattern=r"^/[A-Za-z0-9_./+@-]+$", max_length=500)]
_Variable = Annotated[str, StringConstraints(pattern=r"^([A-Z][A-Z0-9_]*)?$", max_length=100)]


def _of_one_card(paths: tuple[str, ...]) -> tuple[str, ...]:
    for path in paths:
        if re.search(r"[{}]", re.sub(r"\{(index|address)\}", "", path)) or path.count(_INDEX) > 1:
            raise ValueError(f"{path} has other braces than one {_INDEX} and {_ADDRESS}.")
    if not any(_INDEX in path or _ADDRESS in path for path in paths):
        raise ValueError(f"No device file is of one card: use {_INDEX} or {_ADDRESS}.")
    return paths


class PciProfile(BaseModel):
    """What Carrel must know of a card."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = Field(default="", max_length=100, description="What people call it.")
    vendor: _PciId = Field(description="PCI vendor, four hexadecimal digits.")
    devices: tuple[_PciId, ...] = Field(default=(), description="PCI devices; empty: all of the vendor.")
    nodes: Annotated[tuple[_DeviceFile, ...], AfterValidator(_of_one_card)] = Field(
        min_length=1,
        description="Device files of a card, with {index} for its number in the order of PCI addresses, or {address}.",
    )
    shared_nodes: tuple[_DeviceFile, ...] = Field(
        default=(), description="Device files that each card needs."
    )
    paths: tuple[_DirectoryOrFile, ...] = Field(
        default=(),
        description="Files and directories of the machine that programs need, read-only at the same path.",
    )
    variable: _Variable = Field(
        default="", description="Environment variable that lists the cards of a container."
    )
    variable_lists: Literal["local", "index", "address"] = Field(
        default="local",
        description="What it lists: numbers from zero, the numbers of the device files, or PCI addresses.",
    )
    amounts: tuple[int, ...] = Field(
        default=(), description="How many a container may have; empty: any number."
    )
    mem_bytes: int | None = Field(default=None, gt=0, description="Memory of a card.")
    capabilities: tuple[Literal["IPC_LOCK", "SYS_NICE"], ...] = Field(
        default=(), description="Capabilities that its programs need."
    )
    unlimited_memlock: bool = Field(default=False, description="Programs may lock any amount of memory.")


SAPEON = PciProfile(
    title="Sapeon NPU",
    # pci.ids: SAPEON Inc. Its devices are in no public document.
    vendor="1f56",
    # An assumption to be confirmed or replaced by settings: no public document names the device files.
    nodes=("/dev/sapeon{index}",),
    unlimited_memlock=True,
)


class PciSettings(MachineSettings):
    """Profiles of cards."""

    profiles: dict[Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,29}$")], PciProfile] = Field(
        default={}, description="Cards by the family of their slots: FAMILY.device counts them."
    )


class ConfiguredCards:
    """Slots: FAMILY.device for each profile."""

    def __init__(self, profiles: Mapping[str, PciProfile]) -> None:
        self._profiles = profiles

    def read(self, machine: Machine) -> Sequence[Card]:
        return [
            card for family, profile in self._profiles.items() for card in _cards(family, profile, machine)
        ]

    def kinds(self, devices: Iterable[Device]) -> Sequence[SlotKind]:
        return [
            SlotKind(
                f"{family}.device",
                family,
                SlotType.COUNT,
                allowed=profile.amounts,
                title=profile.title or family,
            )
            for family, profile in self._profiles.items()
        ]

    def attach(self, cards: Sequence[Card], machine: Machine) -> Attachment:
        held = {card.device.family for card in cards}
        profiles = {family: one for family, one in self._profiles.items() if family in held}
        return Attachment(
            env={
                profile.variable: _listed(profile, [card for card in cards if card.device.family == family])
                for family, profile in profiles.items()
                if profile.variable
            },
            nodes=device_nodes(cards, *(node for one in profiles.values() for node in one.shared_nodes)),
            paths=tuple(MachinePath(path, path) for one in profiles.values() for path in one.paths),
            groups=groups_of(cards),
            capabilities=tuple(dict.fromkeys(name for one in profiles.values() for name in one.capabilities)),
            limits=(Limit("memlock", -1, -1),)
            if any(one.unlimited_memlock for one in profiles.values())
            else (),
        )


def _listed(profile: PciProfile, cards: Sequence[Card]) -> str:
    names = {
        "local": [str(number) for number in range(len(cards))],
        "index": [card.handle for card in cards],
        "address": [card.device.pci for card in cards],
    }
    return ",".join(names[profile.variable_lists])


def _cards(family: str, profile: PciProfile, machine: Machine) -> Sequence[Card]:
    functions = [
        one
        for one in machine.pci_functions(profile.vendor)
        if not profile.devices or one.device in profile.devices
    ]
    indexes, problem = _indexes(functions, profile, machine)
    return [
        _card(family, profile, function, index, problem, machine)
        for function, index in zip(functions, indexes, strict=True)
    ]


def _indexes(
    functions: Sequence[PciFunction], profile: PciProfile, machine: Machine
) -> tuple[Sequence[str], str]:
    """The number of each card in its device files, as sysfs says. Where it does not, kernels count cards in the order
    of PCI addresses, and leave a gap for one that is lost; without as many files as cards, it is not known which file
    is whose.
    """
    pattern = next((node for node in profile.nodes if _INDEX in node), None)
    if pattern is None or not functions:
        return ["" for _ in functions], ""
    numbered = re.compile(re.escape(pattern).replace(re.escape(_INDEX), r"(\d{1,4})", 1))
    matches = [numbered.fullmatch(path) for path in machine.nodes(pattern.replace(_INDEX, "*"))]
    owners = {machine.address_of(match[0]): match[1] for match in matches if match}
    if owners.keys() >= {one.address for one in functions}:
        return [owners[one.address] for one in functions], ""
    numbers = sorted(int(match[1]) for match in matches if match)
    if len(numbers) == len(functions):
        return [str(number) for number in numbers], ""
    return ["" for _ in functions], (
        f"{len(numbers)} device files match {pattern}, and {len(functions)} cards are on the PCI bus."
    )


def _card(
    family: str, profile: PciProfile, function: PciFunction, index: str, problem: str, machine: Machine
) -> Card:
    filled = [node.replace(_INDEX, index).replace(_ADDRESS, function.address) for node in profile.nodes]
    nodes = () if problem else tuple(filled)
    needed = (*nodes, *profile.shared_nodes)
    return Card(
        Device(
            function.address,
            family,
            profile.title or family,
            set=function.numa or 0,
            pci=function.address,
            numa=function.numa,
            mem_bytes=profile.mem_bytes,
        ),
        handle=index,
        nodes=nodes,
        groups=machine.groups_of(needed),
        problem=problem or missing_node(needed, machine),
    )


def _make(settings: PciSettings) -> AcceleratorDriver:
    return AcceleratorDriver(ConfiguredCards({"sapeon": SAPEON, **settings.profiles}), settings.machine())


PLUGIN = Plugin(PciSettings, _make, "Cards by PCI ids")
