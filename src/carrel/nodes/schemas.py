"""Wire types of nodes."""

from pydantic import BaseModel


class SlotAmounts(BaseModel):
    """cpu: millicores. mem: bytes."""

    cpu: int
    mem: int


class ResourcesView(BaseModel):
    """largest: the biggest single session that could start now."""

    nodes: int
    capacity: SlotAmounts
    used: SlotAmounts
    left: SlotAmounts
    largest: SlotAmounts
