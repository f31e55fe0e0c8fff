"""Dotfiles of users."""

from datetime import datetime

from sqlalchemy import DateTime, ForeignKey, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import UserId
from carrel.db.tables import Table


class Dotfile(Table):
    """A small file that the user's sessions have in their home. path: relative to it. content: encrypted."""

    __tablename__ = "dotfiles"

    user_id: Mapped[UserId] = mapped_column(
        String, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    path: Mapped[str] = mapped_column(String(200), primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)
    size_bytes: Mapped[int]
    updated_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
