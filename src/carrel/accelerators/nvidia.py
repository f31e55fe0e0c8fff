"""NVIDIA GPUs and their MIG instances, by nvidia-smi and the files of the kernel driver.

Sources: NVIDIA, "nvidia-smi" manual (queries, [N/A], [Not Supported], [GPU is lost]; retired pages, remapped rows, the
recovery action, which the driver sets after Xid errors that need one); "Multi-Instance GPU User Guide"
(the list with -L); NVIDIA Container Toolkit, "Environment variables (OCI spec)" and "Support for Container Device
Interface"; the driver's /proc/driver/nvidia/gpus/*/information.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pydantic import Field

from carrel.accelerators import cdi, plugin_resources
from carrel.accelerators.driver import (
    BAD_READINGS,
    Card,
    MachineSettings,
    device_nodes,
    numbers,
    resources,
)
from carrel.accelerators.hardware import Machine, PciFunction, ToolError, pci_address, quantity
from carrel.accelerators.mps import DIRECTORY, Mps
from carrel.accelerators.nvidia_shares import NvidiaDriver, probe
from carrel.accelerators.nvml import Nvml, SimulatedGpuControl
from carrel.accelerators.port import (
    UNKNOWN,
    Attachment,
    Device,
    DeviceMetrics,
    Limit,
    ShareTier,
    Sharing,
    whole_and_shares,
)
from carrel.core.slots import SlotKind, SlotType
from carrel.plugins import Plugin

VENDOR_ID = "10de"
FAMILY = "cuda"
SMI = "nvidia-smi"
_TITLE = "NVIDIA GPU"
_LEAST_CAPABILITY = 7.5
"""Turing: older ones have no current driver."""
_MIB = 1 << 20
_QUERY = (
    "uuid",
    "pci.bus_id",
    "name",
    "memory.total",
    "memory.used",
    "utilization.gpu",
    "temperature.gpu",
    "power.draw",
    "ecc.errors.uncorrected.volatile.total",
    "mig.mode.current",
    "retired_pages.pending",
    "gpu_recovery_action",
    "compute_cap",
)
_REMAPPED = ("gpu_bus_id", "remapped_rows.pending", "remapped_rows.failure")
_REMAPPED_EVERY = 12
"""Readings: rows are remapped seldom, and each run of the tool takes its time."""
_FORMAT = "--format=csv,noheader,nounits"
_NO_FIELD = re.compile(r'Field "([a-z._]+)" is not a valid field', re.IGNORECASE)
_UUID = re.compile(r"(?:GPU|MIG)-[0-9a-f][0-9a-f-]{7,63}")
_GPU_LINE = re.compile(r"GPU \d+: .*\(UUID: (GPU-[0-9a-f-]+)\)")
_MIG_LINE = re.compile(
    r"\s*MIG ([0-9a-z]{1,9}(?:[.+-][0-9a-z]{1,9}){1,4})\s+Device\s+\d+: \(UUID: (MIG-[0-9a-f/-]+|MIG-GPU-[0-9a-f/-]+)\)"
)
_NO_ACTION = ("", "none", "n/a")
_CONTROL_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
CDI_KIND = "nvidia.com/gpu"
_NOTHING_ELSE: Mapping[str, str] = {
    "NVIDIA_GDS": "disabled",
    "NVIDIA_MOFED": "disabled",
    "NVIDIA_GDRCOPY": "disabled",
    "NVIDIA_NVSWITCH": "disabled",
    "NVIDIA_IMEX_CHANNELS": "",
}
"""What the runtime would give besides GPUs if an image asks for it, such as all InfiniBand devices."""

Row = Mapping[str, str]
"""Of nvidia-smi's answer: field -> value."""


class NvidiaSettings(MachineSettings):
    unenforced_shares: bool = Field(
        default=False,
        description="Sessions may request shares of a GPU also where nothing enforces them: there they divide it in "
        "the schedule only, and each session can use all of its memory and time. On a simulated machine they "
        "always may.",
    )
    mps_directory: Path = Field(
        default=DIRECTORY,
        description="The sockets of the daemon of MPS version 3, its CUDA_MPS_PIPE_DIRECTORY.",
    )


