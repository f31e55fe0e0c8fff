"""API types of kinds of slots."""

from typing import Literal

from pydantic import BaseModel

from carrel.core.slots import SlotKind


class SlotKindView(BaseModel):
    """type: "count" is whole devices, "shares" thousandths of devices, "unique" whole devices of which a container has
    one at most; cpu is in thousandths too ("millis"), mem in "bytes". family: slots of the same family are allocated
    from the same devices, and a container has one of them; null for cpu and mem. scale: base units per displayed unit:
    1000 for millis and shares. quantum: amounts are multiples of it. allowed: the only valid amounts; empty: any.
    title, unit: for display; may be empty.
    """

    name: str
    family: str | None
    type: Literal["millis", "bytes", "count", "shares", "unique"]
    scale: int
    quantum: int
    allowed: list[int]
    title: str
    unit: str


class SlotKindList(BaseModel):
    items: list[SlotKindView]


CPU = SlotKindView(
    name="cpu", family=None, type="millis", scale=1000, quantum=1, allowed=[], title="CPU", unit="core"
)
MEM = SlotKindView(
    name="mem", family=None, type="bytes", scale=1, quantum=1, allowed=[], title="Memory", unit="byte"
)


def view(kind: SlotKind) -> SlotKindView:
    """A kind as clients get it."""
    return SlotKindView(
        name=kind.name,
        family=kind.family,
        type=kind.type.value,
        scale=kind.scale,
        quantum=kind.quantum,
        allowed=list(kind.allowed),
        title=kind.title,
        unit=kind.unit,
    )
