"""Checks of the network of sessions."""

from datetime import datetime
from typing import Any

from sqlalchemy import DateTime, ForeignKey, String
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import SessionId
from carrel.db.tables import Table


class NetworkCheckRow(Table):
    """The last check of a session. busy_until: of one that goes on, which has ended by then even if nobody recorded
    it. result: of the last one that ended, as the API gives it.
    """

    __tablename__ = "network_checks"

    session_id: Mapped[SessionId] = mapped_column(
        String, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True
    )
    busy_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    result: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
