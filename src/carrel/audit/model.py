"""The audit trail."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, Identity, Index, String, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.db.tables import Table


class AuditEntry(Table):
    __tablename__ = "audit"
    __table_args__ = (Index("ix_audit_actor_id_at", "actor_id", "at"),)

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    actor_id: Mapped[str | None]
    action: Mapped[str] = mapped_column(String(60))
    object_id: Mapped[str]
    outcome: Mapped[str] = mapped_column(String(30))
    credential: Mapped[str]
    address: Mapped[str]
    details: Mapped[dict[str, Any]] = mapped_column(JSONB)
