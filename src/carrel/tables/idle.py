"""Last use of sessions."""

from datetime import datetime

from sqlalchemy import DateTime, ForeignKey, String, text
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import SessionId
from carrel.db.tables import Table


class SessionActivity(Table):
    """Without a row: unknown. active_at: last traffic of an app, a terminal or a command, to about half a minute.

    kept_at: when a user last confirmed that it is in use. exempt: it never counts as idle.

    Separate from the session's row, which is wide, indexed and locked by state transitions.
    """

    __tablename__ = "session_activity"

    session_id: Mapped[SessionId] = mapped_column(
        String, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True
    )
    active_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    kept_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    exempt: Mapped[bool] = mapped_column(server_default=text("false"))