class Nvidia:
    """Slots: cuda.device, and one for each MIG profile, such as cuda.mig-1g.10gb; with shares also cuda.shares.

    A GPU in MIG mode is not offered itself, but by its instances.
    """

    def __init__(self, *, shares: bool = False, mps: Mps | None = None) -> None:
        self._whole, self._part = whole_and_shares(FAMILY, _TITLE)
        self._shares, self._mps = shares, mps
        self.tier: Sharing | None = None
        self._without_mps = 0
        """Readings in succession in which the daemon of MPS did not answer that had."""
        self._fields: Sequence[str] = _QUERY
        self._cliques: tuple[frozenset[str], Mapping[str, str]] = frozenset(), {}
        self._in_cdi: frozenset[str] = frozenset()
        self._in_mig: set[str] = set()
        self._remapped: Mapping[str, Row] = {}
        self._readings = 0

    def read(self, machine: Machine) -> Sequence[Card]:
        functions = [one for one in machine.pci_functions(VENDOR_ID) if _is_gpu(one, machine)]
        if not functions:
            return ()
        answered, failed = self._rows(machine)
        rows = self._with_remapped(answered, machine)
        # What is known of a GPU whose tool does not answer: in MIG mode it is no device.
        self._in_mig |= {address for address, row in rows.items() if _has_mig(row)}
        self._in_mig -= {address for address, row in rows.items() if not _has_mig(row)}
        functions = [one for one in functions if one.address in rows or one.address not in self._in_mig]
        cards = [_card(function, rows.get(function.address), failed, machine) for function in functions]
        cards = self._with_cliques(cards, [row.get("uuid", "") for row in rows.values()], machine)
        self._in_cdi = cdi.names(machine, CDI_KIND)
        self._probe(machine, in_mig=bool(cards) and self._in_mig.issuperset(one.device.pci for one in cards))
        instances = _instances(machine) if self._in_mig else {}
        return [
            one
            for card in cards
            for one in (
                [_instance(card, *each) for each in instances.get(card.handle, ())]
                if _has_mig(rows.get(card.device.pci))
                else [card]
            )
        ]

    def kinds(self, devices: Iterable[Device]) -> Sequence[SlotKind]:
        shares = self._shares or (self.tier is not None and self.tier.tier.is_enforced)
        profiles = sorted({device.family for device in devices} - {FAMILY})
        return (
            *((self._whole, self._part) if shares else (self._whole,)),
            *(
                SlotKind(
                    one,
                    one,
                    SlotType.UNIQUE,
                    title=f"{_TITLE}, MIG {one.partition('mig-')[2]}",
                    unit="instance",
                )
                for one in profiles
            ),
        )

    def attach(self, cards: Sequence[Card], machine: Machine) -> Attachment:
        uuids = [card.handle for card in cards]
        visible = {"CUDA_VISIBLE_DEVICES": ",".join(str(number) for number in range(len(cards)))}
        limits = (Limit("memlock", -1, -1),)
        profiles = {one: one.partition(".")[2] for one in (card.device.family for card in cards)}
        named = {
            family: plugin_resources.mig(profile) if profile else plugin_resources.NVIDIA_GPU
            for family, profile in profiles.items()
        }
        requested = resources(cards, named)
        by_runtime = Attachment(
            env={
                "NVIDIA_VISIBLE_DEVICES": ",".join(uuids),
                "NVIDIA_DRIVER_CAPABILITIES": "compute,utility",
                **_NOTHING_ELSE,
                **visible,
            },
            limits=limits,
            runtime="nvidia",
            resources=requested,
        )
        if machine.simulated:
            return replace(by_runtime, nodes=device_nodes(cards, *_CONTROL_NODES))
        if not self._in_cdi.issuperset(uuids):
            return by_runtime
        # The variable is for a daemon whose default runtime is NVIDIA's: it injects nothing besides.
        return Attachment(
            env={"NVIDIA_VISIBLE_DEVICES": "void", **visible},
            limits=limits,
            cdi=tuple(f"{CDI_KIND}={handle}" for handle in uuids),
            resources=requested,
            without_cdi=by_runtime,
        )

    def _rows(self, machine: Machine) -> tuple[Mapping[str, Row], str]:
        """The tool's answer by PCI address, in its order, and why it lacks some: one lost GPU makes it fail.

        Fields that its version does not know are not asked for again.
        """
        while True:
            try:
                text = machine.run(SMI, f"--query-gpu={','.join(self._fields)}", _FORMAT)
            except ToolError as error:
                unknown = _NO_FIELD.search(str(error))
                fewer = [one for one in self._fields if unknown is None or one != unknown[1]]
                if len(fewer) == len(self._fields):
                    return _by_address(self._fields, error.output), str(error)
                self._fields = fewer
                continue
            return _by_address(self._fields, text), ""

    def _probe(self, machine: Machine, *, in_mig: bool) -> None:
        """Once a minute: the daemon of MPS may come and go. More often when it is gone: it may be restarting."""
        is_due = self.tier is None or self._without_mps or self._readings % _REMAPPED_EVERY == 0
        if not (self._mps and is_due):
            return
        is_root = machine.simulated or os.geteuid() == 0
        sharing = probe(machine, self._mps, is_root=is_root, in_mig=in_mig)
        is_gone = self.tier and self.tier.tier is ShareTier.MPS3 and sharing.tier is not ShareTier.MPS3
        self._without_mps = self._without_mps + 1 if is_gone else 0
        if self._without_mps in (0, BAD_READINGS):
            self.tier, self._without_mps = sharing, 0

    def _with_remapped(self, rows: Mapping[str, Row], machine: Machine) -> Mapping[str, Row]:
        """With what the tool says of remapped rows of memory, which only GPUs from Ampere on have."""
        if self._readings % _REMAPPED_EVERY == 0:
            with suppress(ToolError):
                text = machine.run(SMI, f"--query-remapped-rows={','.join(_REMAPPED)}", _FORMAT)
                self._remapped = _by_address(_REMAPPED, text)
        self._readings += 1
        return {address: {**self._remapped.get(address, {}), **row} for address, row in rows.items()}

    def _with_cliques(self, cards: Sequence[Card], listed: Sequence[str], machine: Machine) -> list[Card]:
        """With the GPUs of a NUMA node that NVLink connects in the same set. Asked for again when there are other GPUs.

        listed: the UUIDs in the tool's order.
        """
        uuids = frozenset(listed)
        if len(listed) > 1 and self._cliques[0] != uuids and all(listed):
            with suppress(ToolError):
                self._cliques = uuids, _cliques(machine.run(SMI, "topo", "-m"), listed)
        cliques = self._cliques[1]
        near = {card.handle: (cliques.get(card.handle, ""), card.device.numa or 0) for card in cards}
        sets = numbers(near.values())
        return [
            replace(
                card,
                device=replace(card.device, clique=cliques.get(card.handle, ""), set=sets[near[card.handle]]),
            )
            for card in cards
        ]


