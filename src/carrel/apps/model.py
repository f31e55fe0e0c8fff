"""Tickets and grants. Both are known by the SHA-256 of a random token; the token itself is never stored."""

from datetime import datetime

from sqlalchemy import DateTime, ForeignKey, Index, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import SessionId, UserId
from carrel.db.tables import Table


class AppTicket(Table):
    """The right to open one app of one session once, for some seconds."""

    __tablename__ = "app_tickets"
    __table_args__ = (Index("ix_app_tickets_expires_at", "expires_at"),)

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    session_id: Mapped[SessionId] = mapped_column(String)
    app: Mapped[str] = mapped_column(String(64))
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id"))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class AppGrant(Table):
    """The right of one browser to use one app of one session, for some hours."""

    __tablename__ = "app_grants"
    __table_args__ = (Index("ix_app_grants_expires_at", "expires_at"),)

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    session_id: Mapped[SessionId] = mapped_column(String)
    app: Mapped[str] = mapped_column(String(64))
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id"))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
