"""API types of events."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel


class EventObject(BaseModel):
    kind: str
    id: str


class EventView(BaseModel):
    """id: opaque; send it as Last-Event-ID to resume after it."""

    id: str | None
    at: datetime | None
    kind: str
    object: EventObject
    data: dict[str, Any]


class EventList(BaseModel):
    items: list[EventView]
    next_cursor: str | None = None
