"""API types of updates of images."""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from carrel.http.validation import says

Digest = Annotated[
    str,
    StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$"),
    says("A digest is sha256: and 64 hexadecimal digits."),
]
ImageName = Annotated[
    str, Field(min_length=1, max_length=512, description="An id, name, reference, alias or family.")
]


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
