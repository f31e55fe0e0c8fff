"""API types of dotfiles."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from carrel.http.validation import says

Dotpath = Annotated[
    str,
    StringConstraints(
        pattern=r"^\.[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_.-]*[A-Za-z0-9_-])*$", max_length=200
    ),
    says(
        "The path of a dotfile begins with a dot, as .bashrc or .config/git/config, and is relative to the home."
    ),
]


class DotfileView(BaseModel):
    """path: relative to the home of a session."""

    path: str
    size_bytes: int
    updated_at: datetime


class DotfileList(BaseModel):
    items: list[DotfileView]
    next_cursor: str | None = None


class DotfileContent(BaseModel):
    """content: text, at most 64 KiB."""

    model_config = {"extra": "forbid"}

    content: Annotated[
        str,
        StringConstraints(pattern=r"^[^\x00]*$", max_length=65_536),
        says("A dotfile is text of at most 65,536 characters without a zero byte."),
    ]


class DotfileDetail(DotfileView):
    content: str
