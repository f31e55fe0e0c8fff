"""Registries of container images."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    DateTime,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import DomainId, ProjectId, RegistryId, RescanId, ScanId, UserId
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


class MayPush(StrEnum):
    """MEMBERS: of the registry's scope, who may build environments."""

    NOBODY = "nobody"
    MEMBERS = "members"


class ScanState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


TOPIC = "registry_scans"
"""Notified when a scan is requested or cancelled."""
PASSWORDS_TOPIC = "registry_passwords"
"""Notified when a password is to be renewed."""
_STATES = ", ".join(f"'{state}'" for state in ScanState)
_MAY_PUSH = ", ".join(f"'{who}'" for who in MayPush)
_KINDS = ", ".join(f"'{kind}'" for kind in RegistryKind)


class ImageRegistry(Table):
    """Of the installation, of a domain, or of a project.

    url: scheme, host and port. host: as in image references. namespace: prefix of its repositories, without slashes at
    the ends; "": all. secret: sealed. ca_pem: an authority to trust besides the system's. mirror: URL from which images
    are scanned and pulled instead. repositories, tags: allow-lists of globs; repositories without the namespace.
    images_enabled: whether images that its scans add can be used unless a superadmin says otherwise. push: who may push
    environments, to repositories that match one of push_repositories, without the namespace.
    read_packages: whether its scans download layers to read their package databases.

    password: sealed; renewed by the secret, valid until password_until; see `registries.registry_credentials`.
    password_due: of the next renewal; None: it is not renewed. password_problem: of the last renewal.
    """

    __tablename__ = "registries"
    __table_args__ = (
        CheckConstraint(f"kind IN ({_KINDS})", name="kind"),
        CheckConstraint(f"push IN ({_MAY_PUSH})", name="push"),
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
    password: Mapped[bytes | None] = mapped_column(LargeBinary)
    password_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    password_due: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    password_problem: Mapped[str | None]
    ca_pem: Mapped[str] = mapped_column(server_default="")
    mirror: Mapped[str] = mapped_column(String(300), server_default="")
    repositories: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    tags: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    images_enabled: Mapped[bool] = mapped_column(server_default=text("true"))
    push: Mapped[MayPush] = mapped_column(String(7), server_default=MayPush.NOBODY)
    push_repositories: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    read_packages: Mapped[bool] = mapped_column(server_default=text("false"))
    domain_id: Mapped[DomainId | None] = mapped_column(
        String, ForeignKey("domains.id", ondelete="CASCADE"), index=True
    )
    project_id: Mapped[ProjectId | None] = mapped_column(
        String, ForeignKey("projects.id", ondelete="CASCADE"), index=True
    )
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class PrivateRepository(Table):
    """A repository from which images were pulled with the credentials of a project or domain, whose id is scope_id.

    Nodes may still have them when the registry or the project are gone.
    """

    __tablename__ = "private_repositories"

    name: Mapped[str] = mapped_column(String(600), primary_key=True)
    scope_id: Mapped[str] = mapped_column(String, primary_key=True)


class RegistryScan(Table):
    """A scan by the leader, which continues after a crash with the repositories that are not done.

    repositories, *_done, *_failed: numbers of repositories; None while they are not listed. tags: read so far.
    added, updated, removed: images of the catalogue. layers, layer_bytes: downloaded to read package databases.
    problem: why it failed, or of the last failed repository or image.
    rescan_id: of all registries, to which it belongs while it is open.
    """

    __tablename__ = "registry_scans"
    __table_args__ = (
        CheckConstraint(f"state IN ({_STATES})", name="state"),
        CheckConstraint("(ended_at IS NULL) = (state IN ('waiting', 'running'))", name="ended"),
        Index(
            "uq_registry_scans_open", "registry_id", unique=True, postgresql_where=text("ended_at IS NULL")
        ),
        Index("ix_registry_scans_rescan_id", "rescan_id"),
        Index("ix_registry_scans_registry_id_created_at_id", "registry_id", "created_at", "id"),
    )

    id: Mapped[ScanId] = mapped_column(String, primary_key=True)
    registry_id: Mapped[RegistryId] = mapped_column(String, ForeignKey("registries.id", ondelete="CASCADE"))
    requested_by: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id", ondelete="SET NULL"))
    state: Mapped[ScanState] = mapped_column(String(10), server_default=ScanState.WAITING)
    cancel: Mapped[bool] = mapped_column(server_default=text("false"))
    repositories: Mapped[int | None]
    repositories_done: Mapped[int] = mapped_column(server_default=text("0"))
    repositories_failed: Mapped[int] = mapped_column(server_default=text("0"))
    tags: Mapped[int] = mapped_column(server_default=text("0"))
    added: Mapped[int] = mapped_column(server_default=text("0"))
    updated: Mapped[int] = mapped_column(server_default=text("0"))
    removed: Mapped[int] = mapped_column(server_default=text("0"))
    requests: Mapped[int] = mapped_column(server_default=text("0"))
    layers: Mapped[int] = mapped_column(server_default=text("0"))
    layer_bytes: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    problem: Mapped[str | None]
    rescan_id: Mapped[RescanId | None] = mapped_column(String, ForeignKey("rescans.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    started_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class ScannedRepository(Table):
    """A repository of an open scan."""

    __tablename__ = "registry_scan_repositories"

    scan_id: Mapped[ScanId] = mapped_column(
        String, ForeignKey("registry_scans.id", ondelete="CASCADE"), primary_key=True
    )
    repository: Mapped[str] = mapped_column(String(255), primary_key=True)
    done: Mapped[bool] = mapped_column(server_default=text("false"))