def _by_address(fields: Sequence[str], text: str) -> Mapping[str, Row]:
    """Lines of values of these fields, by the PCI address in one of them."""
    rows = [dict(zip(fields, map(str.strip, line.split(",")), strict=False)) for line in text.splitlines()]
    place = next(field for field in fields if field.endswith("bus_id"))
    return {address: row for row in rows if (address := pci_address(row.get(place, "")))}


def _is_gpu(function: PciFunction, machine: Machine) -> bool:
    """Display controllers (VGA, 3D) of the NVIDIA driver; not those for a virtual machine, nor switches and audio."""
    place = f"sys/bus/pci/devices/{function.address}"
    is_display = (machine.text(f"{place}/class") or "").startswith(("0x0300", "0x0302"))
    return is_display and machine.text(f"proc/driver/nvidia/gpus/{function.address}/information") is not None


def _card(function: PciFunction, row: Row | None, failed: str, machine: Machine) -> Card:
    information = _information(machine, function.address)
    row = row or {}
    uuid = next(
        (one for one in (row.get("uuid", ""), information.get("GPU UUID", "")) if _UUID.fullmatch(one)), ""
    )
    mem_mib = quantity(row.get("memory.total", ""))
    minor = information.get("Device Minor", "")
    return Card(
        Device(
            uuid or function.address,
            FAMILY,
            row.get("name") or information.get("Model", ""),
            pci=function.address,
            numa=function.numa,
            mem_bytes=int(mem_mib * _MIB) if mem_mib else None,
        ),
        handle=uuid,
        nodes=(f"/dev/nvidia{minor}",) if minor.isdecimal() else (),
        metrics=_metrics(row),
        problem=(_problem(row) if row else failed or "nvidia-smi does not list it.")
        or ("" if uuid else "Its UUID is not known."),
    )


