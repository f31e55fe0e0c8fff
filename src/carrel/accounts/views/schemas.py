"""API types of saved views."""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from carrel.core.ids import ViewId
from carrel.http.validation import says
from carrel.tables.saved_views import ViewedList

ViewName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=64, pattern=r"^[^\x00-\x1f]*$"),
    says("The name of a view has 1 to 64 characters on one line."),
]
_Key = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,20}$")]
_Value = Annotated[str, StringConstraints(max_length=400, pattern=r"^[^\x00]*$")]
ViewSearch = Annotated[
    dict[_Key, _Value],
    Field(max_length=20),
    says("A view has at most 20 parameters with values of at most 400 characters."),
]


class ViewView(BaseModel):
    """search: the parameters of the list's address, such as state and q."""

    id: ViewId
    list: ViewedList
    name: str
    search: dict[str, str]


class ViewList(BaseModel):
    items: list[ViewView]
    next_cursor: str | None = None


class ViewCreate(BaseModel):
    model_config = {"extra": "forbid"}

    list: ViewedList
    name: ViewName
    search: ViewSearch


class ViewUpdate(BaseModel):
    """What changes; absent: as before."""

    model_config = {"extra": "forbid"}

    name: ViewName | None = None
    search: ViewSearch | None = None
