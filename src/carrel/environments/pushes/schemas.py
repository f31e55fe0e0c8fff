"""API types of pushes."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from carrel.core.ids import EnvironmentId, PushId, RegistryId
from carrel.http.validation import says
from carrel.images.registries.schemas import RegistryRef
from carrel.tables.pushes import PushState
from carrel.tenancy.schemas import Ref, UserRef

REPOSITORY = r"^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$"
Repository = Annotated[
    str,
    StringConstraints(max_length=255, pattern=REPOSITORY),
    says("A repository is like team/torch: lowercase letters and digits, with . _ - or / between them."),
]
Tag = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$"),
    says("A tag has at most 128 letters, digits, _ . or -, and begins with a letter, a digit or _."),
]


class PushCreate(BaseModel):
    """registry: id or name; omitted: the only one to which you may push. repository: without the registry's namespace;
    omitted: the name of the environment, or the first one that is permitted. tag: omitted: the name of the version.
    """

    model_config = {"extra": "forbid"}

    registry: Ref | None = None
    repository: Repository | None = None
    tag: Tag | None = None


class PushView(BaseModel):
    """registry: null: it was removed. reference: with host, repository and tag. digest: of the image in the registry;
    pinned: the reference with it, which always means this image. progress: 0..1. problem: why it failed, or why it is
    tried again; code: of it, such as `push_denied`.
    """

    id: PushId
    environment_id: EnvironmentId
    environment: str
    version: str
    registry: RegistryRef | None
    reference: str
    state: PushState
    cancel: bool
    progress: float | None
    problem: str | None
    code: str | None
    digest: str | None
    pinned: str | None
    requested_by: UserRef | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class PushList(BaseModel):
    items: list[PushView]
    next_cursor: str | None


class PushTarget(BaseModel):
    """A registry to which you may push. prefix: of its references: host and namespace. repositories: globs of those to
    which you may push, without the namespace. repository: where it goes unless you name another.
    """

    id: RegistryId
    name: str
    prefix: str
    repositories: list[str]
    repository: str


class PushTargetList(BaseModel):
    """refusal: why versions of this environment cannot be pushed; null: they can."""

    items: list[PushTarget]
    refusal: str | None