def _information(machine: Machine, address: str) -> Mapping[str, str]:
    """What the kernel driver says: "Model", "GPU UUID", "Device Minor" and more."""
    text = machine.text(f"proc/driver/nvidia/gpus/{address}/information") or ""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _metrics(row: Row) -> DeviceMetrics:
    def of(field: str) -> float | None:
        return quantity(row.get(field, ""))

    def mem_bytes(field: str) -> int | None:
        mib = of(field)
        return None if mib is None else int(mib * _MIB)

    errors = of("ecc.errors.uncorrected.volatile.total")
    return DeviceMetrics(
        of("utilization.gpu"),
        mem_bytes("memory.used"),
        mem_bytes("memory.total"),
        of("temperature.gpu"),
        of("power.draw"),
        None if errors is None else int(errors),
    )


def _problem(row: Row) -> str:
    if lost := next((value for value in row.values() if "is lost" in value or "Unknown Error" in value), ""):
        return f"nvidia-smi says: {lost.strip('[]')}."
    capability = quantity(row.get("compute_cap", ""))
    if capability is not None and capability < _LEAST_CAPABILITY:
        return f"Its compute capability is {capability:g}; {_LEAST_CAPABILITY:g} is the least."
    if errors := quantity(row.get("ecc.errors.uncorrected.volatile.total", "")):
        return f"Its memory has had {errors:.0f} uncorrected errors since the last reset."
    action = row.get("gpu_recovery_action", "")
    if action.lower() not in _NO_ACTION and not action.startswith("["):
        return f"The driver asks for a recovery of it: {action[:60]}."
    if _is_true(row, "remapped_rows.failure"):
        return "A bad row of its memory could not be remapped."
    if _is_true(row, "remapped_rows.pending") or _is_true(row, "retired_pages.pending"):
        return "It has bad memory, which is taken out of use at its next reset."
    return ""


def _is_true(row: Row, field: str) -> bool:
    return row.get(field, "").lower() in ("yes", "1")


def _has_mig(row: Row | None) -> bool:
    return row is not None and row.get("mig.mode.current") == "Enabled"


def _instances(machine: Machine) -> Mapping[str, list[tuple[str, str]]]:
    """The MIG instances: UUID of the GPU -> profile and UUID of each. Empty if the tool fails."""
    instances: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    gpu = ""
    try:
        lines = machine.run(SMI, "-L").splitlines()
    except ToolError:
        return {}
    for line in lines:
        if match := _GPU_LINE.match(line):
            gpu = match[1]
        elif gpu and (match := _MIG_LINE.match(line)):
            instances[gpu].append((match[1], match[2]))
    return instances


def _instance(card: Card, profile: str, uuid: str) -> Card:
    """An instance of the GPU. Its measurements are not those of the GPU, which others use too."""
    device = replace(
        card.device,
        id=uuid,
        family=f"{FAMILY}.mig-{profile.replace('+', '.')}",
        model=f"{card.device.model} MIG {profile}",
        mem_bytes=None,
    )
    return replace(card, device=device, handle=uuid, metrics=UNKNOWN)


def _cliques(table: str, uuids: Sequence[str]) -> Mapping[str, str]:
    """From `nvidia-smi topo -m`: GPU -> the first GPU that NVLink connects it with, itself included.

    Its rows and first columns are GPU0, GPU1, ... in the order of the PCI bus; NV18 means 18 links.
    """
    first: dict[str, str] = {}
    for row in _topology_rows(table, len(uuids)):
        number, linked = row
        clique = min([number, *linked])
        if linked and number < len(uuids):
            first[uuids[number]] = uuids[clique]
    return first


def _topology_rows(table: str, count: int) -> Iterator[tuple[int, list[int]]]:
    for line in table.splitlines():
        name, *cells = re.sub(r"\x1b\[[0-9;]*m", "", line).split() or [""]
        if (match := re.fullmatch(r"GPU(\d{1,3})", name)) and len(cells) >= count and "GPU1" not in cells:
            yield (
                int(match[1]),
                [number for number, cell in enumerate(cells[:count]) if re.fullmatch(r"NV\d+", cell)],
            )


def _make(settings: NvidiaSettings) -> NvidiaDriver:
    machine = settings.machine()
    gpus = SimulatedGpuControl(machine.root) if machine.simulated else Nvml()
    mps = Mps(machine, gpus, settings.mps_directory)
    vendor = Nvidia(shares=settings.unenforced_shares or settings.simulated, mps=mps)
    return NvidiaDriver(vendor, machine, gpus, mps)


PLUGIN = Plugin(NvidiaSettings, _make, "NVIDIA GPUs")
