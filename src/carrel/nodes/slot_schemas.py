"""API types of nodes."""

from pydantic import BaseModel


class SlotAmounts(BaseModel):
    """cpu: millicores. mem: bytes."""

    cpu: int
    mem: int


class AllSlotAmounts(SlotAmounts):
    """cpu: millicores. mem: bytes. Accelerators by slot name."""

    model_config = {"extra": "allow"}
    __pydantic_extra__: dict[str, int]


class ResourcesView(BaseModel):
    """largest: the most of each slot free on one node."""

    nodes: int
    capacity: AllSlotAmounts
    used: AllSlotAmounts
    left: AllSlotAmounts
    largest: AllSlotAmounts
