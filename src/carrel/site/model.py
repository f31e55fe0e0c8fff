"""One row: what administrators have set, over the defaults of `schemas.SiteSettings`."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, DateTime, LargeBinary
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.db.tables import Table


class SiteRow(Table):
    """values: as `SiteSettings` writes them, secrets left out. mail_password: sealed.

    mail_error: why mail could not be sent the last time; None when it could.
    """

    __tablename__ = "site"
    __table_args__ = (CheckConstraint("id = 1", name="one"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    values: Mapped[dict[str, Any]] = mapped_column(JSONB)
    mail_password: Mapped[bytes | None] = mapped_column(LargeBinary)
    mail_error: Mapped[str | None]
    mail_error_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
