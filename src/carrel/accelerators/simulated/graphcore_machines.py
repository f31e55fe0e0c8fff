"""Simulated machines with Graphcore C600 cards.

Output in the format of gc-inventory. Sources of facts: attributes and their values from Graphcore's "Command Line
Tools", device attributes of a C600 system; the vendor's PCI id from pci.ids (August 2026). The PCI device of the C600
is an assumption: no public document has it.
"""

import json
from collections.abc import Mapping, Sequence

from carrel.accelerators.graphcore import INVENTORY, NODES
from carrel.accelerators.simulated.trees import MachineTree, PlannedCard

MODELS: Mapping[str, str] = {"c600": "1d95:0003"}


def write(tree: MachineTree, cards: Sequence[tuple[str, PlannedCard]]) -> None:
    """Add these cards; the last one has the first device files."""
    devices = []
    for index, (name, card) in enumerate(cards):
        number = len(cards) - 1 - index
        tree.pci(card, MODELS[name], "120000")
        tree.node(*(node.format(number) for node in NODES))
        devices.append(_attributes(card, index, number))
    # A device of several IPUs has no attributes of a card.
    devices.append({"id": str(len(cards)), "target": "Multi IPU"})
    tree.tool(INVENTORY, ("-2",), [json.dumps({"devices": devices}, indent=2)])


def _attributes(card: PlannedCard, index: int, number: int) -> Mapping[str, str]:
    return {
        "id": str(index),
        "target": "PCIe",
        "average board temp": f"{17 + card.number % 4}.8 C",
        "average die temp": f"{20 + card.number % 4}.0 C",
        "board ipu index": "0",
        "board serial number": f"0063.0063.{int(card.uuid[:8], 16) % 1_000_000:06}",
        "board type": "C600",
        "hexoatt active size (bytes)": "0",
        "hexoatt total size (bytes)": "16911433728",
        "ipu architecture": "ipu21",
        "ipu error state": "no errors",
        "ipu power": "N/A",
        "ipu utilisation": "0.00%",
        "numa node": str(card.numa),
        "pci id": card.address,
        "sysfs file id": str(number),
        "total board power": "12.6 W",
    }
