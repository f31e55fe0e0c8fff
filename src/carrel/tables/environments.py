"""Environments: images of users and projects, with their versions and shares."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, DateTime, ForeignKey, Index, String, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import (
    ContainerId,
    DomainId,
    EngineId,
    EnvironmentId,
    EnvironmentVersionId,
    NodeId,
    ProjectId,
    SessionId,
    ShareId,
    UserId,
)
from carrel.db.tables import Table
from carrel.engines.port import LOCAL_IMAGES

TOPIC = "environments"
"""Notified when there is work on a version."""

REPOSITORY = f"{LOCAL_IMAGES}carrel/environments"


class VersionState(StrEnum):
    """WAITING and RUNNING: it is being made. REMOVING: nothing starts from it any more, and its image is removed as
    soon as nothing uses it.
    """

    WAITING = "waiting"
    RUNNING = "running"
    READY = "ready"
    FAILED = "failed"
    CANCELLED = "cancelled"
    REMOVING = "removing"


OPEN = (VersionState.WAITING, VersionState.RUNNING, VersionState.REMOVING)
_STATES = ", ".join(f"'{state}'" for state in VersionState)
_OPEN = ", ".join(f"'{state}'" for state in OPEN)


class Environment(Table):
    """Of a user or of a project; domain_id: theirs. default_version: its name; None: the latest that is ready.
    last_number: the highest that a version without a name has had. removed_at: when it was deleted; the row goes with
    its last image.
    """

    __tablename__ = "environments"
    __table_args__ = (
        CheckConstraint("(owner_id IS NULL) <> (project_id IS NULL)", name="one_owner"),
        Index(
            "uq_environments_owner_id_name",
            "owner_id",
            "name",
            unique=True,
            postgresql_where=text("removed_at IS NULL"),
        ),
        Index(
            "uq_environments_project_id_name",
            "project_id",
            "name",
            unique=True,
            postgresql_where=text("removed_at IS NULL"),
        ),
    )

    id: Mapped[EnvironmentId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(40))
    description: Mapped[str] = mapped_column(String(500))
    owner_id: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id"))
    project_id: Mapped[ProjectId | None] = mapped_column(String, ForeignKey("projects.id"))
    domain_id: Mapped[DomainId] = mapped_column(String, ForeignKey("domains.id"))
    created_by: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id", ondelete="SET NULL"))
    default_version: Mapped[str | None] = mapped_column(String(18))
    last_number: Mapped[int] = mapped_column(server_default=text("0"))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    updated_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    removed_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class EnvironmentVersion(Table):
    """An image, and the task that makes it. Immutable once it is ready, but for its note.

    recipe: kind of what it is built from; None: it is saved from a session.
    reference: of the image, which is on the engine. session_id, container_id: where it is saved from. base: name or
    reference of the image below. origins: what it is made of, see `environments.image_origins`. apps, min_slots: of the
    image below, as they were then. progress: of the task, 0..1, with its phase. cancel: it was
    requested. problem: why it failed, or why it is blocked. size_bytes: with the image below; added_bytes: without.
    """

    __tablename__ = "environment_versions"
    __table_args__ = (
        CheckConstraint(f"state IN ({_STATES})", name="state"),
        Index("uq_environment_versions_environment_id_name", "environment_id", "name", unique=True),
        Index("uq_environment_versions_reference", "reference", unique=True),
        Index("ix_environment_versions_open", "created_at", postgresql_where=text(f"state IN ({_OPEN})")),
    )

    id: Mapped[EnvironmentVersionId] = mapped_column(String, primary_key=True)
    environment_id: Mapped[EnvironmentId] = mapped_column(String, ForeignKey("environments.id"))
    name: Mapped[str] = mapped_column(String(18))
    note: Mapped[str] = mapped_column(String(500))
    state: Mapped[VersionState] = mapped_column(String(10))
    recipe: Mapped[str | None] = mapped_column(String(20))
    reference: Mapped[str] = mapped_column(String(512))
    engine_id: Mapped[EngineId] = mapped_column(String, ForeignKey("engines.id"))
    node_id: Mapped[NodeId | None] = mapped_column(String, ForeignKey("nodes.id"))
    session_id: Mapped[SessionId | None] = mapped_column(String)
    session_name: Mapped[str] = mapped_column(String(64))
    container_id: Mapped[ContainerId] = mapped_column(String)
    base: Mapped[str] = mapped_column(String(512))
    origins: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default=text("'[]'"))
    architecture: Mapped[str | None] = mapped_column(String(30))
    apps: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    min_slots: Mapped[dict[str, int]] = mapped_column(JSONB)
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    added_bytes: Mapped[int | None] = mapped_column(BigInteger)
    progress: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    cancel: Mapped[bool] = mapped_column(server_default=text("false"))
    problem: Mapped[str | None]
    created_by: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class EnvironmentShare(Table):
    """With a user, or with a project's members, who see the environment and start sessions from it."""

    __tablename__ = "environment_shares"
    __table_args__ = (
        CheckConstraint("(user_id IS NULL) <> (project_id IS NULL)", name="one_with"),
        Index("uq_environment_shares_environment_id_user_id", "environment_id", "user_id", unique=True),
        Index("uq_environment_shares_environment_id_project_id", "environment_id", "project_id", unique=True),
    )

    id: Mapped[ShareId] = mapped_column(String, primary_key=True)
    environment_id: Mapped[EnvironmentId] = mapped_column(
        String, ForeignKey("environments.id", ondelete="CASCADE")
    )
    user_id: Mapped[UserId | None] = mapped_column(
        String, ForeignKey("users.id", ondelete="CASCADE"), index=True
    )
    project_id: Mapped[ProjectId | None] = mapped_column(
        String, ForeignKey("projects.id", ondelete="CASCADE"), index=True
    )
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
