"""HyperAccel LPUs on Alveo U55C boards, by the files of the kernel drivers of XRT; no tool is needed.

Sources: pci.ids (August 2026); Xilinx/XRT, src/runtime_src/core/pcie (the two functions of a board, the sensors of xmc,
`ready` and `dev_offline`; XOCL_DEV_ID, the number in names of device files); HyperAccel, HyperDex documentation
(/opt/hyperdex); lablup/backend.ai, the plug-in for HyperAccel (which device files programs need).
"""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field, StringConstraints

from carrel.accelerators.driver import (
    AcceleratorDriver,
    Card,
    MachineSettings,
    device_nodes,
    groups_of,
    missing_node,
)
from carrel.accelerators.hardware import Machine, PciFunction
from carrel.accelerators.port import Attachment, Device, DeviceMetrics, Limit, MachinePath
from carrel.core.slots import SlotKind, SlotType
from carrel.plugins import Plugin

VENDOR_ID = "10ee"
MANAGEMENT, USER = "505c", "505d"
"""PCI devices of the functions of a U55C: 0 manages the board, 1 is for programs."""
FAMILY = "lpu"
HYPERDEX = "/opt/hyperdex"
_TITLE = "HyperAccel LPU"
_MODEL = "HyperAccel LPU (Alveo U55C)"
_MEM_BYTES = 16 << 30
"""HBM2 of a U55C."""
_MICRO = 1_000_000

_Address = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.0$")]


class LpuSettings(MachineSettings):
    """Which boards are LPUs: nothing on the PCI bus tells them from others of the same model."""

    boards: tuple[_Address, ...] = Field(
        default=(),
        description="PCI addresses of the Alveo U55C boards that are LPUs, such as 0000:3b:00.0; empty: all, if "
        f"{HYPERDEX} exists.",
    )


class HyperAccel:
    """Slot: lpu.device."""

    def __init__(self, boards: Iterable[str] = ()) -> None:
        self._boards = frozenset(boards)
        self._has_hyperdex = False

    def read(self, machine: Machine) -> Sequence[Card]:
        self._has_hyperdex = bool(machine.names(HYPERDEX.lstrip("/")))
        return [
            _card(one, machine)
            for one in machine.pci_functions(VENDOR_ID)
            if one.device == MANAGEMENT and self._is_lpu(one)
        ]

    def kinds(self, devices: Iterable[Device]) -> Sequence[SlotKind]:
        return [SlotKind(f"{FAMILY}.device", FAMILY, SlotType.COUNT, title=_TITLE, unit="LPU")]

    def attach(self, cards: Sequence[Card], machine: Machine) -> Attachment:
        return Attachment(
            nodes=device_nodes(cards),
            paths=(MachinePath(HYPERDEX, HYPERDEX),) if self._has_hyperdex else (),
            groups=groups_of(cards),
            limits=(Limit("memlock", -1, -1),),
        )

    def _is_lpu(self, function: PciFunction) -> bool:
        return function.address in self._boards if self._boards else self._has_hyperdex


def _card(function: PciFunction, machine: Machine) -> Card:
    board = f"sys/bus/pci/devices/{function.address}"
    user = f"{board.removesuffix('.0')}.1"
    render = next((name for name in machine.names(f"{user}/drm") if re.fullmatch(r"renderD\d+", name)), "")
    nodes = (f"/dev/dri/{render}",) if render else ()
    debug = f"/dev/xfpga/xvc_pri.m{_number(function.address)}.0"
    nodes = (debug, *nodes) if machine.has_node(debug) else nodes
    sensors = _sensors(user, machine)
    serial = _serial(board, user, machine)
    return Card(
        Device(
            serial or function.address,
            FAMILY,
            _MODEL,
            set=function.numa or 0,
            pci=function.address,
            numa=function.numa,
            mem_bytes=_MEM_BYTES,
        ),
        nodes=nodes,
        groups=machine.groups_of(nodes),
        metrics=sensors,
        problem=_problem(user, render, machine) or missing_node(nodes, machine),
    )


def _number(address: str) -> int:
    """The board's number in names of device files: domain, bus, device and function in one."""
    domain, bus, device, function = (int(part, 16) for part in re.split(r"[:.]", address))
    return domain << 16 | bus << 8 | device << 3 | function


def _parts(place: str, machine: Machine) -> Iterable[str]:
    """The directories of the board's microcontroller below a function."""
    return (f"{place}/{name}" for name in machine.names(place) if name.startswith("xmc."))


def _serial(board: str, user: str, machine: Machine) -> str:
    texts = (machine.text(f"{part}/serial_num") for place in (board, user) for part in _parts(place, machine))
    return next((text for text in texts if text and re.fullmatch(r"[0-9A-Za-z-]{6,64}", text)), "")


def _sensors(user: str, machine: Machine) -> DeviceMetrics:
    """Zero means that the microcontroller has not answered: a board is never that cold, nor without power."""
    for part in _parts(user, machine):
        temperature = machine.number(f"{part}/xmc_fpga_temp")
        power = machine.number(f"{part}/xmc_power")
        return DeviceMetrics(temperature_c=temperature or None, power_w=power / _MICRO if power else None)
    return DeviceMetrics()


def _problem(user: str, render: str, machine: Machine) -> str:
    if machine.number(f"{user}/dev_offline") == 1:
        return "The driver says that it is offline."
    if machine.number(f"{user}/ready") == 0:
        return "The driver says that it is not ready."
    return "" if render else "The driver xocl does not offer it to programs."


PLUGIN = Plugin(
    LpuSettings,
    lambda settings: AcceleratorDriver(HyperAccel(settings.boards), settings.machine()),
    "HyperAccel LPUs",
)
