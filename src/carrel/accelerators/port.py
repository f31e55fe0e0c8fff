"""The accelerator port: one kind of accelerator on this machine, in three methods.

Which container gets which device is the scheduler's to decide; the engine asks here what there is, and what a
container needs that was given some. How containers ask for devices is declared as data (`carrel.core.slots.SlotKind`):
nothing else knows a vendor.

A plug-in is an entry point of the group `carrel.accelerators`, a `carrel.plugins.Plugin` that makes an `Accelerators`.
Every plug-in that is installed is asked; one whose hardware is absent discovers nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from carrel.core.slots import WHOLE, SlotKind, SlotType

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Device:
    """One accelerator of a machine. id: stays the same over restarts: a UUID, a serial number or a PCI address.

    family: whose slots take from it. set: devices with the same number are near each other (NUMA node, NVLink).
    """

    id: str
    family: str
    model: str = ""
    set: int = 0


@dataclass(frozen=True, slots=True)
class DeviceNode:
    """A device file of the machine, at the same path inside. permissions: of "rwm"; m makes nodes of its number."""

    path: str
    permissions: str = "rw"


@dataclass(frozen=True, slots=True)
class MachinePath:
    """A file or directory of the machine, such as a driver's libraries. source, target: absolute."""

    source: str
    target: str
    read_only: bool = True


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of processes. name: as in `ulimit`'s manual, such as memlock. -1: unlimited."""

    name: str
    soft: int
    hard: int


@dataclass(frozen=True, slots=True)
class Attachment:
    """What a container gets with its devices. An engine gives all of it or refuses; see `engines.port`.

    groups: supplementary, by the machine's number. capabilities: without CAP_, such as SYS_NICE; in the bounding set,
    for the session's user has none in effect. cdi: qualified names such as nvidia.com/gpu=GPU-1234. runtime: of the
    engine, such as nvidia; empty: its own. resources: for Kubernetes, name -> amount, in place of all the rest that
    the vendor's device plug-in does there.
    """

    env: Mapping[str, str] = field(default_factory=dict)
    nodes: tuple[DeviceNode, ...] = ()
    paths: tuple[MachinePath, ...] = ()
    groups: tuple[int, ...] = ()
    capabilities: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    cdi: tuple[str, ...] = ()
    runtime: str = ""
    resources: Mapping[str, int] = field(default_factory=dict)


NOTHING = Attachment()
"""What a container without accelerators gets."""


class Accelerators(Protocol):
    """One kind of accelerator of this machine."""

    def discover(self) -> Sequence[Device]:
        """What there is now; empty when there is none. Cheap: asked every few seconds."""
        ...

    def kinds(self) -> Sequence[SlotKind]:
        """How the devices that it discovers may be asked for: the slots of their families."""
        ...

    def attach(self, held: Mapping[str, int]) -> Attachment:
        """What a container needs that holds these. held: device -> thousandths; those of others are passed over."""
        ...


def slots_of(devices: Iterable[Device], kinds: Iterable[SlotKind]) -> dict[str, int]:
    """The slots that these devices make: of each kind of their families, as many as fit."""
    families = [device.family for device in devices]
    return {
        kind.name: families.count(kind.family) * WHOLE // kind.thousandths
        for kind in kinds
        if kind.family in families
    }


def attach(accelerators: Iterable[Accelerators], held: Mapping[str, int]) -> Attachment:
    """What a container needs of all of them. Raises: ValueError when two need different runtimes."""
    parts = [one.attach(held) for one in accelerators]
    runtimes = sorted({part.runtime for part in parts if part.runtime})
    if len(runtimes) > 1:
        raise ValueError(f"Its accelerators need different runtimes: {' and '.join(runtimes)}.")
    return Attachment(
        env={name: value for part in parts for name, value in part.env.items()},
        nodes=_once(node for part in parts for node in part.nodes),
        paths=_once(path for part in parts for path in part.paths),
        groups=_once(group for part in parts for group in part.groups),
        capabilities=_once(one for part in parts for one in part.capabilities),
        limits=_once(one for part in parts for one in part.limits),
        cdi=_once(name for part in parts for name in part.cdi),
        runtime="".join(runtimes),
        resources={name: amount for part in parts for name, amount in part.resources.items()},
    )


def whole_and_shares(family: str, title: str = "", *, quantum: int = 1) -> tuple[SlotKind, SlotKind]:
    """The usual two kinds: FAMILY.device counts devices, FAMILY.shares has thousandths, multiples of `quantum`."""
    return (
        SlotKind(f"{family}.device", family, SlotType.COUNT, title=title),
        SlotKind(f"{family}.shares", family, SlotType.SHARES, quantum, title=title),
    )


def _once(many: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(many))
