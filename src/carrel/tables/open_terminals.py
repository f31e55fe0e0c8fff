"""Open terminals of all copies of the API."""

from datetime import datetime

from sqlalchemy import DateTime, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import ContainerId, UserId
from carrel.db.tables import Table


class OpenTerminal(Table):
    """copy_id: the copy of the API that has the terminal, each of which has a new id; empty: of a former version.
    address: its internal URL, which several may have. seen_at: when that copy last confirmed it.
    """

    __tablename__ = "terminals"

    id: Mapped[str] = mapped_column(String, primary_key=True)
    container_id: Mapped[ContainerId] = mapped_column(
        String, ForeignKey("containers.id", ondelete="CASCADE"), index=True
    )
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"))
    copy_id: Mapped[str] = mapped_column(String, index=True, server_default="")
    address: Mapped[str]
    seen_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
