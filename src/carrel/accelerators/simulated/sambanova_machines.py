"""Simulated SambaNova machines: all RDUs of a machine are one device.

Output in the format of snfadm and sntilestat. Sources of facts: tables of both tools and eight tiles for each RDU of an
SN30 from documents and logs of the Argonne Leadership Computing Facility; four for an SN40L from SambaNova's runtime
documentation; the vendor's PCI id from pci.ids (August 2026). Its devices are assumptions: no public document has them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from carrel.accelerators.sambanova import FAULTS, NODES, TILES
from carrel.accelerators.simulated.trees import MachineTree, PlannedCard

_RDUS_OF_XRDU = 2


@dataclass(frozen=True, slots=True)
class RduModel:
    """tiles: of an RDU. platform: as the tools call the machine, with the number of RDUs."""

    ids: str
    platform: str
    tiles: int


MODELS: Mapping[str, RduModel] = {
    "sn30": RduModel("1e0d:0030", "DataScale SN30", 8),
    "sn40l": RduModel("1e0d:0040", "DataScale SN40L", 4),
}


def write(tree: MachineTree, cards: Sequence[tuple[str, PlannedCard]]) -> None:
    """Add these RDUs."""
    for name, card in cards:
        tree.pci(card, MODELS[name].ids, "120000")
    tree.node(*NODES)
    rdus = [
        (f"XRDU_{index // _RDUS_OF_XRDU}/RDU_{index % _RDUS_OF_XRDU}", MODELS[name], card)
        for index, (name, card) in enumerate(cards)
    ]
    tree.tool(FAULTS, ("-l",), _inventory(rdus))
    tree.tool(TILES, (), _tiles(rdus))


def _inventory(rdus: Sequence[tuple[str, RduModel, PlannedCard]]) -> Iterator[str]:
    yield f"Platform: {rdus[0][1].platform}-{len(rdus)}"
    yield from ("", "Physical Inventory:")
    yield _row("Component Name", "Serial Number", "Inventory State", "Functional State")
    yield "-" * 96
    for name, model, card in rdus:
        yield _row(f"/NODE/{name}", card.uuid.replace("-", "")[:16].upper(), "Present", "Online")
        for tile in range(model.tiles):
            yield _row(f"/NODE/{name}/TILE_{tile}", "N/A", "Present", "Online")


def _row(name: str, serial: str, inventory: str, functional: str) -> str:
    return f"{name:<37} | {serial:<19} | {inventory:<15} | {functional}"


def _tiles(rdus: Sequence[tuple[str, RduModel, PlannedCard]]) -> Iterator[str]:
    yield "TILE                 %idle %exec %pload %aload %chkpt %quiesce    PID     USER COMMAND"
    for name, model, _ in rdus:
        for tile in range(model.tiles):
            yield f"/{name}/TILE_{tile} 100.0   0.0    0.0    0.0    0.0      0.0"
