"""Accelerators of a cluster: the extended resources that device plug-ins of vendors offer on its nodes.

The cluster counts units, and the plug-in chooses the device of each. A device here is a unit: NAME/NUMBER.

Sources: https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/ and the
documentation of the plug-ins.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from carrel.accelerators import plugin_resources
from carrel.accelerators.port import Device
from carrel.accelerators.visible_devices import NONE
from carrel.core.slots import WHOLE, SlotKind, SlotType
from carrel.engines.accelerated import cannot_attach
from carrel.engines.kubernetes.quantities import quantity

MOST_UNITS = 64
"""Per resource and node: more are not devices, but places of something that is shared."""
_KINDS: Mapping[str, SlotKind] = {
    plugin_resources.NVIDIA_GPU: SlotKind("cuda.device", "cuda", SlotType.COUNT, title="NVIDIA GPU"),
    plugin_resources.AMD_GPU: SlotKind("rocm.device", "rocm", SlotType.COUNT, title="AMD GPU", unit="GPU"),
    plugin_resources.GAUDI: SlotKind(
        "gaudi.device", "gaudi", SlotType.COUNT, allowed=(1, 2, 4, 8), title="Intel Gaudi"
    ),
    plugin_resources.WARBOY: SlotKind(
        "warboy.device", "warboy", SlotType.COUNT, title="FuriosaAI Warboy", unit="card"
    ),
    plugin_resources.RNGD: SlotKind(
        "rngd.device", "rngd", SlotType.COUNT, title="FuriosaAI RNGD", unit="card"
    ),
    plugin_resources.REBELLIONS_NPU: SlotKind(
        "rbln.device", "rbln", SlotType.COUNT, title="Rebellions NPU", unit="NPU"
    ),
    plugin_resources.N150: SlotKind(
        "n150.device", "n150", SlotType.COUNT, title="Tenstorrent n150", unit="card"
    ),
    plugin_resources.N300: SlotKind(
        "n300.device", "n300", SlotType.COUNT, title="Tenstorrent n300", unit="card"
    ),
    plugin_resources.C600: SlotKind(
        "c600.device", "c600", SlotType.COUNT, allowed=(1, 2, 4, 8), title="Graphcore C600"
    ),
}
_MIG = re.compile(
    re.escape(plugin_resources.mig("mig-")) + r"([1-9]g\.[1-9][0-9]{0,3}gb(?:[.-][a-z0-9]{1,9}){0,3})"
)
_MIG_SLOT = "cuda.mig-"
_NVIDIA = "nvidia.com/"
_PRODUCT, _REPLICAS, _SHARING = (
    f"{_NVIDIA}gpu.{name}" for name in ("product", "replicas", "sharing-strategy")
)
"""Labels of nodes by NVIDIA's feature discovery."""
_CORES = re.compile(
    re.escape(plugin_resources.part_of(plugin_resources.RNGD, "")) + r"(?P<cores>[124])core\.\d{1,3}gb"
)
"""Of FuriosaAI's plug-in where it divides cards."""


class UnitOffer(NamedTuple):
    """devices: units that our containers can get. units: also those of pods of others."""

    devices: tuple[Device, ...]
    kinds: tuple[SlotKind, ...]
    units: tuple[Device, ...]


def requested(requests: Mapping[str, str]) -> Counter[str]:
    """The extended resources among these quantities."""
    return Counter({name: quantity(amount) for name, amount in requests.items() if "/" in name})


def kind_of(resource: str, others: Collection[str]) -> SlotKind | None:
    """How containers request a resource; None if it is not offered. others: offered besides those of known vendors."""
    if resource in _KINDS:
        return _KINDS[resource]
    if (match := _MIG.fullmatch(resource)) and not resource.endswith(".shared"):
        return _mig(match[1])
    if cores := _CORES.fullmatch(resource):
        family = resource.partition("/")[2].replace("-", ".")
        title = f"FuriosaAI RNGD, {cores['cores']} of 8 cores"
        return SlotKind(family, family, SlotType.COUNT, title=title, unit="group")
    if resource in others:
        family = family_of(resource)
        return SlotKind(f"{family}.device", family, SlotType.COUNT, title=resource)
    return None


