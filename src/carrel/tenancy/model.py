"""Tables of people and the places they belong to."""

from datetime import datetime

from sqlalchemy import CheckConstraint, DateTime, ForeignKey, Index, LargeBinary, String, func, text
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import DomainId, ProjectId, UserId
from carrel.db.tables import Table
from carrel.policy.actions import Role

_ROLES = ", ".join(f"'{role}'" for role in Role)


class Domain(Table):
    __tablename__ = "domains"

    id: Mapped[DomainId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)


class Project(Table):
    __tablename__ = "projects"
    __table_args__ = (Index("uq_projects_domain_id_name", "domain_id", "name", unique=True),)

    id: Mapped[ProjectId] = mapped_column(String, primary_key=True)
    domain_id: Mapped[DomainId] = mapped_column(String, ForeignKey("domains.id"))
    name: Mapped[str] = mapped_column(String(64))


class User(Table):
    __tablename__ = "users"
    __table_args__ = (
        CheckConstraint(f"role IN ({_ROLES})", name="role"),
        Index("uq_users_email", text("lower(email)"), unique=True),
    )

    id: Mapped[UserId] = mapped_column(String, primary_key=True)
    domain_id: Mapped[DomainId] = mapped_column(String, ForeignKey("domains.id"))
    email: Mapped[str] = mapped_column(String(254))
    name: Mapped[str] = mapped_column(String(64))
    role: Mapped[Role] = mapped_column(String(20))
    password_hash: Mapped[str]
    active: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class Membership(Table):
    __tablename__ = "memberships"

    project_id: Mapped[ProjectId] = mapped_column(String, ForeignKey("projects.id"), primary_key=True)
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id"), primary_key=True, index=True)
    admin: Mapped[bool] = mapped_column(default=False)


class LoginAttempts(Table):
    """Attempts to sign in since the last that succeeded, whether there is such a user or not.

    email_hash: SHA-256 of the e-mail, lower case. at: of the newest attempt that was looked at.
    """

    __tablename__ = "login_attempts"
    __table_args__ = (Index("ix_login_attempts_at", "at"),)

    email_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    tries: Mapped[int]
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class Login(Table):
    """A signed-in browser. id: SHA-256 of the cookie's token; the token itself is never stored."""

    __tablename__ = "logins"

    id: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id"), index=True)
    csrf_token: Mapped[str]
    address: Mapped[str]
    device: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class Keypair(Table):
    """secret_hash: SHA-256; the secret is 256 random bits, so a slow hash would add nothing."""

    __tablename__ = "keypairs"

    access_key: Mapped[str] = mapped_column(String(24), primary_key=True)
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id"), index=True)
    secret_hash: Mapped[bytes] = mapped_column(LargeBinary)
    active: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    last_used_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
