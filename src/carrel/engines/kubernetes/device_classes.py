"""Devices of a cluster that drivers of dynamic resource allocation publish, and their classes. Pure: decoded JSON in.

A driver publishes the devices of a node in slices, of which those of a pool belong together. A class selects some of
them by expressions, of which the forms that drivers ship are understood here: `==` of the driver and of attributes,
joined by `&&`. A device here is CLASS/IDENTITY, by an attribute that tells the devices of a node apart, such as its
UUID. Without one it is a unit, CLASS/NUMBER, and the cluster chooses the device.

Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/ (resource.k8s.io/v1, 1.34)
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from carrel.accelerators.port import Device, DeviceState
from carrel.core.slots import SlotKind, SlotType
from carrel.engines.kubernetes.extended_resources import MOST_UNITS, known_kind
from carrel.engines.kubernetes.quantities import quantity

Value = str | int | bool
_KEPT_AWAY = ("NoSchedule", "NoExecute")
_IDENTITIES = (
    *("uuid", "UUID", "serial", "serialNumber"),
    *("resource.kubernetes.io/pciBusID", "pciBusID", "pciAddress"),
)
"""Attributes that may tell the devices of a node apart, the best first."""
_MODELS = ("productName", "model", "modelName", "cardSeries")
_PCI = ("resource.kubernetes.io/pciBusID", "pciBusID", "pciAddress")
_NUMA = ("resource.kubernetes.io/numaNode", "numaNode", "numa")
_ROOT = ("resource.kubernetes.io/pcieRoot",)
_IDENTITY = re.compile(r"(?!\d+$)[A-Za-z0-9][\w.:-]{0,127}")
_TEXT = r"\"(?:[^\"\\]*)\"|'(?:[^'\\]*)'"
_TERM = re.compile(
    rf"\s*device\.(?:(?P<driver>driver)|attributes\[(?P<domain>{_TEXT})\]\.(?P<name>\w+))"
    rf"\s*==\s*(?P<value>{_TEXT}|true|false|-?\d+)\s*(?:(?P<more>&&)|$)"
)


class Place(NamedTuple):
    """How a claim names the device that it has."""

    driver: str
    pool: str
    name: str


@dataclass(frozen=True, slots=True)
class PublishedDevice:
    """attributes: by qualified name. kept_away: keys of the taints that keep containers away from it."""

    place: Place
    node: str
    attributes: Mapping[str, Value]
    mem_bytes: int | None
    kept_away: tuple[str, ...]

    def attribute(self, names: Iterable[str]) -> Value | None:
        """The first of these attributes that it has."""
        return next((value for name in names if (value := self._value(name)) is not None), None)

    def _value(self, name: str) -> Value | None:
        return self.attributes.get(_qualified(name, self.place.driver))


@dataclass(frozen=True, slots=True)
class Slice:
    """generation: of its pool, of which the latest counts. count: of the slices of its pool."""

    pool: tuple[str, str]
    generation: int
    count: int
    devices: tuple[PublishedDevice, ...]


class Term(NamedTuple):
    """What a device of a class has. attribute: qualified; empty: its driver."""

    attribute: str
    value: Value


@dataclass(frozen=True, slots=True)
class DeviceClass:
    """terms: all of them hold for its devices; None: its expressions are of other forms."""

    name: str
    terms: tuple[Term, ...] | None

    def has(self, device: PublishedDevice) -> bool:
        """True if the device is of the class."""
        return self.terms is not None and all(_holds(term, device) for term in self.terms)


@dataclass(frozen=True, slots=True)
class ClassDevice:
    """identity: name of the attribute that is in its id; empty: the device is any of its class."""

    device: Device
    published: PublishedDevice
    class_name: str
    identity: str


class DeviceOffer(NamedTuple):
    """devices: that our containers can get. states: of all."""

    devices: tuple[Device, ...]
    states: tuple[DeviceState, ...]


def slice_kept(item: Mapping[str, Any]) -> Slice:
    """What is kept of a slice: devices that one container has for itself, each of one node."""
    spec = item["spec"]
    pool = spec["pool"]
    devices = [
        _published(one, spec["driver"], pool["name"], node)
        for one in spec.get("devices") or ()
        if (node := spec.get("nodeName") or one.get("nodeName"))
        and not one.get("allowMultipleAllocations")
        and not one.get("consumesCounters")
    ]
    key = spec["driver"], pool["name"]
    return Slice(key, pool["generation"], pool["resourceSliceCount"], tuple(devices))


def _published(one: Mapping[str, Any], driver: str, pool: str, node: str) -> PublishedDevice:
    attributes = {
        _qualified(name, driver): value
        for name, typed in (one.get("attributes") or {}).items()
        for kind, value in typed.items()
        if kind in ("string", "int", "bool")
    }
    memory = (one.get("capacity") or {}).get("memory") or (one.get("capacity") or {}).get(f"{driver}/memory")
    away = [taint["key"] for taint in one.get("taints") or () if taint["effect"] in _KEPT_AWAY]
    mem_bytes = quantity(memory["value"]) if memory else None
    return PublishedDevice(Place(driver, pool, one["name"]), node, attributes, mem_bytes, tuple(away))


def _qualified(name: str, driver: str) -> str:
    return name if "/" in name else f"{driver}/{name}"


def class_kept(item: Mapping[str, Any]) -> DeviceClass:
    """What is kept of a class."""
    selectors = item["spec"].get("selectors") or ()
    terms = [_terms((one.get("cel") or {}).get("expression", "")) for one in selectors]
    together = tuple(term for one in terms for term in one or ())
    return DeviceClass(item["metadata"]["name"], None if None in terms else together)


def _terms(expression: str) -> list[Term] | None:
    terms, at, joined = [], 0, True
    while at < len(expression):
        match = _TERM.match(expression, at)
        if match is None:
            return None
        literal, domain = match["value"], (match["domain"] or "")[1:-1]
        value = literal[1:-1] if literal[0] in "\"'" else json.loads(literal)
        terms.append(Term(f"{domain}/{match['name']}" if domain else "", value))
        at, joined = match.end(), bool(match["more"])
    return None if joined else terms


def _holds(term: Term, device: PublishedDevice) -> bool:
    value = device.attributes.get(term.attribute) if term.attribute else device.place.driver
    return type(value) is type(term.value) and value == term.value


def complete(slices: Iterable[Slice]) -> list[PublishedDevice]:
    """The devices of the pools of which all slices of the latest generation are there, as for the scheduler."""
    pools: defaultdict[tuple[str, str], list[Slice]] = defaultdict(list)
    for one in slices:
        pools[one.pool].append(one)
    devices: list[PublishedDevice] = []
    for parts in pools.values():
        latest = max(part.generation for part in parts)
        current = [part for part in parts if part.generation == latest]
        if len(current) == current[0].count:
            devices += [device for part in current for device in part.devices]
    return devices


def slot_kind(class_name: str, slot: str) -> SlotKind:
    """The slot kind that a setting names for a class. Raises: ValueError."""
    if kind := known_kind(slot):
        return kind
    match = re.fullmatch(r"([a-z0-9][a-z0-9_-]{0,40})\.device", slot)
    if match is None:
        raise ValueError(f"{slot}: the slot of a class is FAMILY.device, such as cuda.device.")
    return SlotKind(slot, match[1], SlotType.COUNT, title=class_name)


def parsed(settings: Iterable[str]) -> Mapping[str, SlotKind]:
    """Slot kinds by class, of CLASS=SLOT. Raises: ValueError."""
    kinds: dict[str, SlotKind] = {}
    for one in settings:
        name, _, slot = one.partition("=")
        if name in kinds:
            raise ValueError(f"{name}: this class has two slots.")
        kinds[name] = slot_kind(name, slot)
    return kinds


def of_nodes(
    classes: Iterable[DeviceClass], devices: Iterable[PublishedDevice], kinds: Mapping[str, SlotKind]
) -> Mapping[str, Sequence[ClassDevice]]:
    """By node, the devices of the classes with these kinds. A device of several is of the first in the order of
    kinds.
    """
    known = {one.name: one for one in classes}
    grouped: defaultdict[str, defaultdict[str, list[PublishedDevice]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for device in sorted(devices, key=lambda one: one.place):
        name = next((name for name in kinds if name in known and known[name].has(device)), None)
        if name is not None:
            grouped[device.node][name].append(device)
    return {
        node: [
            each
            for name, members in by_class.items()
            if len(members) <= MOST_UNITS
            for each in _identified(name, kinds[name].family, members)
        ]
        for node, by_class in grouped.items()
    }


def _identified(name: str, family: str, members: Sequence[PublishedDevice]) -> Iterable[ClassDevice]:
    identity = next((one for one in _IDENTITIES if _tells_apart(one, members)), "")
    roots = sorted({str(root) for one in members if (root := one.attribute(_ROOT)) is not None})
    for number, one in enumerate(members):
        own = one.attribute([identity]) if identity else number
        numa, root = one.attribute(_NUMA), one.attribute(_ROOT)
        numa = numa if isinstance(numa, int) and numa >= 0 else None
        device = Device(
            f"{name}/{own}",
            family,
            str(one.attribute(_MODELS) or ""),
            roots.index(str(root)) if root is not None else numa or 0,
            str(one.attribute(_PCI) or ""),
            numa,
            mem_bytes=one.mem_bytes,
        )
        yield ClassDevice(device, one, name, identity)


def _tells_apart(identity: str, members: Sequence[PublishedDevice]) -> bool:
    values = [one.attribute([identity]) for one in members]
    valid = all(isinstance(value, str) and _IDENTITY.fullmatch(value) for value in values)
    return valid and len(set(values)) == len(values)


def is_claimed(device: str) -> bool:
    """True for an id of a class, false for a unit of an extended resource, which has a second slash."""
    return device.count("/") == 1


def requests(held: Collection[str], there: Iterable[ClassDevice]) -> list[dict[str, object]]:
    """What a claim for these devices of a node requests. Raises: KeyError for one that is not there."""
    known = {one.device.id: one for one in there}
    by_class: defaultdict[str, list[ClassDevice]] = defaultdict(list)
    for device in sorted(held):
        by_class[known[device].class_name].append(known[device])
    return [
        {"name": f"devices-{number}", "exactly": _exactly(name, chosen)}
        for number, (name, chosen) in enumerate(sorted(by_class.items()))
    ]


def _exactly(name: str, chosen: Sequence[ClassDevice]) -> dict[str, object]:
    counted = {"deviceClassName": name, "allocationMode": "ExactCount", "count": len(chosen)}
    first = chosen[0]
    if not first.identity:
        return counted
    driver = first.published.place.driver
    domain, _, attribute = _qualified(first.identity, driver).partition("/")
    values = json.dumps([one.published.attribute([first.identity]) for one in chosen])
    # What is not of the driver may not have the attribute, and an error ends the search.
    expression = f'device.driver == "{driver}" && device.attributes["{domain}"].{attribute} in {values}'
    return {**counted, "selectors": [{"cel": {"expression": expression}}]}


def allocated(item: Mapping[str, Any]) -> frozenset[Place]:
    """The devices that a claim has for itself."""
    results = ((item.get("status") or {}).get("allocation") or {}).get("devices", {}).get("results") or ()
    return frozenset(
        Place(one["driver"], one["pool"], one["device"]) for one in results if not one.get("adminAccess")
    )


def offered(there: Sequence[ClassDevice], foreign: Collection[Place], held: Collection[str]) -> DeviceOffer:
    """The devices of a node without those that claims of others have. held: by containers of ours."""
    by_class: defaultdict[str, list[ClassDevice]] = defaultdict(list)
    for one in there:
        by_class[one.class_name].append(one)
    devices = tuple(device for members in by_class.values() for device in _free(members, foreign, held))
    return DeviceOffer(devices, tuple(map(_state, there)))


def _free(
    members: Sequence[ClassDevice], foreign: Collection[Place], held: Collection[str]
) -> Iterable[Device]:
    usable = [
        one.device for one in members if one.published.place not in foreign and not one.published.kept_away
    ]
    if members[0].identity:
        return usable
    # Units: those that ours hold, and as many others as are left.
    ours = [one.device for one in members if one.device.id in held]
    others = [one.device for one in members if one.device.id not in held]
    return [*ours, *others[: max(len(usable) - len(ours), 0)]]


def _state(one: ClassDevice) -> DeviceState:
    if one.identity and (away := one.published.kept_away):
        return DeviceState(
            one.device, healthy=False, problem=f"The cluster keeps it back: {', '.join(away)}."
        )
    return DeviceState(one.device)
