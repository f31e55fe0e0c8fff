"""AMD Instinct GPUs, by the files of the kernel drivers amdgpu and KFD; no tool of the vendor is needed.

Sources: kernel, Documentation/gpu/amdgpu (driver-misc, ras, thermal), drivers/gpu/drm/amd/amdkfd/kfd_topology.c;
AMD, ROCm documentation, "Running containers" (/dev/kfd, one render node for each GPU, the groups of both).
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
    numbers,
    resources,
)
from carrel.accelerators.hardware import Machine, PciFunction
from carrel.accelerators.port import Attachment, Device, DeviceMetrics, Limit
from carrel.core.slots import SlotKind, SlotType
from carrel.plugins import Plugin

VENDOR_ID = "1002"
FAMILY = "rocm"
KFD = "/dev/kfd"
MODELS: Mapping[str, str] = {
    "7408": "AMD Instinct MI250X",
    "740c": "AMD Instinct MI250X/MI250",
    "740f": "AMD Instinct MI210",
    "74a0": "AMD Instinct MI300A",
    "74a1": "AMD Instinct MI300X",
    "74a2": "AMD Instinct MI308X",
    "74a5": "AMD Instinct MI325X",
    "75a0": "AMD Instinct MI350X",
    "75a3": "AMD Instinct MI355X",
}
"""By PCI device; others, such as the graphics of a processor, are not offered. Source: pci.ids, August 2026."""
_MICRO = 1_000_000
_MILLI = 1_000
_HOTTEST = ("junction", "edge")
"""Temperatures of the die by label, the one that limits the card first."""


class Amd:
    """Slot: rocm.device. Each die of an MI250X is a device; those of a NUMA node that XGMI connects are a set."""

    def read(self, machine: Machine) -> Sequence[Card]:
        functions = [one for one in machine.pci_functions(VENDOR_ID) if one.device in MODELS]
        if not functions:
            return ()
        hives = _hives(machine)
        cards = [_card(one, hives, machine) for one in functions]
        sets = numbers(map(_place, cards))
        return [replace(card, device=replace(card.device, set=sets[_place(card)])) for card in cards]

    def kinds(self, devices: Iterable[Device]) -> Sequence[SlotKind]:
        return [SlotKind(f"{FAMILY}.device", FAMILY, SlotType.COUNT, title="AMD GPU", unit="GPU")]

    def attach(self, cards: Sequence[Card], machine: Machine) -> Attachment:
        """KFD gives access to the GPUs whose render nodes a container has, which are numbered from zero inside."""
        numbers = ",".join(str(number) for number in range(len(cards)))
        return Attachment(
            env={
                "AMD_VISIBLE_DEVICES": "none",
                "ROCR_VISIBLE_DEVICES": numbers,
                "HIP_VISIBLE_DEVICES": numbers,
            },
            nodes=device_nodes(cards, KFD),
            groups=groups_of(cards),
            limits=(Limit("memlock", -1, -1),),
            resources=resources(cards, {FAMILY: plugin_resources.AMD_GPU}),
        )


def _place(card: Card) -> tuple[str, int]:
    return card.device.clique, card.device.numa or 0


def _card(function: PciFunction, hives: Mapping[int, str], machine: Machine) -> Card:
    place = f"sys/bus/pci/devices/{function.address}"
    render = next((name for name in machine.names(f"{place}/drm") if re.fullmatch(r"renderD\d+", name)), "")
    minor = int(render.removeprefix("renderD") or -1)
    nodes = (f"/dev/dri/{render}",) if render else ()
    identifier = machine.text(f"{place}/unique_id") or ""
    metrics = _metrics(place, machine)
    return Card(
        Device(
            identifier if re.fullmatch(r"[0-9a-f]{8,32}", identifier) else function.address,
            FAMILY,
            MODELS[function.device],
            pci=function.address,
            numa=function.numa,
            clique=hives.get(minor, ""),
            mem_bytes=metrics.mem_total_bytes,
        ),
        nodes=nodes,
        groups=machine.groups_of((KFD, *nodes)),
        metrics=metrics,
        problem=_problem(minor, hives, metrics) or missing_node((KFD, *nodes), machine),
    )


def _hives(machine: Machine) -> Mapping[int, str]:
    """The GPUs that KFD has, by the number of their render node: the hive of XGMI of each, empty if it is in none."""
    hives = {}
    for node in machine.names("sys/class/kfd/kfd/topology/nodes"):
        text = machine.text(f"sys/class/kfd/kfd/topology/nodes/{node}/properties") or ""
        properties = dict(line.split(" ", 1) for line in text.splitlines() if " " in line)
        minor = properties.get("drm_render_minor", "")
        if minor.isdecimal() and properties.get("simd_count", "0") != "0":
            hive = properties.get("hive_id", "0")
            hives[int(minor)] = "" if hive == "0" else hive
    return hives


def _metrics(place: str, machine: Machine) -> DeviceMetrics:
    total = machine.number(f"{place}/mem_info_vram_total")
    sensors = [f"{place}/hwmon/{name}" for name in machine.names(f"{place}/hwmon")][:1]
    power = next((one for each in sensors if (one := _power(each, machine)) is not None), None)
    temperature = next((one for each in sensors if (one := _temperature(each, machine)) is not None), None)
    return DeviceMetrics(
        machine.number(f"{place}/gpu_busy_percent"),
        machine.number(f"{place}/mem_info_vram_used"),
        total or None,
        temperature,
        power,
        _uncorrected(machine.text(f"{place}/ras/umc_err_count")),
    )


def _power(sensor: str, machine: Machine) -> float | None:
    values = (machine.number(f"{sensor}/{name}") for name in ("power1_average", "power1_input"))
    return next((value / _MICRO for value in values if value is not None), None)


def _temperature(sensor: str, machine: Machine) -> float | None:
    numbers = [
        match[1] for name in machine.names(sensor) if (match := re.fullmatch(r"temp(\d+)_input", name))
    ]
    labelled = {machine.text(f"{sensor}/temp{number}_label"): number for number in numbers}
    for label in _HOTTEST:
        if (
            label in labelled
            and (value := machine.number(f"{sensor}/temp{labelled[label]}_input")) is not None
        ):
            return value / _MILLI
    return None


def _uncorrected(text: str | None) -> int | None:
    match = re.search(r"\bue:\s*(\d{1,18})\b", text or "", re.ASCII)
    return int(match[1]) if match else None


def _problem(minor: int, hives: Mapping[int, str], metrics: DeviceMetrics) -> str:
    if minor not in hives:
        return "The kernel driver does not offer it for computing."
    if metrics.uncorrected_errors:
        return (
            f"Its memory has had {metrics.uncorrected_errors} uncorrected errors since the driver was loaded."
        )
    return ""


PLUGIN = Plugin(
    MachineSettings, lambda settings: AcceleratorDriver(Amd(), settings.machine()), "AMD Instinct GPUs"
)
