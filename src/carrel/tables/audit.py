"""The audit trail.

Rows are written once. A trigger rejects changes, except by sealing (which sets position and hash, once) and retention
(which deletes the oldest rows, and records the cut).
"""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, Identity, Index, LargeBinary, String, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.db.tables import Table
from carrel.tables.events import Xid8


class AuditEntry(Table):
    """actor_id None: unknown user. owner_id, project_id, domain_id: of the object, which determine who may read the
    row.

    object_kind: the part of the action before its dot. outcome: "done" or "refused"; reason: code and sentence of the
    refusal.
    details: {"before": ..., "after": ...} of what changed, or other facts; never a secret.
    position, hash: None until the row is sealed; hash chains to the previous row.
    """

    __tablename__ = "audit"
    # Each filter of the list has an index in the list's order, so that a page costs the same at any size.
    __table_args__ = (
        Index("ix_audit_at_id", "at", "id"),
        Index("ix_audit_actor_id_at_id", "actor_id", "at", "id"),
        Index("ix_audit_owner_id_at_id", "owner_id", "at", "id"),
        Index("ix_audit_domain_id_at_id", "domain_id", "at", "id"),
        Index("ix_audit_object_id_at_id", "object_id", "at", "id"),
        Index("ix_audit_object_kind_at_id", "object_kind", "at", "id"),
        Index("ix_audit_action_at_id", "action", "at", "id"),
        Index("ix_audit_address_at_id", "address", "at", "id"),
        Index("ix_audit_actor_email_at_id", text("lower(actor_email)"), "at", "id"),
        Index("ix_audit_not_done", "at", "id", postgresql_where=text("outcome <> 'done'")),
        Index(
            "ix_audit_searched", text("trigrams((actor_email || ' ') || object_name)"), postgresql_using="gin"
        ),
        Index("uq_audit_position", "position", unique=True),
        Index("ix_audit_unsealed", "xid", "id", postgresql_where=text("position IS NULL")),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    xid: Mapped[int] = mapped_column(Xid8, server_default=text("pg_current_xact_id()"))
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    actor_id: Mapped[str | None]
    actor_email: Mapped[str] = mapped_column(server_default="")
    action: Mapped[str] = mapped_column(String(60))
    object_kind: Mapped[str] = mapped_column(String(30), server_default="")
    object_id: Mapped[str]
    object_name: Mapped[str] = mapped_column(server_default="")
    owner_id: Mapped[str | None]
    project_id: Mapped[str | None]
    domain_id: Mapped[str | None]
    outcome: Mapped[str] = mapped_column(String(30))
    reason: Mapped[str] = mapped_column(server_default="")
    credential: Mapped[str]
    address: Mapped[str]
    request_id: Mapped[str] = mapped_column(server_default="")
    details: Mapped[dict[str, Any]] = mapped_column(JSONB)
    position: Mapped[int | None] = mapped_column(BigInteger)
    hash: Mapped[bytes | None] = mapped_column(LargeBinary)


class AuditAnchor(Table):
    """One row: the start of the chain after a retention cut."""

    __tablename__ = "audit_anchor"

    id: Mapped[int] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(BigInteger)
    hash: Mapped[bytes] = mapped_column(LargeBinary)
    cut_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
