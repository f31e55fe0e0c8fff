"""Builds of environments: recipes, contexts and logs. Their states are those of the versions."""

from datetime import datetime
from typing import Any

from sqlalchemy import DateTime, ForeignKey, Index, LargeBinary, String, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import EnvironmentVersionId, UserId
from carrel.db.tables import Table

BUILDS_TOPIC = "environment-builds"
"""Notified when there is work on a build."""


class BuildContext(Table):
    """Files for builds. content: a tar file, compressed. It stays while a build refers to it."""

    __tablename__ = "environment_build_contexts"

    id: Mapped[str] = mapped_column(String, primary_key=True)
    owner_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"), index=True)
    content: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    files: Mapped[int]
    size_bytes: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class BuiltVersion(Table):
    """How a version is built. kind, file, base, source: as requested. dockerfile: before its images are named as they
    are for an engine. files: texts by path that a person wrote. added: those that the context has besides. notes: lines
    for the log. images: references by their names in the Dockerfile. below: name of the one below the result; None:
    scratch. attempts: interrupted ones count.
    """

    __tablename__ = "environment_builds"
    __table_args__ = (Index("ix_environment_builds_context_id", "context_id"),)

    version_id: Mapped[EnvironmentVersionId] = mapped_column(
        String, ForeignKey("environment_versions.id", ondelete="CASCADE"), primary_key=True
    )
    kind: Mapped[str] = mapped_column(String(20))
    file: Mapped[str | None] = mapped_column(String(255))
    base: Mapped[str | None] = mapped_column(String(512))
    source: Mapped[str] = mapped_column(String(2000), server_default=text("''"))
    dockerfile: Mapped[str]
    files: Mapped[dict[str, str]] = mapped_column(JSONB)
    added: Mapped[dict[str, str]] = mapped_column(JSONB)
    notes: Mapped[list[str]] = mapped_column(JSONB, server_default=text("'[]'"))
    images: Mapped[dict[str, Any]] = mapped_column(JSONB)
    below: Mapped[str | None] = mapped_column(String(512))
    context_id: Mapped[str | None] = mapped_column(String, ForeignKey("environment_build_contexts.id"))
    attempts: Mapped[int] = mapped_column(server_default=text("0"))


class BuildLog(Table):
    """A part of the log of a build. number: from 1; those of an interrupted attempt are gone."""

    __tablename__ = "environment_build_logs"

    version_id: Mapped[EnvironmentVersionId] = mapped_column(
        String, ForeignKey("environment_builds.version_id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str]
