"""Scans of everything, which a superadmin requests at once."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import CheckConstraint, DateTime, ForeignKey, String, text
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import RescanId, UserId
from carrel.db.tables import Table


class RescanKind(StrEnum):
    """REGISTRIES: all are read into the catalogue. IMAGES: all that a node has are scanned for vulnerabilities."""

    REGISTRIES = "registries"
    IMAGES = "images"


_KINDS = ", ".join(f"'{kind}'" for kind in RescanKind)


class Rescan(Table):
    """The latest of its kind. total: number of its scans, whose rows have its id until they end; done, failed,
    cancelled: how they ended, problem: why the last that failed did, updated_at: when the last ended.
    """

    __tablename__ = "rescans"
    __table_args__ = (CheckConstraint(f"kind IN ({_KINDS})", name="kind"),)

    id: Mapped[RescanId] = mapped_column(String, primary_key=True)
    kind: Mapped[RescanKind] = mapped_column(String(10), unique=True)
    requested_by: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id", ondelete="SET NULL"))
    requested_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    updated_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    total: Mapped[int]
    done: Mapped[int] = mapped_column(server_default=text("0"))
    failed: Mapped[int] = mapped_column(server_default=text("0"))
    cancelled: Mapped[int] = mapped_column(server_default=text("0"))
    problem: Mapped[str | None]
