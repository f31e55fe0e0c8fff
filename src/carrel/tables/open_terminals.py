"""Open terminals of all copies of the API."""

from datetime import datetime

from sqlalchemy import DateTime, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import ContainerId, UserId
from carrel.db.tables import Table


class OpenTerminal(Table):
    """address: internal URL of the copy of the API that has the terminal. seen_at: when that copy last confirmed it."""

    __tablename__ = "terminals"

    id: Mapped[str] = mapped_column(String, primary_key=True)
    container_id: Mapped[ContainerId] = mapped_column(
        String, ForeignKey("containers.id", ondelete="CASCADE"), index=True
    )
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"))
    address: Mapped[str] = mapped_column(index=True)
    seen_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
