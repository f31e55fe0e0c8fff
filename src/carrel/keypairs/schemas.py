"""Wire types of keypairs."""

from datetime import datetime

from pydantic import BaseModel


class KeypairView(BaseModel):
    access_key: str
    created_at: datetime
    last_used_at: datetime | None
    active: bool


class KeypairList(BaseModel):
    items: list[KeypairView]
    next_cursor: str | None = None


class KeypairCreated(BaseModel):
    """The secret is shown this once."""

    access_key: str
    secret_key: str
    created_at: datetime
