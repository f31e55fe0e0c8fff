"""Shares of sessions."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import CheckConstraint, DateTime, ForeignKey, Index, LargeBinary, String, text
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import ProjectId, SessionId, ShareId, UserId
from carrel.db.tables import Table

TOPIC = "session-shares"
"""Notified when a share ends, or becomes less."""


class AccessLevel(StrEnum):
    """What a share of a session permits. look: see it, its log, usage and history. use: also open its apps and
    terminals, and run commands in it.
    """

    LOOK = "look"
    USE = "use"


_LEVELS = ", ".join(f"'{level}'" for level in AccessLevel)


class SessionShare(Table):
    """Access of a user or of a project's members to a session, or a link, which gives nobody access until a user opens
    it: this adds a row for the user, with link_id, that ends with the link.

    session_id: of a session of an array, its first one; the share is for the whole array. token_hash: SHA-256 of the
    link's token. expires_at: None for no expiry.
    """

    __tablename__ = "session_shares"
    __table_args__ = (
        CheckConstraint(f"level IN ({_LEVELS})", name="level"),
        CheckConstraint("num_nonnulls(user_id, project_id, token_hash) = 1", name="one_with"),
        CheckConstraint(
            "expires_at IS NOT NULL OR token_hash IS NULL AND link_id IS NULL", name="link_expires"
        ),
        Index("uq_session_shares_token_hash", "token_hash", unique=True),
        Index(
            "uq_session_shares_session_id_user_id",
            "session_id",
            "user_id",
            unique=True,
            postgresql_where=text("link_id IS NULL"),
        ),
        Index("uq_session_shares_session_id_project_id", "session_id", "project_id", unique=True),
        Index("uq_session_shares_link_id_user_id", "link_id", "user_id", unique=True),
    )

    id: Mapped[ShareId] = mapped_column(String, primary_key=True)
    session_id: Mapped[SessionId] = mapped_column(
        String, ForeignKey("sessions.id", ondelete="CASCADE"), index=True
    )
    user_id: Mapped[UserId | None] = mapped_column(
        String, ForeignKey("users.id", ondelete="CASCADE"), index=True
    )
    project_id: Mapped[ProjectId | None] = mapped_column(
        String, ForeignKey("projects.id", ondelete="CASCADE"), index=True
    )
    token_hash: Mapped[bytes | None] = mapped_column(LargeBinary)
    link_id: Mapped[ShareId | None] = mapped_column(
        String, ForeignKey("session_shares.id", ondelete="CASCADE")
    )
    level: Mapped[AccessLevel] = mapped_column(String(10))
    granted_by: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
