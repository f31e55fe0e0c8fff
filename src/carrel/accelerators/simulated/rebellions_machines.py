"""Simulated machines with Rebellions NPUs.

Sources of facts: PCI ids from RBLN-SW/rbln-npu-feature-discovery; output of `rbln-smi` as in a capture of ATOM+ that
lablup/all-smi has published (numbers are texts; power in microwatts, memory in bytes) with the groups of `rbln-smi -g`;
memory and power of REBEL from the RBLN SDK documentation. An ATOM-Max card has four NPUs behind a switch of its own,
with one serial number and one measurement of power.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrel.accelerators.rebellions import TOOLS
from carrel.accelerators.simulated.trees import MachineTree, PlannedCard


@dataclass(frozen=True, slots=True)
class RebellionsModel:
    """npus: of a card."""

    name: str
    ids: str
    mem_bytes: int
    idle_w: float
    npus: int = 1


MODELS: Mapping[str, RebellionsModel] = {
    # ATOM, 16 GB
    "atom": RebellionsModel("RBLN-CA02", "1eff:1020", 16877879296, 17.6),
    # ATOM+, 16 GB
    "atom-plus": RebellionsModel("RBLN-CA22", "1eff:1220", 16877879296, 18.109794),
    # ATOM-Max, 64 GB: one of the four NPUs of a card
    "atom-max": RebellionsModel("RBLN-CA25", "1eff:1250", 16877879296, 41.2, npus=4),
    # REBEL, 140 GiB as rbln-smi lists it
    "rebel": RebellionsModel("RBLN-CR13", "1eff:2130", 140 << 30, 100.0),
}


def write(tree: MachineTree, cards: Sequence[tuple[str, PlannedCard]]) -> None:
    """Add these NPUs, each with the name of its model. Each card is an RSD group."""
    rows, groups = [], _groups(cards)
    for index, (name, card) in enumerate(cards):
        model, group = MODELS[name], groups[index]
        switch = 0xA0 + group if model.npus > 1 else 0x90 + card.numa
        place = tree.pci(card, model.ids, "120000", switch=f"0000:{switch:02x}:00.0")
        tree.text(f"{place}/rebellions/rbln{index}/dev", f"510:{index}")
        tree.text(f"{place}/sriov_numvfs", 0)
        tree.link(
            f"sys/class/rebellions/rbln{index}",
            f"../../bus/pci/devices/{card.address}/rebellions/rbln{index}",
        )
        tree.text(f"{place}/rebellions/rbln{index}/status", 0)
        tree.node(f"/dev/rbln{index}", f"/dev/rsd{group}")
        rows.append(_row(index, group, groups[:index].count(group), name, card))
    tree.tool(
        TOOLS[0],
        ("-g", "-j"),
        [json.dumps({"KMD_version": "3.0.0", "devices": rows, "contexts": []}, indent=2)],
    )


def _groups(cards: Sequence[tuple[str, PlannedCard]]) -> list[int]:
    keys = [(name, card.number // MODELS[name].npus) for name, card in cards]
    order = list(dict.fromkeys(keys))
    return [order.index(key) for key in keys]


def _row(index: int, group: int, npu: int, name: str, card: PlannedCard) -> Mapping[str, object]:
    """npu: within its group, as a number or as a text depending on the version."""
    model = MODELS[name]
    return {
        "group_id": str(group),
        "npu": npu,
        "name": model.name,
        "sid": f"{22513300 + group:016}",
        "uuid": card.uuid,
        "device": f"rbln{index}",
        "status": "normal",
        "fw_ver": "3.0.0",
        "pci": {
            "dev": f"0x{model.ids.partition(':')[2]}",
            "bus_id": card.address,
            "numa_node": str(card.numa),
            "link_speed": "32.0GT/s",
            "link_width": "16",
        },
        "temperature": f"{29 + card.number % 4}C",
        "card_power": f"{model.idle_w * 1_000_000:.0f}uW",
        "pstate": "P14",
        "memory": {"used": "0", "total": str(model.mem_bytes)},
        "util": "0.0",
        "board_info": "0005000c",
        "location": npu + 1,
    }
