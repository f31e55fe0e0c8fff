"""Wire types of nodes."""

from pydantic import BaseModel


class SlotAmounts(BaseModel):
    """cpu: millicores. mem: bytes."""

    cpu: int
    mem: int


class AllSlotAmounts(SlotAmounts):
    """cpu: millicores. mem: bytes. And accelerators, by the names of their slots, where there are any."""

    model_config = {"extra": "allow"}
    __pydantic_extra__: dict[str, int]


class ResourcesView(BaseModel):
    """largest: the most of each slot that is left on one node."""

    nodes: int
    capacity: AllSlotAmounts
    used: AllSlotAmounts
    left: AllSlotAmounts
    largest: AllSlotAmounts
