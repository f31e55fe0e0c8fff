"""Images from which sessions can be started by name."""

from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, BigInteger, DateTime, ForeignKey, Index, String, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import ImageId, RegistryId
from carrel.db.tables import Table


class Image(Table):
    """Registered under a name, or added by a scan: then it has a registry and a full_name, its reference; its name only
    makes it unique.

    apps: templates as `apps.app_templates` reads them. host: of its reference. architecture: None if there are several,
    or unknown. version_key: sorts versions, see `images.versions`. layers, size_bytes: compressed, of a scanned image.
    contents: what it contains, by name -> version, such as python and cuda. digest: of the tag when it was scanned.
    """

    __tablename__ = "images"
    __table_args__ = (
        Index("ix_images_registry_id_repository", "registry_id", "repository"),
        Index("ix_images_shown_name_id", text("coalesce(full_name, name)"), "id"),
        Index("ix_images_family_version_key_id", "family", "version_key", "id"),
        Index(
            "ix_images_searched",
            text("trigrams((coalesce(full_name, name) || ' ') || title)"),
            postgresql_using="gin",
        ),
    )

    id: Mapped[ImageId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)
    reference: Mapped[str] = mapped_column(String(512), index=True)
    title: Mapped[str] = mapped_column(String(120))
    description: Mapped[str] = mapped_column(String(1000))
    architecture: Mapped[str | None] = mapped_column(String(30))
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    present: Mapped[bool] = mapped_column(default=False)
    min_slots: Mapped[dict[str, int]] = mapped_column(JSONB)
    apps: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    registry_id: Mapped[RegistryId | None] = mapped_column(
        String, ForeignKey("registries.id", ondelete="CASCADE")
    )
    full_name: Mapped[str | None] = mapped_column(String(512))
    host: Mapped[str] = mapped_column(String(300), server_default="localhost")
    repository: Mapped[str] = mapped_column(String(255), server_default="")
    tag: Mapped[str] = mapped_column(String(128), server_default="")
    digest: Mapped[str | None] = mapped_column(String(80))
    family: Mapped[str] = mapped_column(String(255), server_default="")
    version: Mapped[str] = mapped_column(String(128), server_default="")
    version_key: Mapped[str] = mapped_column(String(1200, collation="C"), server_default="")
    architectures: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    layers: Mapped[int | None]
    built_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    contents: Mapped[dict[str, str]] = mapped_column(JSONB, server_default=text("'{}'"))
    accelerators: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    licenses: Mapped[str] = mapped_column(String(500), server_default="")
    labels: Mapped[dict[str, str]] = mapped_column(JSONB, server_default=text("'{}'"))
    scanned_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))

    @property
    def shown_name(self) -> str:
        return self.full_name or self.name
