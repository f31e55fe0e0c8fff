"""API types of images."""

from pydantic import BaseModel

from carrel.core.ids import ImageId
from carrel.nodes.slot_schemas import SlotAmounts


class AppRef(BaseModel):
    name: str
    title: str
    protocol: str


class ImageView(BaseModel):
    id: ImageId
    name: str
    reference: str
    title: str
    description: str
    architecture: str | None
    size_bytes: int | None
    present: bool
    min_slots: SlotAmounts
    apps: list[AppRef]


class ImageList(BaseModel):
    items: list[ImageView]
    next_cursor: str | None = None
