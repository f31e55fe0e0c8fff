"""Simulated machines with HyperAccel LPUs.

Sources of facts: PCI ids from pci.ids (August 2026), that of the user function from lspci of machines with XRT; files
as in Xilinx/XRT (xmc, drm, xfpga); /opt/hyperdex from HyperAccel's documentation. Temperature and power are examples.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from carrel.accelerators.hyperaccel import HYPERDEX, MANAGEMENT, USER, VENDOR_ID
from carrel.accelerators.simulated.trees import MachineTree, PlannedCard

MODELS: Mapping[str, str] = {"u55c-lpu": f"{VENDOR_ID}:{MANAGEMENT}"}
_FIRST_RENDER_NODE = 200
"""Those of simulated GPUs are below."""


def write(tree: MachineTree, cards: Sequence[tuple[str, PlannedCard]]) -> None:
    """Add these boards."""
    tree.text(f"{HYPERDEX}/setup.sh", "# simulated")
    for index, (name, card) in enumerate(cards):
        render = f"renderD{_FIRST_RENDER_NODE + index}"
        board = tree.pci(card, MODELS[name], "120000")
        user = tree.pci(replace(card, address=f"{card.address[:-1]}1"), f"{VENDOR_ID}:{USER}", "120000")
        files = {
            f"{board}/xmc.m.{index}/serial_num": f"XFL1SIM{card.uuid[:5].upper()}",
            f"{user}/drm/{render}/dev": f"226:{_FIRST_RENDER_NODE + index}",
            f"{user}/ready": "0x1",
            f"{user}/dev_offline": 0,
            f"{user}/xmc.u.{index}/xmc_fpga_temp": 38 + card.number % 4,
            f"{user}/xmc.u.{index}/xmc_power": 24_510_000,
        }
        for path, text in files.items():
            tree.text(path, text)
        bus = int(card.address.split(":")[1], 16)
        tree.node(f"/dev/dri/{render}", f"/dev/xfpga/xvc_pri.m{bus << 8}.0")