def _mig(profile: str) -> SlotKind:
    family = f"{_MIG_SLOT}{profile}"
    return SlotKind(family, family, SlotType.UNIQUE, title=f"NVIDIA GPU, MIG {profile}", unit="instance")


def known_kind(slot: str) -> SlotKind | None:
    """The kind of a slot of a known vendor; None for others."""
    if slot.startswith(_MIG_SLOT) and _MIG.fullmatch(f"nvidia.com/{slot.removeprefix('cuda.')}"):
        return _mig(slot.removeprefix(_MIG_SLOT))
    return next((kind for kind in _KINDS.values() if kind.name == slot), None)


def family_of(resource: str) -> str:
    """The family of a resource of no known vendor: npu, of example.com/NPU."""
    return re.sub(r"[^a-z0-9_-]", "-", resource.partition("/")[2].lower())


def require_distinct(others: Collection[str]) -> None:
    """Check that each has a family of its own. Raises: ValueError."""
    families = Counter([family_of(one) for one in others] + [kind.family for kind in _KINDS.values()])
    if same := [one for one in others if families[family_of(one)] > 1]:
        raise ValueError(
            f"{' and '.join(same)}: the slot {family_of(same[0])}.device is that of another resource."
        )


def offered(
    machine: Mapping[str, Any], foreign: Mapping[str, int], held: Collection[str], others: Collection[str]
) -> UnitOffer:
    """The units of a node: those that ours hold, and as many others as are left. foreign: amounts of pods of others."""
    labels = machine["metadata"].get("labels") or {}
    devices: list[Device] = []
    units: list[Device] = []
    kinds: dict[str, SlotKind] = {}
    for resource, amount in sorted(requested(machine["status"]["allocatable"]).items()):
        kind = kind_of(resource, others)
        ours = sorted(unit for unit in held if unit.rpartition("/")[0] == resource)
        if (
            kind is None
            or not 0 < amount <= MOST_UNITS
            or (resource.startswith(_NVIDIA) and _is_shared(labels))
        ):
            continue
        free = [unit for unit in (f"{resource}/{number}" for number in range(amount)) if unit not in ours]
        left = max(amount - len(ours) - foreign.get(resource, 0), 0)
        model = labels.get(_PRODUCT, "") if resource.startswith(_NVIDIA) else ""
        every = [Device(unit, kind.family, model) for unit in sorted((*ours, *free), key=_number)]
        units += every
        devices += [one for one in every if one.id in {*ours, *free[:left]}]
        kinds[kind.name] = kind
    return UnitOffer(tuple(devices), tuple(kinds.values()), tuple(units))


def _number(unit: str) -> int:
    return int(unit.rpartition("/")[2])


def _is_shared(labels: Mapping[str, str]) -> bool:
    """True if the units of NVIDIA's plug-in are places on GPUs that are shared."""
    return (
        labels.get(_SHARING, "none") != "none"
        or labels.get(_REPLICAS, "1") not in ("0", "1")
        or labels.get(_PRODUCT, "").endswith("-SHARED")
    )


def amounts(devices: Mapping[str, int]) -> Mapping[str, str]:
    """What a pod with these devices requests of extended resources: RESOURCE/NUMBER, so with two slashes.

    devices: device -> thousandths. Raises: EngineError for those of no cluster, and parts.
    """
    if any("/" not in device or amount != WHOLE for device, amount in devices.items()):
        raise cannot_attach("In a cluster, accelerators are whole devices.")
    counts = Counter(device.rpartition("/")[0] for device in devices if device.count("/") > 1)
    return {resource: str(count) for resource, count in sorted(counts.items())}


def visible(devices: Iterable[str], *, by_cdi: bool) -> Mapping[str, str]:
    """Variables of a pod with these units for runtimes that read them: none but the plug-in gives devices.

    by_cdi: NVIDIA's plug-in uses CDI; otherwise it sets the variable, and the value of a pod would take precedence.
    """
    set_by_plugin = not by_cdi and any(unit.startswith(_NVIDIA) for unit in devices)
    return {name: value for name, value in NONE.items() if not (set_by_plugin and name.startswith("NVIDIA_"))}
