"""API types of images on nodes."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from carrel.core.ids import ImagePullId, NodeId
from carrel.http.paging import PageQuery
from carrel.http.validation import says
from carrel.images.node_images.cleanup_rules import KeptFor
from carrel.tables.node_images import PullState
from carrel.tenancy.schemas import ProjectRef, Ref, UserRef

ImageReference = Annotated[
    str,
    StringConstraints(min_length=1, max_length=512, strip_whitespace=True, pattern=r"^[\x21-\x7e]+$"),
    says("An image is written like python:3.12 or registry.example.org/lab/tools:1."),
]
NodeName = Annotated[str, Field(min_length=1, max_length=253)]


class NodeRef(BaseModel):
    id: NodeId
    name: str


class NodeImageView(BaseModel):
    """image_id: of the engine. references: by tag; empty if the tags have moved to newer images. size_bytes: with
    layers that other images share. since: when it was first seen there. used_at: when a session last used it; null: not
    since then. in_use: a container uses it. pulled: Carrel pulled it, so that a clean-up may remove it. removing: it is
    being removed. problem: why that failed.
    """

    image_id: str
    references: list[str]
    digest: str | None
    size_bytes: int
    since: datetime
    used_at: datetime | None
    in_use: bool
    pulled: bool
    removing: bool
    problem: str | None


class NodeImageQuery(PageQuery):
    """Which images to list. sort: size, used_at or since."""

    q: str | None = Field(default=None, max_length=100, description="part of a reference")


class NodeImageList(BaseModel):
    """count, size_bytes: of all images of the node, not only of this page; layers that images share count for each."""

    count: int
    size_bytes: int
    items: list[NodeImageView]
    next_cursor: str | None


class ImagePullCreate(BaseModel):
    """nodes: ids or names; or group: all nodes of this resource group, by id or name. project: with the credentials of
    its registries and of its domain's; omitted: of the installation's.
    """

    model_config = {"extra": "forbid"}

    reference: ImageReference
    nodes: list[NodeName] = Field(default=[], max_length=1000)
    group: Ref | None = None
    project: Ref | None = None


class NodePullView(BaseModel):
    """progress: 0..1; null: not known. problem: why it failed, or why it is not done yet."""

    node: NodeRef
    state: PullState
    progress: float | None
    problem: str | None
    size_bytes: int | None
    started_at: datetime | None
    ended_at: datetime | None


class ImagePullView(BaseModel):
    """state: of all nodes together; failed: on one of them at least. total, done, failed: numbers of nodes. progress:
    mean of all, 0..1. cancel: it was requested. nodes: those that are not done first; at most 100 in a list.
    """

    id: ImagePullId
    reference: str
    project: ProjectRef | None
    requested_by: UserRef | None
    state: PullState
    cancel: bool
    progress: float
    total: int
    done: int
    failed: int
    created_at: datetime
    ended_at: datetime | None
    nodes: list[NodePullView]


class ImagePullList(BaseModel):
    items: list[ImagePullView]
    next_cursor: str | None


class ImagePruneRequest(BaseModel):
    """Remove images that Carrel pulled and that no session has used for so many days. nodes: ids or names; empty: all.
    registered: also those that are registered under a name. dry_run: only report what would be removed.
    """

    model_config = {"extra": "forbid"}

    older_than_days: int = Field(default=30, ge=0, le=3650)
    nodes: list[NodeName] = Field(default=[], max_length=1000)
    registered: bool = False
    dry_run: bool = False


class PrunedImage(BaseModel):
    """used_at: when it was last used, or else pulled."""

    node: NodeRef
    image_id: str
    references: list[str]
    size_bytes: int
    used_at: datetime


class KeptImages(BaseModel):
    """How many images stay for one reason."""

    cause: KeptFor
    count: int
    size_bytes: int


class ImagePruneView(BaseModel):
    """count, size_bytes: of all that are removed; layers that other images share stay. items: at most 1000 of them,
    the least recently used first. They are removed in the background.
    """

    dry_run: bool
    count: int
    size_bytes: int
    items: list[PrunedImage]
    kept: list[KeptImages]
