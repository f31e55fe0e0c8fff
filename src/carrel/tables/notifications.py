"""Notices of sessions that are still to be passed on, webhooks, and their deliveries."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    LargeBinary,
    String,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import DomainId, ProjectId, SessionId, UserId
from carrel.db.tables import Table
from carrel.tables.session_states import SessionState


class NotificationKind(StrEnum):
    """ENDED: finished or was terminated. FAILED: ended in an error, or as a batch session without success. SHARED:
    somebody shared a session of theirs with the user. DEVICE_OUT_OF_ORDER, DEVICE_BACK: an accelerator of a node, for
    superadmins. The others are about the user's own sessions.
    """

    STARTED = "started"
    ENDED = "ended"
    FAILED = "failed"
    ABOUT_TO_END = "about_to_end"
    SHARED = "shared"
    DEVICE_OUT_OF_ORDER = "device_out_of_order"
    DEVICE_BACK = "device_back"


SESSION_KINDS = tuple(kind for kind in NotificationKind if not kind.startswith("device_"))


class NotificationChannel(StrEnum):
    PAGE = "page"
    BROWSER = "browser"
    MAIL = "mail"
    WEBHOOK = "webhook"


class DeliveryState(StrEnum):
    """FAILED: given up, until somebody redelivers it."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


IDLE_WARNING, LIMIT_WARNING = "idle_warning", "time_limit_warning"
DISK_NEARLY_FULL, NODE_LEAVING = "disk_nearly_full", "node_leaving"
"""Causes of history entries that announce the end of a session."""

_STATES = ", ".join(f"'{state}'" for state in DeliveryState)


class SessionNotice(Table):
    """A change of a session that mail or webhooks may have to report; written with the change itself, deleted by the
    transaction that queues letters and deliveries. ends_at, cause: with ABOUT_TO_END. shared_by: with SHARED, an
    e-mail. recipient_id: with SHARED, one user whom it reaches; None: the webhooks of the project and domain.
    """

    __tablename__ = "session_notices"

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    session_id: Mapped[SessionId] = mapped_column(String, ForeignKey("sessions.id", ondelete="CASCADE"))
    kind: Mapped[NotificationKind] = mapped_column(String(20))
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    state: Mapped[SessionState] = mapped_column(String(20))
    reason: Mapped[str | None]
    ends_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    cause: Mapped[str | None] = mapped_column(String(40))
    shared_by: Mapped[str | None] = mapped_column(String(254))
    recipient_id: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"))


class Webhook(Table):
    """Of one user, project or domain. secret: sealed; it signs the deliveries. old_secret: the one before; until
    old_secret_until it signs them as well. kinds: those that are delivered.
    """

    __tablename__ = "webhooks"
    __table_args__ = (CheckConstraint("num_nonnulls(user_id, project_id, domain_id) = 1", name="owner"),)

    id: Mapped[str] = mapped_column(String, primary_key=True)
    user_id: Mapped[UserId | None] = mapped_column(
        String, ForeignKey("users.id", ondelete="CASCADE"), index=True
    )
    project_id: Mapped[ProjectId | None] = mapped_column(
        String, ForeignKey("projects.id", ondelete="CASCADE"), index=True
    )
    domain_id: Mapped[DomainId | None] = mapped_column(
        String, ForeignKey("domains.id", ondelete="CASCADE"), index=True
    )
    name: Mapped[str] = mapped_column(String(64))
    url: Mapped[str] = mapped_column(String(2000))
    kinds: Mapped[list[str]] = mapped_column(ARRAY(String))
    secret: Mapped[bytes] = mapped_column(LargeBinary)
    old_secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    old_secret_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    active: Mapped[bool] = mapped_column(server_default=text("true"))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class Delivery(Table):
    """One message to a webhook, kept for some weeks. id: also its webhook-id, the same for all attempts. body: the
    bytes that are signed. status_code, error: of the last attempt. next_at: of the next one; None unless pending.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        CheckConstraint(f"state IN ({_STATES})", name="state"),
        CheckConstraint("(next_at IS NOT NULL) = (state = 'pending')", name="next"),
        Index("ix_webhook_deliveries_next_at", "next_at", postgresql_where=text("state = 'pending'")),
        Index("ix_webhook_deliveries_webhook_id_created_at_id", "webhook_id", "created_at", "id"),
        Index("ix_webhook_deliveries_created_at", "created_at"),
    )

    id: Mapped[str] = mapped_column(String, primary_key=True)
    webhook_id: Mapped[str] = mapped_column(String, ForeignKey("webhooks.id", ondelete="CASCADE"))
    type: Mapped[str] = mapped_column(String(40))
    session_id: Mapped[str | None]
    body: Mapped[str]
    state: Mapped[DeliveryState] = mapped_column(String(10), server_default="pending")
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    status_code: Mapped[int | None]
    error: Mapped[str | None] = mapped_column(String(500))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    last_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    next_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
