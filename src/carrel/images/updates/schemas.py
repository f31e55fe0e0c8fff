"""API types of updates of images."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from carrel.http.validation import says
from carrel.tables.images import WatchRule

Digest = Annotated[
    str,
    StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$"),
    says("A digest is sha256: and 64 hexadecimal digits."),
]
ImageName = Annotated[
    str, Field(min_length=1, max_length=512, description="An id, name, reference, alias or family.")
]


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


class ImageUpdateChoice(BaseModel):
    """digest: what was seen, so that nothing newer is meant; omitted: the one that is available."""

    model_config = {"extra": "forbid"}

    image: ImageName
    digest: Digest | None = None


class ImageUpdateCheck(BaseModel):
    """image: omitted: all that are watched."""

    model_config = {"extra": "forbid"}

    image: ImageName | None = None


class ImageUpdateCheckView(BaseModel):
    """images: how many are checked soon."""

    images: int
