"""API types of presets."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from carrel.core.ids import GroupId, PresetId
from carrel.core.units import LEAST, format_slot
from carrel.http.validation import SlotName, broken, says
from carrel.tenancy.schemas import PlaceName, Ref

_Amount = Annotated[
    int, Field(ge=1, le=2**62), says("A preset has a whole number of at least 1 of each slot that it names.")
]


def _are_requestable(slots: dict[str, int]) -> dict[str, int]:
    for slot, least in LEAST.items():
        if slots.get(slot, least) < least:
            raise broken(f"A session has at least {format_slot(slot, least)}.")
    return slots


PresetSlots = Annotated[
    dict[SlotName, _Amount],
    Field(min_length=1, max_length=50, examples=[{"cpu": 4000, "mem": 16 << 30, "cuda.shares": 300}]),
    AfterValidator(_are_requestable),
]


class PresetCreate(BaseModel):
    """group: id or name of its resource group; null: all groups. slots: in base units."""

    model_config = {"extra": "forbid"}

    name: PlaceName
    group: Ref | None = None
    slots: PresetSlots


class PresetUpdate(BaseModel):
    """Omitted fields keep their values; slots are replaced completely."""

    model_config = {"extra": "forbid"}

    name: PlaceName = ""
    group: Ref | None = None
    slots: PresetSlots = {}


class PresetGroup(BaseModel):
    id: GroupId
    name: str


class PresetView(BaseModel):
    """group: null for a preset of all groups."""

    id: PresetId
    name: str
    group: PresetGroup | None
    slots: dict[str, int]
    created_at: datetime


class PresetList(BaseModel):
    items: list[PresetView]
