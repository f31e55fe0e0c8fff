"""Simulated machines with GroqCards.

Sources of facts: PCI ids and products from pci.ids (August 2026); of the output of `tsp-ctl health-check` what
documents of the Argonne Leadership Computing Facility show: a line of text, then JSON with Summary.tsp_status of each
card. How it names cards is an assumption.
"""

import json
from collections.abc import Mapping, Sequence

from carrel.accelerators.groq import CTL, RUNTIME
from carrel.accelerators.simulated.trees import MachineTree, PlannedCard

MODELS: Mapping[str, str] = {
    # pci.ids: TSP [GroqChip], GC1-010B [GroqCard]
    "groqcard": "1de0:0000"
}
_SUBSYSTEM = "0xc005"


def write(tree: MachineTree, cards: Sequence[tuple[str, PlannedCard]]) -> None:
    """Add these cards."""
    tree.text(f"{RUNTIME}/version", "simulated")
    for index, (name, card) in enumerate(cards):
        place = tree.pci(card, MODELS[name], "120000")
        tree.text(f"{place}/subsystem_device", _SUBSYSTEM)
        tree.node(f"/dev/groqA{index}")
    states = {f"groqA{index}": {"Summary": {"tsp_status": "Up"}} for index in range(len(cards))}
    tree.tool(CTL, ("health-check",), ["Health-check of all devices", json.dumps(states, indent=2)])
