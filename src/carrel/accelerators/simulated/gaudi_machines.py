"""Simulated machines with Intel Gaudi cards.

Output in the format of hl-smi. Sources of facts: PCI ids from pci.ids (August 2026) and the habanalabs driver; names,
memory and the used memory of an idle card from output of hl-smi in Intel Gaudi's documentation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrel.accelerators.gaudi import QUERY, SMI
from carrel.accelerators.simulated.trees import MachineTree, PlannedCard


@dataclass(frozen=True, slots=True)
class GaudiModel:
    """idle_mib: memory in use while no process has the card."""

    name: str
    ids: str
    mem_mib: int
    device_type: str
    idle_mib: int
    idle_w: int


MODELS: Mapping[str, GaudiModel] = {
    # Gaudi 2 mezzanine card HL-225H, 96 GB
    "gaudi2": GaudiModel("HL-225", "1da3:1020", 98304, "GAUDI2", 768, 92),
    # Gaudi 3 mezzanine card HL-325L, 128 GB
    "gaudi3": GaudiModel("HL-325L", "1da3:1060", 131072, "GAUDI3", 672, 226),
}


def write(tree: MachineTree, cards: Sequence[tuple[str, PlannedCard]]) -> None:
    """Add these cards, each with the name of its model; the module id of a card is not its index."""
    rows = []
    for index, (name, card) in enumerate(cards):
        model, module = MODELS[name], card.number ^ 1
        place = tree.pci(card, model.ids, "120000")
        attributes = {
            "pci_addr": card.address,
            "module_id": module,
            "device_type": model.device_type,
            "status": "Operational",
            f"accel/accel{index}/dev": f"261:{index}",
            f"infiniband_verbs/uverbs{index}/abi_version": 1,
        }
        for attribute, value in attributes.items():
            tree.text(f"{place}/{attribute}", value)
        tree.link(f"sys/class/accel/accel{index}/device", f"../../../bus/pci/devices/{card.address}")
        tree.node(
            f"/dev/accel/accel{index}",
            f"/dev/accel/accel_controlD{index}",
            f"/dev/infiniband/uverbs{index}",
        )
        rows.append(_row(model, card, module))
    tree.tool(SMI, ("-Q",), rows)


def _row(model: GaudiModel, card: PlannedCard, module: int) -> str:
    """As hl-smi writes it, with units and padding."""
    fields = (
        card.address,
        f"01P0-{model.name.replace('-', '')}-SIM-{card.uuid[:8]}",
        f" {model.name} ",
        module,
        f"{model.mem_mib} MiB",
        f"{model.idle_mib} MiB",
        "0 %",
        f"{35 + card.number % 4} C",
        f"{model.idle_w} W",
        0,
    )
    return ", ".join(str(field) for field, _ in zip(fields, QUERY, strict=True))
