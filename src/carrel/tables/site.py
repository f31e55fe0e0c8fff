"""What administrators have set, in one row, over the defaults of `schemas.SiteSettings`; and letters to be sent."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, DateTime, Index, LargeBinary, String, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.db.tables import Table


class SiteRow(Table):
    """values: as `SiteSettings` writes them, secrets left out. mail_password: sealed.

    mail_error: why mail could not be sent the last time; None when it could. label: marks the installation's containers
    in the engine, where nothing else is set.
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
    """A letter that the mail server has not taken yet. letter: sealed, since links in it are secrets.

    next_at: when it is tried. expires_at: from when on nobody needs it any more.
    """

    __tablename__ = "outbox"
    __table_args__ = (Index("ix_outbox_next_at", "next_at"),)

    id: Mapped[str] = mapped_column(String, primary_key=True)
    recipient: Mapped[str] = mapped_column(String(254))
    letter: Mapped[bytes] = mapped_column(LargeBinary)
    tries: Mapped[int] = mapped_column(default=0)
    next_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
