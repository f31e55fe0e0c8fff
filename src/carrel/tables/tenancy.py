"""Tables of users, projects and domains."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    ARRAY,
    CheckConstraint,
    ColumnElement,
    DateTime,
    ForeignKey,
    Index,
    String,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import DomainId, PolicyId, ProjectId, UserId
from carrel.db.tables import Table
from carrel.permissions.actions import Role


class UserState(StrEnum):
    """UNVERIFIED: signed up, with a pending verification mail.

    PURGED: all personal data is deleted; past sessions still refer to the id as their owner.
    """

    ACTIVE = "active"
    INACTIVE = "inactive"
    UNVERIFIED = "unverified"
    PURGED = "purged"


_ROLES = ", ".join(f"'{role}'" for role in Role if role is not Role.PROJECT_ADMIN)
_STATES = ", ".join(f"'{state}'" for state in UserState)


class Domain(Table):
    """ceilings: slot -> most that its sessions may hold together; slots that are not listed are unlimited.

    resource_groups, registries, storage_hosts: permitted names; None: all. removed_at: when it was removed; purged
    users, archived projects and past sessions still refer to it, it is hidden, and its name is free.
    """

    __tablename__ = "domains"
    __table_args__ = (
        Index(
            "uq_domains_name_lower",
            text("lower(name)"),
            unique=True,
            postgresql_where=text("removed_at IS NULL"),
        ),
    )

    id: Mapped[DomainId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64))
    description: Mapped[str] = mapped_column(String(500), server_default="")
    active: Mapped[bool] = mapped_column(server_default=text("true"))
    ceilings: Mapped[dict[str, int]] = mapped_column(JSONB, server_default=text("'{}'"))
    resource_groups: Mapped[list[str] | None] = mapped_column(ARRAY(String))
    registries: Mapped[list[str] | None] = mapped_column(ARRAY(String))
    storage_hosts: Mapped[list[str] | None] = mapped_column(ARRAY(String))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    removed_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class Project(Table):
    """archived_at: since when it accepts no new sessions; members and history stay."""

    __tablename__ = "projects"
    __table_args__ = (Index("uq_projects_domain_id_name", "domain_id", "name", unique=True),)

    id: Mapped[ProjectId] = mapped_column(String, primary_key=True)
    domain_id: Mapped[DomainId] = mapped_column(String, ForeignKey("domains.id"))
    name: Mapped[str] = mapped_column(String(64))
    description: Mapped[str] = mapped_column(String(500), server_default="")
    ceilings: Mapped[dict[str, int]] = mapped_column(JSONB, server_default=text("'{}'"))
    policy_id: Mapped[PolicyId] = mapped_column(
        String, ForeignKey("resource_policies.id"), server_default="default-project", index=True
    )
    archived_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class User(Table):
    """password_hash None: signs in by a provider or a passkey only. role: never PROJECT_ADMIN, which is a membership
    role.

    signed_up: created the account themselves. addresses: networks (CIDR) to sign in from; empty: any. preferences:
    language, theme and the like, used by the page only. notifications: kind -> channels, of the kinds for which they
    chose. keypair_policy_id: for use without a keypair, and for new
    keypairs.
    """

    __tablename__ = "users"
    __table_args__ = (
        CheckConstraint(f"role IN ({_ROLES})", name="role"),
        CheckConstraint(f"state IN ({_STATES})", name="state"),
        Index("uq_users_email", text("lower(email)"), unique=True),
        Index("ix_users_domain_id_created_at_id", "domain_id", "created_at", "id"),
        Index("ix_users_created_at_id", "created_at", "id"),
        Index("ix_users_name_id", text("lower(name)"), "id"),
        Index(
            "ix_users_last_seen_at_id",
            text("coalesce(last_seen_at, '1970-01-01 00:00:00+00'::timestamptz)"),
            "id",
        ),
        Index("ix_users_searched", text("trigrams((email || ' ') || name)"), postgresql_using="gin"),
    )

    id: Mapped[UserId] = mapped_column(String, primary_key=True)
    domain_id: Mapped[DomainId] = mapped_column(String, ForeignKey("domains.id"))
    email: Mapped[str] = mapped_column(String(254))
    name: Mapped[str] = mapped_column(String(64))
    description: Mapped[str] = mapped_column(String(500), server_default="")
    role: Mapped[Role] = mapped_column(String(20))
    state: Mapped[UserState] = mapped_column(String(12), default=UserState.ACTIVE, server_default="active")
    password_hash: Mapped[str | None]
    password_set_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    must_change_password: Mapped[bool] = mapped_column(default=False, server_default=text("false"))
    signed_up: Mapped[bool] = mapped_column(default=False, server_default=text("false"))
    addresses: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    preferences: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default=text("'{}'"))
    notifications: Mapped[dict[str, list[str]]] = mapped_column(JSONB, server_default=text("'{}'"))
    policy_id: Mapped[PolicyId] = mapped_column(
        String, ForeignKey("resource_policies.id"), server_default="default-user", index=True
    )
    keypair_policy_id: Mapped[PolicyId] = mapped_column(
        String, ForeignKey("resource_policies.id"), server_default="default-keypair", index=True
    )
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    last_seen_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))

    @hybrid_property
    def active(self) -> bool:
        return self.state == UserState.ACTIVE

    @active.inplace.expression
    @classmethod
    def _active(cls) -> ColumnElement[bool]:
        return cls.state == UserState.ACTIVE


class Membership(Table):
    __tablename__ = "memberships"

    project_id: Mapped[ProjectId] = mapped_column(String, ForeignKey("projects.id"), primary_key=True)
    user_id: Mapped[UserId] = mapped_column(
        String, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    admin: Mapped[bool] = mapped_column(default=False)
    since: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


IS_SUPERADMIN, IS_DOMAIN_ADMIN = User.role == Role.SUPERADMIN, User.role == Role.DOMAIN_ADMIN
