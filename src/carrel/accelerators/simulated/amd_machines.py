"""Simulated machines with AMD Instinct GPUs.

Sources of facts: PCI ids from pci.ids (August 2026), memory from AMD's data sheets: 192 GB for MI300X, 64 GB for each
of the two dies of MI250X. Files as in the kernel's documentation of amdgpu; KFD has those properties that Carrel reads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrel.accelerators.simulated.trees import MachineTree, PlannedCard

_FIRST_RENDER_NODE = 129
"""128 is that of a graphics card of the board, as on many servers."""


@dataclass(frozen=True, slots=True)
class AmdModel:
    """simd_count: in KFD. pci_class: of the function. idle_w: in watts."""

    ids: str
    pci_class: str
    mem_bytes: int
    simd_count: int
    idle_w: int


MODELS: Mapping[str, AmdModel] = {
    # pci.ids: Aqua Vanjaram [Instinct MI300X]
    "mi300x": AmdModel("1002:74a1", "120000", 192 << 30, 1216, 139),
    # pci.ids: Aldebaran/MI200 [Instinct MI250X/MI250]; one die
    "mi250x": AmdModel("1002:740c", "038000", 64 << 30, 440, 91),
}


def write(tree: MachineTree, cards: Sequence[tuple[str, PlannedCard]]) -> None:
    """Add these GPUs, each with the name of its model. All of a model are in one hive."""
    tree.node("/dev/kfd")
    tree.text(
        "sys/class/kfd/kfd/topology/nodes/0/properties",
        "cpu_cores_count 64\nsimd_count 0\ndrm_render_minor 0",
    )
    for index, (name, card) in enumerate(cards):
        model, render = MODELS[name], _FIRST_RENDER_NODE + index
        hive = 1 + sorted(MODELS).index(name)
        place = tree.pci(card, model.ids, model.pci_class)
        attributes = {
            f"drm/renderD{render}/dev": f"226:{render}",
            f"drm/card{index + 1}/dev": f"226:{index + 1}",
            "unique_id": card.uuid.replace("-", "")[:16],
            "mem_info_vram_total": model.mem_bytes,
            "mem_info_vram_used": 298 << 20,
            "gpu_busy_percent": 0,
            "current_compute_partition": "SPX",
            "current_memory_partition": "NPS1",
            "hwmon/hwmon5/temp1_label": "edge",
            "hwmon/hwmon5/temp1_input": 34_000,
            "hwmon/hwmon5/temp2_label": "junction",
            "hwmon/hwmon5/temp2_input": 38_000 + 1000 * (index % 4),
            "hwmon/hwmon5/power1_average": model.idle_w * 1_000_000,
            "ras/umc_err_count": "ue: 0\nce: 0",
        }
        for attribute, value in attributes.items():
            tree.text(f"{place}/{attribute}", value)
        tree.node(f"/dev/dri/renderD{render}", f"/dev/dri/card{index + 1}")
        properties = (
            f"cpu_cores_count 0\nsimd_count {model.simd_count}\nhive_id {hive}\ndrm_render_minor {render}"
        )
        tree.text(f"sys/class/kfd/kfd/topology/nodes/{index + 1}/properties", properties)
