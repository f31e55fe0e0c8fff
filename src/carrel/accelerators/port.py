"""The accelerator port: one kind of accelerator on this machine, in three methods, and a fourth for measurements.

The scheduler decides which container gets which device; the engine uses this port to discover devices and to get what a
container needs for its devices. How containers request devices is declared as data (`carrel.core.slots.SlotKind`):
nothing else depends on a vendor.

A plug-in is an entry point of the group `carrel.accelerators`, a `carrel.plugins.Plugin` that makes an `Accelerators`.
Every installed plug-in is queried; without its hardware it discovers nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeVar, runtime_checkable

from carrel.core.device_blocks import Blocks
from carrel.core.slots import WHOLE, SlotKind, SlotType

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Device:
    """One accelerator of a machine. id: stable over restarts: a UUID, a serial number or a PCI address.

    family: of the slots that it provides. set: devices with the same number are near each other (NUMA node, NVLink).
    pci: its address, such as 0000:18:00.0; empty: unknown. numa: the NUMA node. clique: devices with the same name are
    connected directly, without the PCI bus; empty: none is. mem_bytes: of the device itself. blocks: the sets in which
    a container may get it with others; see `carrel.scheduling.valid_sets`. switch: devices with the same name are below
    one PCI switch; empty: no other one is.
    """

    id: str
    family: str
    model: str = ""
    set: int = 0
    pci: str = ""
    numa: int | None = None
    clique: str = ""
    mem_bytes: int | None = None
    blocks: Blocks = ()
    switch: str = ""


@dataclass(frozen=True, slots=True)
class DeviceNode:
    """A device file of a container. permissions: a subset of "rwm"; m: mknod. source: its path on the machine; empty:
    the same.
    """

    path: str
    permissions: str = "rw"
    source: str = ""

    @property
    def machine_path(self) -> str:
        return self.source or self.path


@dataclass(frozen=True, slots=True)
class MachinePath:
    """A file or directory of the machine, such as a driver's libraries. source, target: absolute."""

    source: str
    target: str
    read_only: bool = True


@dataclass(frozen=True, slots=True)
class Limit:
    """A resource limit of processes. name: as in `ulimit`'s manual, such as memlock. -1: unlimited."""

    name: str
    soft: int
    hard: int


