"""Simulated machines by a short description, such as h100x8,gaudi3x8."""

import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from carrel.accelerators.simulated import (
    amd_machines,
    furiosa_machines,
    gaudi_machines,
    graphcore_machines,
    groq_machines,
    hyperaccel_machines,
    nvidia_machines,
    rebellions_machines,
    sambanova_machines,
    sapeon_machines,
    tenstorrent_machines,
)
from carrel.accelerators.simulated.trees import MachineTree, PlannedCard

MOST = 64
"""Cards of a machine."""
_VERSION = 2
"""Of the trees: another one is written beside those that containers may have mounted."""
_PART = re.compile(r"([a-z0-9][a-z0-9.-]*?)x([1-9][0-9]?)")
_FIRST_BUS = 0x18

Write = Callable[[MachineTree, Sequence[tuple[str, PlannedCard]]], None]


@dataclass(frozen=True, slots=True)
class SimulatedVendor:
    """kind: of the plug-in."""

    kind: str
    models: Mapping[str, object]
    write: Write


VENDORS = (
    SimulatedVendor("nvidia", nvidia_machines.MODELS, nvidia_machines.write),
    SimulatedVendor("amd", amd_machines.MODELS, amd_machines.write),
    SimulatedVendor("gaudi", gaudi_machines.MODELS, gaudi_machines.write),
    SimulatedVendor("furiosa", furiosa_machines.MODELS, furiosa_machines.write),
    SimulatedVendor("rebellions", rebellions_machines.MODELS, rebellions_machines.write),
    SimulatedVendor("tenstorrent", tenstorrent_machines.MODELS, tenstorrent_machines.write),
    SimulatedVendor("graphcore", graphcore_machines.MODELS, graphcore_machines.write),
    SimulatedVendor("groq", groq_machines.MODELS, groq_machines.write),
    SimulatedVendor("hyperaccel", hyperaccel_machines.MODELS, hyperaccel_machines.write),
    SimulatedVendor("sambanova", sambanova_machines.MODELS, sambanova_machines.write),
    SimulatedVendor("pci", sapeon_machines.MODELS, sapeon_machines.write),
)


def parse(description: str) -> Mapping[str, int]:
    """The number of cards by model. Raises: ValueError with what is wrong, in a sentence."""
    known = sorted(model for vendor in VENDORS for model in vendor.models)
    counts: dict[str, int] = {}
    for part in filter(None, (one.strip().lower() for one in description.split(","))):
        match = _PART.fullmatch(part)
        if match is None or match[1] not in known:
            raise ValueError(f"{part} is not MODELxCOUNT with one of the models {', '.join(known)}.")
        counts[match[1]] = counts.get(match[1], 0) + int(match[2])
    if sum(counts.values()) > MOST:
        raise ValueError(f"{sum(counts.values())} cards are too many; {MOST} is the most.")
    return counts


def plugin_settings(counts: Mapping[str, int], root: Path) -> dict[str, dict[str, object]]:
    """Settings, by kind, of the plug-ins that are to use the simulated machine. root: of its tree."""
    return {
        vendor.kind: {"root": str(root), "simulated": True}
        for vendor in VENDORS
        if not counts.keys().isdisjoint(vendor.models)
    }


def write(counts: Mapping[str, int], directory: Path) -> Path:
    """Write the tree of the machine; returns its root. Twice: no-op, since containers may have mounted its files."""
    root = directory / "-".join([f"v{_VERSION}", *(f"{model}x{counts[model]}" for model in sorted(counts))])
    if root.is_dir():
        return root
    directory.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=directory, prefix=".draft-"))
    draft.chmod(0o755)
    buses = count(_FIRST_BUS)
    for vendor in VENDORS:
        cards = [
            (
                model,
                PlannedCard(
                    number, f"{model}/{number}", f"0000:{next(buses):02x}:00.0", number * 2 // counts[model]
                ),
            )
            for model in vendor.models
            if model in counts
            for number in range(counts[model])
        ]
        if cards:
            vendor.write(MachineTree(draft), cards)
    # Another process may have been faster.
    with suppress(OSError):
        draft.rename(root)
    shutil.rmtree(draft, ignore_errors=True)
    return root
