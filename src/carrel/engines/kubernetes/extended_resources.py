"""Accelerators of a cluster: the extended resources that device plug-ins of vendors offer on its nodes.

The cluster counts units, and the plug-in chooses the device of each. A device here is a unit: NAME/NUMBER.

Sources: https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/ and the
documentation of the plug-ins.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from carrel.accelerators.port import Device
from carrel.core.slots import WHOLE, SlotKind, SlotType
from carrel.engines.accelerated import cannot_attach
from carrel.engines.kubernetes.quantities import quantity

MOST_UNITS = 64
"""Per resource and node: more are not devices, but places of something that is shared."""
_KINDS: Mapping[str, SlotKind] = {
    "nvidia.com/gpu": SlotKind("cuda.device", "cuda", SlotType.COUNT, title="NVIDIA GPU"),
    "amd.com/gpu": SlotKind("rocm.device", "rocm", SlotType.COUNT, title="AMD GPU", unit="GPU"),
    "habana.ai/gaudi": SlotKind(
        "gaudi.device", "gaudi", SlotType.COUNT, allowed=(1, 2, 4, 8), title="Intel Gaudi"
    ),
    "furiosa.ai/warboy": SlotKind(
        "warboy.device", "warboy", SlotType.COUNT, title="FuriosaAI Warboy", unit="card"
    ),
    "furiosa.ai/rngd": SlotKind("rngd.device", "rngd", SlotType.COUNT, title="FuriosaAI RNGD", unit="card"),
    # Its plug-in does not tell models apart.
    "rebellions.ai/npu": SlotKind("rbln.device", "rbln", SlotType.COUNT, title="Rebellions NPU", unit="NPU"),
    "tenstorrent.com/n150": SlotKind(
        "n150.device", "n150", SlotType.COUNT, title="Tenstorrent n150", unit="card"
    ),
    "tenstorrent.com/n300": SlotKind(
        "n300.device", "n300", SlotType.COUNT, title="Tenstorrent n300", unit="card"
    ),
    "c600.graphcore.ai/ipu": SlotKind(
        "c600.device", "c600", SlotType.COUNT, allowed=(1, 2, 4, 8), title="Graphcore C600"
    ),
}
_CORES = re.compile(r"furiosa\.ai/rngd-(?P<cores>[124])core\.\d{1,3}gb")
"""Of FuriosaAI's plug-in where it divides cards."""
_MIG = "nvidia.com/mig-"
_PRODUCT = "nvidia.com/gpu.product"
"""Label of nodes by NVIDIA's feature discovery."""
_VARIABLES: Mapping[str, str] = {
    "nvidia.com": "NVIDIA_VISIBLE_DEVICES",
    "amd.com": "AMD_VISIBLE_DEVICES",
    "habana.ai": "HABANA_VISIBLE_DEVICES",
}
"""By domain, what its plug-in sets: the value of a pod would take precedence."""


def requested(requests: Mapping[str, str]) -> Counter[str]:
    """The extended resources among these quantities."""
    return Counter({name: quantity(amount) for name, amount in requests.items() if "/" in name})


def kind_of(resource: str, others: Collection[str]) -> SlotKind | None:
    """How containers request a resource; None if it is not offered. others: offered besides those of known vendors."""
    if resource in _KINDS:
        return _KINDS[resource]
    if resource.startswith(_MIG):
        profile = resource.removeprefix(_MIG)
        family = f"cuda.mig-{profile}"
        return SlotKind(family, family, SlotType.UNIQUE, title=f"NVIDIA GPU, MIG {profile}", unit="instance")
    if cores := _CORES.fullmatch(resource):
        family = resource.partition("/")[2].replace("-", ".")
        title = f"FuriosaAI RNGD, {cores['cores']} of 8 cores"
        return SlotKind(family, family, SlotType.COUNT, title=title, unit="group")
    if resource in others:
        family = re.sub(r"[^a-z0-9_-]", "-", resource.partition("/")[2].lower())
        return SlotKind(f"{family}.device", family, SlotType.COUNT, title=resource)
    return None


def offered(
    machine: Mapping[str, Any], foreign: Mapping[str, int], held: Collection[str], others: Collection[str]
) -> tuple[tuple[Device, ...], tuple[SlotKind, ...]]:
    """The units of a node. foreign: amounts that pods of others have: so many fewer, but none that ours hold."""
    devices: list[Device] = []
    kinds: dict[str, SlotKind] = {}
    for resource, amount in sorted(requested(machine["status"]["allocatable"]).items()):
        kind = kind_of(resource, others)
        if kind is None or not 0 < amount <= MOST_UNITS:
            continue
        units = [f"{resource}/{number}" for number in range(amount)]
        free = [unit for unit in units if unit not in held]
        taken = free[max(len(free) - foreign.get(resource, 0), 0) :]
        model = (
            (machine["metadata"].get("labels") or {}).get(_PRODUCT, "") if "nvidia.com" in resource else ""
        )
        devices += [Device(unit, kind.family, model) for unit in units if unit not in taken]
        kinds[kind.name] = kind
    return tuple(devices), tuple(kinds.values())


def amounts(devices: Mapping[str, int]) -> Mapping[str, str]:
    """What a pod with these units requests. devices: unit -> thousandths. Raises: EngineError for other devices."""
    if any("/" not in unit or amount != WHOLE for unit, amount in devices.items()):
        raise cannot_attach("In a cluster, accelerators are whole units of extended resources.")
    counts = Counter(unit.rpartition("/")[0] for unit in devices)
    return {resource: str(count) for resource, count in sorted(counts.items())}


def variables(devices: Iterable[str]) -> frozenset[str]:
    """Variables that the plug-ins of these units set."""
    domains = {unit.partition("/")[0] for unit in devices}
    return frozenset(name for domain, name in _VARIABLES.items() if domain in domains)
