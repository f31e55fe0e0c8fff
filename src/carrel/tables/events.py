"""The event log.

Readers must not miss an event whose transaction committed late, so the order is (xid, id) and readers stop
before the oldest transaction that is still running (see `service.after`).
"""

from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, BigInteger, DateTime, Identity, Index, String, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import UserDefinedType

from carrel.db.tables import Table


class Xid8(UserDefinedType[int]):
    """A transaction id that does not wrap around."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "xid8"


class Event(Table):
    """audience: recipients besides those who may see the object, as `service.Audience` has it."""

    __tablename__ = "events"
    __table_args__ = (Index("ix_events_xid_id", "xid", "id"), Index("ix_events_at", "at"))

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    xid: Mapped[int] = mapped_column(Xid8, server_default=text("pg_current_xact_id()"))
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    kind: Mapped[str] = mapped_column(String(60))
    object_kind: Mapped[str] = mapped_column(String(30))
    object_id: Mapped[str] = mapped_column(String(60))
    owner_id: Mapped[str]
    project_id: Mapped[str]
    domain_id: Mapped[str]
    audience: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    data: Mapped[dict[str, Any]] = mapped_column(JSONB)
