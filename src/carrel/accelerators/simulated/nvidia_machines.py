"""Simulated machines with NVIDIA GPUs.

Output in the format of nvidia-smi. Sources of facts: PCI ids from pci.ids (August 2026); names and memory as in output
of nvidia-smi that users have published; links from NVIDIA's product briefs: 18 for Hopper, 12 for A100 with NVSwitch.
MIG profiles: NVIDIA, "Multi-Instance GPU User Guide", supported profiles of the H100 80GB.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from carrel.accelerators.mps import CONTROL, DIRECTORY
from carrel.accelerators.nvidia import SMI
from carrel.accelerators.port import ShareTier
from carrel.accelerators.simulated.mps_program import CONTROL_PROGRAM
from carrel.accelerators.simulated.trees import MachineTree, PlannedCard


@dataclass(frozen=True, slots=True)
class GpuModel:
    """links: of NVLink to each other GPU; 0: none. profile: of its MIG instances; empty: it is not in MIG mode. tier:
    in which its machine enforces shares.
    """

    name: str
    ids: str
    mem_mib: int
    compute_capability: str
    idle_w: str
    links: int = 0
    profile: str = ""
    instances: int = 0
    tier: ShareTier = ShareTier.NONE


MODELS: Mapping[str, GpuModel] = {
    # pci.ids: GH100 [H100 SXM5 80GB]
    "h100": GpuModel("NVIDIA H100 80GB HBM3", "10de:2330", 81559, "9.0", "71.32", links=18),
    # the same, seven instances of 1g.10gb
    "h100-mig": GpuModel(
        "NVIDIA H100 80GB HBM3", "10de:2330", 81559, "9.0", "71.32", links=18, profile="1g.10gb", instances=7
    ),
    # the same, on a machine with a driver and a cgroup that limit memory
    "h100-slice": GpuModel(
        *("NVIDIA H100 80GB HBM3", "10de:2330", 81559, "9.0", "71.32"), links=18, tier=ShareTier.SLICE
    ),
    # and with a daemon of MPS version 3
    "h100-mps3": GpuModel(
        *("NVIDIA H100 80GB HBM3", "10de:2330", 81559, "9.0", "71.32"), links=18, tier=ShareTier.MPS3
    ),
    # pci.ids: GH100 [H200 SXM 141GB]
    "h200": GpuModel("NVIDIA H200", "10de:2335", 143771, "9.0", "76.10", links=18),
    # pci.ids: GA100 [A100 SXM4 80GB]
    "a100": GpuModel("NVIDIA A100-SXM4-80GB", "10de:20b2", 81920, "8.0", "62.74", links=12),
    # pci.ids: AD102GL [L40S]; no NVLink
    "l40s": GpuModel("NVIDIA L40S", "10de:26b9", 46068, "8.9", "35.60"),
}


def write(tree: MachineTree, cards: Sequence[tuple[str, PlannedCard]]) -> None:
    """Add these GPUs, each with the name of its model; in the order of the PCI bus."""
    tree.node("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
    for minor, (name, card) in enumerate(cards):
        _write_files(tree, MODELS[name], card, minor)
    tree.tool(SMI, ("--query-gpu=",), (_row(MODELS[name], card) for name, card in cards))
    tree.tool(SMI, ("--query-remapped-rows=",), (f"0000{card.address.upper()}, 0, 0" for _, card in cards))
    tree.tool(SMI, ("-L",), _listed(cards))
    tree.tool(SMI, ("topo",), _topology(cards))
    _write_sharing(tree, {MODELS[name].tier for name, _ in cards})


def _write_sharing(tree: MachineTree, tiers: Set[ShareTier]) -> None:
    """Driver, cgroups and MPS; the strongest tier of its GPUs is that of the machine."""
    driver = "580.65.06" if tiers == {ShareTier.NONE} else "615.71.09"
    tree.text(
        "proc/driver/nvidia/version", f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {driver}  (simulated)"
    )
    if tiers != {ShareTier.NONE}:
        tree.text("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids dmem misc")
    if ShareTier.MPS3 in tiers:
        tree.text(f"{DIRECTORY}/control", "simulated")
        tree.program(CONTROL, CONTROL_PROGRAM)


def _write_files(tree: MachineTree, model: GpuModel, card: PlannedCard, minor: int) -> None:
    tree.pci(card, model.ids, "030200")
    tree.node(f"/dev/nvidia{minor}")
    information = {
        "Model": model.name,
        "IRQ": 120 + minor,
        "GPU UUID": f"GPU-{card.uuid}",
        "Video BIOS": "??.??.??.??.??",
        "Bus Type": "PCIe",
        "Bus Location": card.address,
        "Device Minor": minor,
    }
    text = "\n".join(f"{name}: \t {value}" for name, value in information.items())
    tree.text(f"proc/driver/nvidia/gpus/{card.address}/information", text)


def _row(model: GpuModel, card: PlannedCard) -> str:
    """Utilization of a GPU in MIG mode is not available."""
    mode = (
        "Enabled" if model.profile else "Disabled" if model.compute_capability in ("8.0", "9.0") else "[N/A]"
    )
    fields = (
        f"GPU-{card.uuid}",
        f"0000{card.address.upper()}",
        model.name,
        model.mem_mib,
        0,
        "[N/A]" if model.profile else 0,
        31 + card.number % 4,
        model.idle_w,
        0,
        mode,
        "[N/A]",
        "None",
        model.compute_capability,
    )
    return ", ".join(map(str, fields))


def _listed(cards: Sequence[tuple[str, PlannedCard]]) -> Iterator[str]:
    for number, (name, card) in enumerate(cards):
        model = MODELS[name]
        yield f"GPU {number}: {model.name} (UUID: GPU-{card.uuid})"
        for instance in range(model.instances):
            part = PlannedCard(instance, f"{card.key}/{instance}", card.address, card.numa)
            yield f"  MIG {model.profile:<15} Device {instance:>2}: (UUID: MIG-{part.uuid})"


def _topology(cards: Sequence[tuple[str, PlannedCard]]) -> Iterator[str]:
    yield "\t" + "\t".join(f"GPU{number}" for number in range(len(cards))) + "\tCPU Affinity\tNUMA Affinity"
    for number, one in enumerate(cards):
        cells = (" X " if one is other else _link(one, other) for other in cards)
        yield f"GPU{number}\t" + "\t".join(cells) + f"\t0-31\t{one[1].numa}"


def _link(one: tuple[str, PlannedCard], other: tuple[str, PlannedCard]) -> str:
    if one[0] == other[0] and MODELS[one[0]].links:
        return f"NV{MODELS[one[0]].links}"
    return "NODE" if one[1].numa == other[1].numa else "SYS"
