"""Saved views of lists."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import DateTime, ForeignKey, String, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import UserId, ViewId
from carrel.db.tables import Table


class ViewedList(StrEnum):
    """A list of the page with saved views."""

    SESSIONS = "sessions"


class SavedView(Table):
    """A named view of a list. search: the parameters of the list's address that hold its filter, order and columns."""

    __tablename__ = "saved_views"
    __table_args__ = (UniqueConstraint("user_id", "list", "name", name="uq_saved_views_user_id_list_name"),)

    id: Mapped[ViewId] = mapped_column(String, primary_key=True)
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"))
    list: Mapped[ViewedList] = mapped_column(String(20))
    name: Mapped[str] = mapped_column(String(64))
    search: Mapped[dict[str, str]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
