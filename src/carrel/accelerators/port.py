"""The accelerator port: one kind of accelerator on this machine, in two methods.

Which container gets which device is the scheduler's to decide; the engine asks here what there is, and what a
container needs that was given some.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

WHOLE = 1000
"""What one device holds, in thousandths."""


@dataclass(frozen=True, slots=True)
class Device:
    """One accelerator of a machine. set: devices with the same number are near each other (NUMA node, NVLink)."""

    id: str
    family: str
    """How its slots begin: "cuda" for cuda.device and cuda.shares."""
    model: str = ""
    set: int = 0


@dataclass(frozen=True, slots=True)
class Attachment:
    """What a container gets with its devices."""

    env: Mapping[str, str] = field(default_factory=dict)


class Accelerators(Protocol):
    """One kind of accelerator of this machine."""

    def discover(self) -> Sequence[Device]:
        """What there is now; empty when there is none. Cheap: asked every few seconds."""
        ...

    def attach(self, held: Mapping[str, int]) -> Attachment:
        """What a container needs that holds these. held: device -> thousandths; those of others are passed over."""
        ...


def slots_of(devices: Iterable[Device]) -> dict[str, int]:
    """The slots that these devices make: FAMILY.device counts them, FAMILY.shares their thousandths."""
    slots: dict[str, int] = {}
    for device in devices:
        for slot, amount in ((f"{device.family}.device", 1), (f"{device.family}.shares", WHOLE)):
            slots[slot] = slots.get(slot, 0) + amount
    return slots
