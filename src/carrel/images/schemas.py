"""API types of images."""

from datetime import datetime

from pydantic import BaseModel, Field

from carrel.core.ids import ImageId, RegistryId
from carrel.http.paging import PageQuery
from carrel.http.query import QueryBool
from carrel.nodes.slot_schemas import AllSlotAmounts


class AppRef(BaseModel):
    name: str
    title: str
    protocol: str


class ImageView(BaseModel):
    """name: of an image that a scan has added: its reference. architecture: null if it has several. registry_id,
    digest, layers, scanned_at: of a scanned image; size_bytes is then that of its compressed layers. family, version:
    group images. contents: versions of what it contains, such as python and cuda; cuda-driver: the least one.
    """

    id: ImageId
    name: str = Field(validation_alias="shown_name")
    reference: str
    title: str
    description: str
    architecture: str | None
    size_bytes: int | None
    present: bool
    min_slots: AllSlotAmounts
    apps: list[AppRef]
    registry_id: RegistryId | None
    digest: str | None
    family: str
    version: str
    architectures: list[str]
    layers: int | None
    built_at: datetime | None
    contents: dict[str, str]
    accelerators: list[str]
    licenses: str
    scanned_at: datetime | None


class ImageQuery(PageQuery):
    """Which images to list. sort: name, or version: by numbers, not by text."""

    q: str | None = Field(default=None, max_length=100, description="part of the name or title")
    family: str | None = Field(default=None, max_length=255)
    registry: str | None = Field(
        default=None, max_length=64, description="id of the registry that was scanned"
    )
    scanned: QueryBool | None = Field(
        default=None, description="true: only images of scans; false: only others; omitted: all"
    )


class ImageList(BaseModel):
    items: list[ImageView]
    next_cursor: str | None = None