@dataclass(frozen=True, slots=True)
class Attachment:
    """What a container needs for its devices. An engine applies all of it or refuses; see `engines.port`.

    groups: supplementary, by GID of the machine. capabilities: without CAP_, such as SYS_NICE; added to the bounding
    set, because the session's user has no effective ones. cdi: qualified names such as nvidia.com/gpu=GPU-1234.
    runtime: of the engine, such as nvidia; empty: its default. resources: for Kubernetes, name -> amount, instead of
    all other fields, which the vendor's device plug-in applies there. without_cdi: instead of this one, for engines
    without CDI; None: nothing is.
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
    without_cdi: "Attachment | None" = None


NOTHING = Attachment()
"""Attachment of a container without accelerators."""


class Accelerators(Protocol):
    """One kind of accelerator of this machine."""

    def discover(self) -> Sequence[Device]:
        """The current devices, without those that are out of order; empty when there are none.

        Called every few seconds, in a thread: blocking calls have time-outs.
        """
        ...

    def kinds(self) -> Sequence[SlotKind]:
        """The slot kinds of the families of its devices: how containers may request them."""
        ...

    def attach(self, held: Mapping[str, int]) -> Attachment:
        """What a container with these devices needs. held: device -> thousandths; unknown devices are ignored."""
        ...


@dataclass(frozen=True, slots=True)
class DeviceMetrics:
    """Measurements of a device; None: not known, never a fake zero.

    uncorrected_errors: of its memory, since its last reset.
    """

    utilization_percent: float | None = None
    mem_used_bytes: int | None = None
    mem_total_bytes: int | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    uncorrected_errors: int | None = None


UNKNOWN = DeviceMetrics()
"""Measurements of a device that cannot be measured."""


@dataclass(frozen=True, slots=True)
class DeviceState:
    """A device and its condition. healthy: it is offered to containers. problem: of the last reading, in a sentence;
    a device becomes unhealthy after several readings with a problem, and healthy after several without. identified: its
    id is always that of the same device; otherwise, it is a number among as many as there are at the moment.
    """

    device: Device
    healthy: bool = True
    problem: str = ""
    metrics: DeviceMetrics = UNKNOWN
    identified: bool = True


@runtime_checkable
class Monitored(Protocol):
    """Accelerators whose devices are monitored."""

    def states(self) -> Sequence[DeviceState]:
        """All devices since the start, also missing and unhealthy ones. May block, as `discover`."""
        ...


@runtime_checkable
class Companion(Protocol):
    """Accelerators that give containers something beside devices of others, such as network adapters near them."""

    def beside(self, devices: Sequence[Device], held: Mapping[str, int]) -> Attachment:
        """What a container with these devices gets besides. devices: all of the machine. held: as for `attach`."""
        ...


class ShareTier(StrEnum):
    """How shares of devices are enforced on a machine, the strongest first.

    MPS3: memory and computing, by version 3 of NVIDIA's MPS. SLICE: memory; those who share a device take turns. MPS2:
    older versions of MPS, which Carrel does not use. MIG: devices are divided in hardware, into devices. NONE: not.
    """

    MPS3 = "mps3"
    SLICE = "slice"
    MPS2 = "mps2"
    MIG = "mig"
    NONE = "none"

    @property
    def is_enforced(self) -> bool:
        """Shares of devices are offered, and no session gets more than its share of memory."""
        return self in (ShareTier.MPS3, ShareTier.SLICE)

    def enforces(self, made: "ShareTier") -> bool:
        """Also the shares of containers that were made with the tier `made`: MPS3 limits memory as SLICE does."""
        return self is made or (self is ShareTier.MPS3 and made is ShareTier.SLICE)


@dataclass(frozen=True, slots=True)
class Sharing:
    """reason: why there is no stronger tier, as sentences; empty for the strongest."""

    tier: ShareTier
    reason: str = ""


class ShareError(Exception):
    """A share cannot be enforced; the message is a sentence. retriable: it may be, later."""

    def __init__(self, message: str, *, retriable: bool = True) -> None:
        super().__init__(message)
        self.retriable = retriable


Holders = Mapping[ShareTier, Mapping[str, Mapping[str, int]]]
"""Containers with shares by the tier with which they were made, and what they hold: device -> thousandths. NONE: those
whose shares nothing enforces.
"""


@runtime_checkable
class Dividing(Protocol):
    """Accelerators whose devices are shared by containers. All methods may block.

    container: its id. held: as for `attach`; whole devices are no shares. For a container with shares: `share`, `keep`
    with it, the start of a main process that waits, `enforce`, and only then its command.
    """

    def sharing(self) -> Sharing | None:
        """None: it has no devices."""
        ...

    def share(self, container: str, held: Mapping[str, int]) -> Attachment | None:
        """What the container gets for its shares besides `attach`; None: it has none that are enforced.

        Raises: ShareError.
        """
        ...

    def keep(self, holders: Holders) -> Mapping[str, str]:
        """Set up what these containers, and no others, need outside of them, and remove what was set up for others.
        Twice: no-op. Returns the devices for which it failed, each with a sentence that says why.
        """
        ...

    def enforce(
        self, container: str, held: Mapping[str, int], tier: ShareTier, pid: int, engine_id: str
    ) -> None:
        """Limit the running container, and read back what is set. tier: with which it was made. pid: of its main
        process. engine_id: the container's in its engine, which its cgroup is named by. Twice: no-op.

        Raises: ShareError; its command must not begin then.
        """
        ...


def slots_of(devices: Iterable[Device], kinds: Iterable[SlotKind]) -> dict[str, int]:
    """The slots that these devices provide: for each kind of their families, as many as fit."""
    families = [device.family for device in devices]
    return {
        kind.name: families.count(kind.family) * WHOLE // kind.thousandths
        for kind in kinds
        if kind.family in families
    }


def attach(
    accelerators: Iterable[Accelerators], held: Mapping[str, int], *, has_cdi: bool = True
) -> Attachment:
    """The combined attachment of a container. has_cdi: of its engine.

    Raises: ValueError when two parts need different runtimes.
    """
    accelerators = list(accelerators)
    attached = [one.attach(held) for one in accelerators]
    if companions := [one for one in accelerators if isinstance(one, Companion)]:
        devices = [state.device for state in states_of(accelerators)]
        attached += [one.beside(devices, held) for one in companions]
    parts = [(None if has_cdi else part.without_cdi) or part for part in attached]
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


def states_of(accelerators: Iterable[Accelerators]) -> list[DeviceState]:
    """All devices and their condition; those that nobody monitors are healthy, and not measured. May block."""
    return [
        state
        for kind in accelerators
        for state in (kind.states() if isinstance(kind, Monitored) else map(DeviceState, kind.discover()))
    ]


def whole_and_shares(family: str, title: str = "", *, quantum: int = 1) -> tuple[SlotKind, SlotKind]:
    """The two usual kinds: FAMILY.device counts devices, FAMILY.shares has thousandths, in multiples of `quantum`."""
    return (
        SlotKind(f"{family}.device", family, SlotType.COUNT, title=title),
        SlotKind(f"{family}.shares", family, SlotType.SHARES, quantum, title=title),
    )


def _once(many: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(many))
