"""API types of images."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from carrel.core.ids import ImageId, RegistryId
from carrel.http.paging import PageQuery
from carrel.http.query import QueryBool
from carrel.http.validation import SLOT, says
from carrel.nodes.slot_schemas import AllSlotAmounts
from carrel.tables.images import WatchRule
from carrel.tenancy.schemas import Amount, Ref

Alias = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9](?:[a-z0-9_.-]{0,62}[a-z0-9])?$"),
    says("An alias has 1 to 64 lowercase letters and digits, with _ . - between them."),
]
SlotName = Annotated[
    str,
    StringConstraints(pattern=rf"^{SLOT}$"),
    says("A slot is cpu, mem, or an accelerator such as cuda.device or cuda.shares."),
]
ImageSlots = Annotated[dict[SlotName, Amount], Field(max_length=50)]
Scopes = Annotated[list[Ref], Field(max_length=500)]


class ImageState(StrEnum):
    """limited: to some domains, projects or resource groups. watched: for updates. update: one is available."""

    ENABLED = "enabled"
    DISABLED = "disabled"
    HIDDEN = "hidden"
    DEPRECATED = "deprecated"
    LIMITED = "limited"
    WATCHED = "watched"
    UPDATE = "update"


class AppRef(BaseModel):
    name: str
    title: str
    protocol: str


class WatchState(StrEnum):
    """UNCHECKED: not yet. AVAILABLE: the tag has a new digest. TAKING: an update is to be taken. SKIPPED: the new
    digest is not to be taken. MISSING: the registry no longer has the tag. FAILED: the last check did not work.
    """

    UNCHECKED = "unchecked"
    CURRENT = "current"
    AVAILABLE = "available"
    TAKING = "taking"
    SKIPPED = "skipped"
    MISSING = "missing"
    FAILED = "failed"


class ImageWatchView(BaseModel):
    """A watched image. available, available_since: the new digest of its tag. skipped: a digest that is not offered.
    problem: why the last check did not work, or the update is not taken yet. taken_at: of the last update.
    """

    rule: WatchRule
    state: WatchState
    available: str | None
    available_since: datetime | None
    skipped: str | None
    checked_at: datetime | None
    taken_at: datetime | None
    problem: str | None


class CudaNodes(BaseModel):
    """total: nodes with devices of NVIDIA that you may see. able: those whose driver and architecture run the image,
    and those whose driver is not known.
    """

    able: int
    total: int


class ImageView(BaseModel):
    """name: of an image that a scan has added: its reference. architecture: null if it has several. registry_id,
    digest, layers, scanned_at: of a scanned image; size_bytes is then that of its compressed layers. family, version:
    group images. contents: versions of what it contains, such as python and cuda; cuda-driver: the least one.
    contents_from: where each was read: image for its labels and environment, or the package database: dpkg, apk, conda,
    python. packages_problem: why not all package databases could be read.
    min_slots: of its sessions; recommended_slots: to begin with. hidden: users are not offered it, and can start it by
    name. deprecated: it still starts; successor: the name of the image to use instead. aliases: further names.
    preferred: the name of its family means this version; without one, the newest. update: of a watched image, for those
    who may change it; otherwise null. digest: of a watched image, what its sessions start from. cuda_nodes: null if it
    requires nothing of drivers, and in families.
    """

    id: ImageId
    name: str = Field(validation_alias="shown_name")
    reference: str
    title: str
    description: str
    architecture: str | None
    size_bytes: int | None
    present: bool
    min_slots: AllSlotAmounts = Field(validation_alias="least_slots")
    recommended_slots: dict[str, int]
    enabled: bool
    hidden: bool
    deprecated: bool
    successor: str | None
    aliases: list[str]
    preferred: bool
    apps: list[AppRef]
    registry_id: RegistryId | None
    digest: str | None
    family: str
    version: str
    architectures: list[str]
    layers: int | None
    built_at: datetime | None
    contents: dict[str, str]
    contents_from: dict[str, str]
    packages_problem: str | None
    accelerators: list[str]
    licenses: str
    scanned_at: datetime | None
    update: ImageWatchView | None = None
    cuda_nodes: CudaNodes | None = None


class ImageScopeRef(BaseModel):
    id: str
    name: str


class ImageSettingsView(BaseModel):
    """What is set for an image. enabled: null: as its registry has it. min_slots: instead of those of its labels.
    domains, projects, groups: those that may use it; domains and projects both empty: all, groups empty: all.
    watch: for updates. pull_groups, pull_nodes: to which an update is pulled; both empty: nodes that have the present
    image.
    """

    enabled: bool | None
    min_slots: dict[str, int]
    domains: list[ImageScopeRef]
    projects: list[ImageScopeRef]
    groups: list[ImageScopeRef]
    watch: WatchRule
    pull_groups: list[ImageScopeRef]
    pull_nodes: list[ImageScopeRef]


class ImageDetail(ImageView):
    """labels: those that are understood. label_slots: the minimum by its labels. settings: for those who may change
    them, otherwise null. requires_cuda: of drivers of NVIDIA, as in NVIDIA_REQUIRE_CUDA; each line must hold. null: not
    read yet.
    """

    labels: dict[str, str]
    label_slots: dict[str, int] = Field(validation_alias="min_slots")
    requires_cuda: str | None
    settings: ImageSettingsView | None


class ImageUpdate(BaseModel):
    """Omitted fields keep their values. enabled: null: as its registry has it. successor: name or id of an image to use
    instead, for a deprecated one; null: none. preferred: the name of its family means this version, and no other.
    aliases, domains, projects, groups, min_slots, recommended_slots, pull_groups, pull_nodes: replace the present ones.
    domains, projects, groups, pull_groups, pull_nodes: ids or names. min_slots: instead of those of its labels. watch:
    for updates of its tag. pull_groups, pull_nodes: to which an update is pulled; both empty: nodes that have the
    present image.
    """

    model_config = {"extra": "forbid"}

    enabled: bool | None = None
    hidden: bool = False
    deprecated: bool = False
    successor: Annotated[str, StringConstraints(min_length=1, max_length=512)] | None = None
    aliases: Annotated[list[Alias], Field(max_length=20)] = []
    preferred: bool = False
    domains: Scopes = []
    projects: Scopes = []
    groups: Scopes = []
    min_slots: ImageSlots = {}
    recommended_slots: ImageSlots = {}
    watch: WatchRule = WatchRule.OFF
    pull_groups: Scopes = []
    pull_nodes: Scopes = []


class ImageFamily(BaseModel):
    """versions: number of images, whether a search matches them or not. default: what the name of the family means."""

    family: str
    versions: int
    default: ImageView


class ImageFamilyList(BaseModel):
    items: list[ImageFamily]
    next_cursor: str | None


class ImageFamilyQuery(PageQuery):
    """Which families to list. sort: family."""

    q: str | None = Field(default=None, max_length=100, description="part of the name or title of an image")


class ImageQuery(PageQuery):
    """Which images to list. sort: name, or version: by numbers, not by text."""

    name: str | None = Field(
        default=None,
        max_length=512,
        description="a name, reference, alias or family: only the image that it means; other filters have no effect",
    )
    offered: QueryBool = Field(
        default=False,
        description="true: for administrators too, only images that they can start and that are not hidden",
    )
    state: ImageState | None = None
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
