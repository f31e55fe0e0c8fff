"""Simulated machines with Tenstorrent Wormhole cards.

Sources of facts: PCI ids from tenstorrent/tt-kmd; attributes of sysfs from its docs/sysfs-attributes.md and hwmon.c;
output in the format of `tt-smi -s`, whose texts are padded: the second chip of an n300 has no PCI address.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from carrel.accelerators.simulated.trees import MachineTree, PlannedCard
from carrel.accelerators.tenstorrent import SMI

_IDS = "1e52:401e"
"""Of all Wormhole cards."""


@dataclass(frozen=True, slots=True)
class TenstorrentModel:
    """serial: the first digits of the serial number of a card. chips: names of the chips in tt-smi."""

    serial: str
    chips: tuple[str, ...]
    idle_w: int


MODELS: Mapping[str, TenstorrentModel] = {
    # serial numbers start with the type of the card: 0x18 and 0x14 in hwmon.c
    "n150": TenstorrentModel("01000181", ("n150 ",), 15),
    "n300": TenstorrentModel("01000145", ("n300 L", "n300 R"), 14),
}


def write(tree: MachineTree, cards: Sequence[tuple[str, PlannedCard]]) -> None:
    """Add these cards, each with the name of its model."""
    for index, (name, card) in enumerate(cards):
        place = tree.pci(card, _IDS, "120000")
        attributes = {
            "tt_card_type": name,
            "tt_serial": _serial(name, card),
            "tt_asic_id": f"{card.uuid.replace('-', '')[:16].upper()}",
            "tt_aiclk": 500,
            "tt_heartbeat": 4711,
            "tt_fw_bundle_ver": "18.7.0.0",
        }
        for attribute, value in attributes.items():
            tree.text(f"{place}/tenstorrent/tenstorrent!{index}/{attribute}", value)
        sensors = {
            "name": "wormhole",
            "temp1_label": "asic1_temp",
            "temp1_input": 41_000 + 500 * (card.number % 4),
            "in0_input": 723,
            "curr1_input": 20_000,
            "power1_input": MODELS[name].idle_w * 1_000_000,
        }
        for sensor, value in sensors.items():
            tree.text(f"{place}/hwmon/hwmon{index + 2}/{sensor}", value)
        tree.node(f"/dev/tenstorrent/{index}")
    rows = [row for name, card in cards for row in _rows(name, card)]
    tree.tool(SMI, ("-s",), [json.dumps({"host_info": {}, "device_info": rows, "processes": []}, indent=2)])


def _serial(name: str, card: PlannedCard) -> str:
    return f"{MODELS[name].serial}{card.uuid[:8].upper()}"


def _rows(name: str, card: PlannedCard) -> Iterator[Mapping[str, object]]:
    for number, chip in enumerate(MODELS[name].chips):
        yield {
            "board_info": {
                "bus_id": "N/A" if number else card.address,
                "board_type": chip,
                "board_id": _serial(name, card).lower(),
                "pcie_speed": 4,
                "pcie_width": "N/A" if number else 16,
            },
            "telemetry": {
                "voltage": "0.72",
                "current": " 20.0",
                "aiclk": " 500",
                "power": f" {MODELS[name].idle_w}.0",
                "asic_temperature": "41.0",
            },
            "limits": {"tdp_limit": " 85", "thm_limit": "75"},
        }
