"""The catalogue of apps, and instances, grants, ports, starts and leases of apps. A grant is identified by the SHA-256
of a random token, which is never stored."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    DateTime,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import AppTemplateId, ContainerId, DomainId, ProjectId, SessionId, UserId
from carrel.db.tables import Table


class CatalogueEntry(Table):
    """An app template of a person (user_id), of a project (project_id and its domain_id), or of the installation.

    enabled: if not, it hides entries of its name that come from further out: a person's hides those of the project, and
    both hide the installation's. definition: an `apps.app_templates.AppTemplate` as JSON.
    """

    __tablename__ = "app_templates"
    __table_args__ = (
        CheckConstraint("user_id IS NULL OR project_id IS NULL", name="owner"),
        Index(
            "uq_app_templates_owner_name",
            text("coalesce(user_id, project_id, '')"),
            "name",
            unique=True,
        ),
    )

    id: Mapped[AppTemplateId] = mapped_column(String, primary_key=True)
    user_id: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"))
    project_id: Mapped[ProjectId | None] = mapped_column(
        String, ForeignKey("projects.id", ondelete="CASCADE"), index=True
    )
    domain_id: Mapped[DomainId | None] = mapped_column(String, ForeignKey("domains.id"))
    name: Mapped[str] = mapped_column(String(40))
    enabled: Mapped[bool]
    definition: Mapped[dict[str, Any]] = mapped_column(JSONB)
    updated_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class AppInstance(Table):
    """An app of a session that its image does not declare: of the catalogue, once it was started; a further one of the
    same kind; or an opened port. Also one of the image that was started with options of its own.

    definition: an `apps.app_templates.AppTemplate` as JSON, with the port that it has in this session. template: the
    name of the app that it is made from; None: an opened port. options: as chosen.
    """

    __tablename__ = "app_instances"

    session_id: Mapped[SessionId] = mapped_column(
        String, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True
    )
    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    template: Mapped[str | None] = mapped_column(String(40))
    definition: Mapped[dict[str, Any]] = mapped_column(JSONB)
    options: Mapped[dict[str, str]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class AppGrant(Table):
    """The right to use one app of one session: first as a ticket, once and for seconds; then by one browser, for hours.

    credential, login_id: of the actor who opened the app. The grant is valid no longer than these.
    """

    __tablename__ = "app_grants"
    __table_args__ = (Index("ix_app_grants_expires_at", "expires_at"),)

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    ticket: Mapped[bool]
    session_id: Mapped[SessionId] = mapped_column(String)
    app: Mapped[str] = mapped_column(String(64))
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id"))
    credential: Mapped[str]
    # Ends with the sign-in, whose id does not change with its cookie.
    login_id: Mapped[bytes | None] = mapped_column(
        LargeBinary, ForeignKey("logins.id", onupdate="CASCADE", ondelete="CASCADE"), index=True
    )
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class AppPort(Table):
    """The app that last used this port. The row stays when the port is unused; another app takes it over."""

    __tablename__ = "app_ports"
    __table_args__ = (UniqueConstraint("session_id", "app", name="uq_app_ports_session_id_app"),)

    port: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    session_id: Mapped[SessionId] = mapped_column(String)
    app: Mapped[str] = mapped_column(String(64))
    given_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class AppStart(Table):
    """When an app was first opened in the last start of its session, and when it first responded then."""

    __tablename__ = "app_starts"

    session_id: Mapped[SessionId] = mapped_column(String, ForeignKey("sessions.id"), primary_key=True)
    app: Mapped[str] = mapped_column(String(64), primary_key=True)
    opened_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    ready_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class AppLease(Table):
    """The copy of the API that is starting an app, so that no other one does at the same time."""

    __tablename__ = "app_leases"

    container_id: Mapped[ContainerId] = mapped_column(
        String, ForeignKey("containers.id", ondelete="CASCADE"), primary_key=True
    )
    app: Mapped[str] = mapped_column(String(64), primary_key=True)
    owner: Mapped[str]
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
