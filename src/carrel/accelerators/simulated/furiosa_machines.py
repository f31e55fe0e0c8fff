"""Simulated machines with FuriosaAI cards.

Sources of facts: PCI ids from pci.ids (August 2026); files of sysfs from furiosa-ai/device-api, device files from
furiosa-ai/libfuriosa-kubernetes; output of furiosa-smi from FuriosaAI's documentation and from what lablup/all-smi
reads: temperature and power are texts with units. Memory from FuriosaAI's data sheets: Warboy 16 GB, RNGD 48 GB.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from carrel.accelerators.furiosa import PLATFORM, SMI
from carrel.accelerators.simulated.trees import MachineTree, PlannedCard


@dataclass(frozen=True, slots=True)
class FuriosaModel:
    """fused: groups of cores with a device file of their own. others: end of the names of the other device files."""

    ids: str
    cores: int
    class_directory: str
    entry: str
    nodes: str
    alive: str
    fused: tuple[str, ...]
    others: tuple[str, ...]
    mem_bytes: int
    idle_w: str


MODELS: Mapping[str, FuriosaModel] = {
    # pci.ids: Warboy
    "warboy": FuriosaModel(
        "1ed2:0000",
        2,
        "sys/class/npu_mgmt",
        "npu{}_mgmt",
        "/dev/npu{}",
        "alive",
        ("0-1",),
        ("", "_mgmt", *(f"ch{number}" for number in range(4))),
        0,
        "8.51 W",
    ),
    # pci.ids: RNGD
    "rngd": FuriosaModel(
        "1ed2:0001",
        8,
        "sys/class/rngd_mgmt",
        "rngd!npu{}mgmt",
        "/dev/rngd/npu{}",
        "device_state",
        ("0-1", "2-3", "4-5", "6-7", "0-3", "4-7"),
        (
            "mgmt",
            *(f"ch{number}" for number in range(8)),
            *(f"ch{number}r" for number in range(8)),
            "dmar",
            "bar0",
            "bar2",
            "bar4",
        ),
        48 << 30,
        "38.40 W",
    ),
}


def write(tree: MachineTree, cards: Sequence[tuple[str, PlannedCard]]) -> None:
    """Add these cards, each with the name of its model."""
    for index, (name, card) in enumerate(cards):
        model = MODELS[name]
        tree.pci(card, model.ids, "120000")
        attributes = {
            "platform_type": PLATFORM,
            "device_type": "Warboy" if name == "warboy" else "RNGD",
            "device_uuid": card.uuid.upper(),
            "device_sn": f"{name.upper()}-SIM-{card.number:04}",
            "busname": card.address,
            "fw_version": "1.7.0, 4dfed1852e7b",
            "version": "2026.1.0, 0abcdef",
            "heartbeat": 42,
            model.alive: 1,
        }
        for attribute, value in attributes.items():
            tree.text(f"{model.class_directory}/{model.entry.format(index)}/{attribute}", value)
        cores = [f"pe{core}" for core in (*range(model.cores), *model.fused)]
        tree.node(*(f"{model.nodes.format(index)}{end}" for end in (*model.others, *cores)))
    tree.tool(SMI, ("info",), _json(_info(index, *each) for index, each in enumerate(cards)))
    tree.tool(SMI, ("status",), _json(_status(index, *each) for index, each in enumerate(cards)))


def _json(rows: Iterator[Mapping[str, object]]) -> list[str]:
    return [json.dumps(list(rows), indent=2)]


def _info(index: int, name: str, card: PlannedCard) -> Mapping[str, object]:
    return {
        "arch": "warboy" if name == "warboy" else "rngd",
        "dev_name": f"npu{index}",
        "device_uuid": card.uuid.upper(),
        "device_sn": f"{name.upper()}-SIM-{card.number:04}",
        "firmware": "1.7.0, 4dfed1852e7b",
        "temperature": f"{38 + card.number % 4}.50°C",
        "power": MODELS[name].idle_w,
        "core_clock": "1000 MHz",
        "governor": "OnDemand",
        "pci_bdf": card.address,
        "pci_dev": f"235:{index}",
    }


def _status(index: int, name: str, card: PlannedCard) -> Mapping[str, object]:
    model = MODELS[name]
    dram = {"used_size": 0, "total_size": model.mem_bytes, "used_ratio": 0.0}
    return {
        "arch": "warboy" if name == "warboy" else "rngd",
        "device": f"npu{index}",
        "liveness": "alive",
        **({"memory": {"dram": dram}} if model.mem_bytes else {}),
        "pe_utilizations": [
            {"pe_core": core, "pe_occupancy": False, "pe_utilization": 0.0} for core in range(model.cores)
        ],
    }
