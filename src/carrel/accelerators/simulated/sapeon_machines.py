"""Simulated machines with Sapeon cards, for the profile of the driver by PCI ids.

Sources of facts: the vendor's PCI id from pci.ids (August 2026). Device ids and device files are assumptions: no public
document names them.
"""

from collections.abc import Mapping, Sequence

from carrel.accelerators.simulated.trees import MachineTree, PlannedCard

MODELS: Mapping[str, str] = {"x220": "1f56:0220", "x330": "1f56:0330"}


def write(tree: MachineTree, cards: Sequence[tuple[str, PlannedCard]]) -> None:
    """Add these cards, each with the name of its model."""
    for index, (name, card) in enumerate(cards):
        tree.pci(card, MODELS[name], "120000")
        tree.node(f"/dev/sapeon{index}")
