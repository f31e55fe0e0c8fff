"""Scans of images for packages and known vulnerabilities."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, DateTime, ForeignKey, Index, LargeBinary, String, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import ImageScanId, RescanId, UserId
from carrel.db.tables import Table
from carrel.tables.registries import ScanState

TOPIC = "image_scans"
"""Notified when a scan is requested or cancelled."""
OPEN = (ScanState.WAITING, ScanState.RUNNING)
_STATES = ", ".join(f"'{state}'" for state in ScanState)


class ImageReport(Table):
    """What a scanner found in an image, which may have several references.

    digest: the content id of the engine; where it has none, made from the reference. scanner: its name and version.
    first_found: number of vulnerabilities by severity and day (ISO) on which they were first found. risks: the
    same by more, see `image_scans.risks`. report, sbom: compressed, see `image_scans.stored_reports`.
    """

    __tablename__ = "image_reports"

    digest: Mapped[str] = mapped_column(String(100), primary_key=True)
    scanner: Mapped[str] = mapped_column(String(100))
    scanned_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    packages: Mapped[int]
    first_found: Mapped[dict[str, dict[str, int]]] = mapped_column(JSONB)
    risks: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default=text("'[]'"))
    report: Mapped[bytes] = mapped_column(LargeBinary, deferred=True, deferred_raiseload=True)
    sbom: Mapped[bytes] = mapped_column(LargeBinary, deferred=True, deferred_raiseload=True)

    @property
    def counts(self) -> dict[str, int]:
        """Number of vulnerabilities by severity."""
        return {severity: sum(by_day.values()) for severity, by_day in self.first_found.items()}


class ImageScan(Table):
    """An image that is scanned when it is new and from time to time; the leader's task and its latest result.

    reference: as `engines.references.canonical` writes it. digest: of the latest report; None: no scan has succeeded.
    target: what that scan read: the reference with a digest, or the engine's image id; "": its tag.
    problem: why the latest scan failed. cancel: it was requested. rescan_id: of all images, to which the
    open scan belongs. exempt_*: from the rule.
    """

    __tablename__ = "image_scans"
    __table_args__ = (
        CheckConstraint(f"state IN ({_STATES})", name="state"),
        CheckConstraint("(ended_at IS NULL) = (state IN ('waiting', 'running'))", name="ended"),
        Index("uq_image_scans_reference", "reference", unique=True),
        Index("ix_image_scans_digest", "digest"),
        Index("ix_image_scans_rescan_id", "rescan_id"),
        Index("ix_image_scans_open", "requested_at", postgresql_where=text("ended_at IS NULL")),
    )

    id: Mapped[ImageScanId] = mapped_column(String, primary_key=True)
    reference: Mapped[str] = mapped_column(String(600))
    state: Mapped[ScanState] = mapped_column(String(10), server_default=ScanState.WAITING)
    cancel: Mapped[bool] = mapped_column(server_default=text("false"))
    problem: Mapped[str | None]
    requested_by: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id", ondelete="SET NULL"))
    requested_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    rescan_id: Mapped[RescanId | None] = mapped_column(String, ForeignKey("rescans.id", ondelete="SET NULL"))
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    digest: Mapped[str | None] = mapped_column(String(100), ForeignKey("image_reports.digest"))
    target: Mapped[str] = mapped_column(String(600), server_default="")
    exempt_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    exempt_reason: Mapped[str] = mapped_column(String(500), server_default="")
    exempted_by: Mapped[str] = mapped_column(String(254), server_default="")
