"""Registries of container images."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ARRAY, CheckConstraint, DateTime, ForeignKey, Index, LargeBinary, String, func, text
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import DomainId, ProjectId, RegistryId
from carrel.db.tables import Table


class RegistryKind(StrEnum):
    """How repositories are listed, and the default address. GENERIC: by `_catalog`, which many registries lack."""

    GENERIC = "generic"
    DOCKERHUB = "dockerhub"
    HARBOR = "harbor"
    GHCR = "ghcr"
    GITLAB = "gitlab"
    NGC = "ngc"
    ECR = "ecr"
    QUAY = "quay"


_KINDS = ", ".join(f"'{kind}'" for kind in RegistryKind)


class ImageRegistry(Table):
    """Of the installation, of a domain, or of a project.

    url: scheme, host and port. host: as in image references. namespace: prefix of its repositories, without slashes at
    the ends; "": all. secret: sealed. ca_pem: an authority to trust besides the system's. mirror: URL from which images
    are scanned and pulled instead. repositories, tags: allow-lists of globs; repositories without the namespace.
    """

    __tablename__ = "registries"
    __table_args__ = (
        CheckConstraint(f"kind IN ({_KINDS})", name="kind"),
        CheckConstraint("num_nonnulls(domain_id, project_id) <= 1", name="scope"),
        Index(
            "uq_registries_name",
            "name",
            text("coalesce(domain_id, '')"),
            text("coalesce(project_id, '')"),
            unique=True,
        ),
    )

    id: Mapped[RegistryId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64))
    kind: Mapped[RegistryKind] = mapped_column(String(10))
    url: Mapped[str] = mapped_column(String(300))
    host: Mapped[str] = mapped_column(String(300), index=True)
    namespace: Mapped[str] = mapped_column(String(255), server_default="")
    username: Mapped[str] = mapped_column(String(255), server_default="")
    secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    ca_pem: Mapped[str] = mapped_column(server_default="")
    mirror: Mapped[str] = mapped_column(String(300), server_default="")
    repositories: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    tags: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    domain_id: Mapped[DomainId | None] = mapped_column(
        String, ForeignKey("domains.id", ondelete="CASCADE"), index=True
    )
    project_id: Mapped[ProjectId | None] = mapped_column(
        String, ForeignKey("projects.id", ondelete="CASCADE"), index=True
    )
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
