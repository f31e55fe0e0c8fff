"""Site settings in one row, which override the defaults of `schemas.SiteSettings`; and the mail queue."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, DateTime, Index, LargeBinary, String, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.db.tables import Table


class SiteRow(Table):
    """values: by `SiteSettings`, without secrets. mail_password: sealed.

    mail_error: why the last mail could not be sent; None when it could. label: default label of the installation's
    containers in the engine.
    """

    __tablename__ = "site"
    __table_args__ = (CheckConstraint("id = 1", name="one"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    values: Mapped[dict[str, Any]] = mapped_column(JSONB)
    mail_password: Mapped[bytes | None] = mapped_column(LargeBinary)
    mail_error: Mapped[str | None]
    mail_error_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    label: Mapped[str] = mapped_column(server_default=text("substr(md5(random()::text), 1, 8)"))


class QueuedLetter(Table):
    """A mail that the mail server has not accepted yet. letter: sealed, because links in it are secrets.

    next_at: time of the next attempt. expires_at: when it becomes obsolete.
    """

    __tablename__ = "outbox"
    __table_args__ = (Index("ix_outbox_next_at", "next_at"),)

    id: Mapped[str] = mapped_column(String, primary_key=True)
    recipient: Mapped[str] = mapped_column(String(254))
    letter: Mapped[bytes] = mapped_column(LargeBinary)
    tries: Mapped[int] = mapped_column(default=0)
    next_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
