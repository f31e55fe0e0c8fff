"""Identity providers, and which of our users is whom at them."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    CheckConstraint,
    DateTime,
    ForeignKey,
    LargeBinary,
    String,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import DomainId, ProjectId, UserId
from carrel.db.tables import Table
from carrel.permissions.actions import Role


class Provider(Table):
    """kind "oidc" or "ldap". options: what its schema says, secrets left out. secret: sealed (the client
    secret, the bind password). domain_id: where people who come first are made.
    mapping: what groups at the provider give here, as `schemas.GroupRule` says, projects by their id.
    """

    __tablename__ = "providers"
    __table_args__ = (CheckConstraint("kind IN ('oidc', 'ldap')", name="kind"),)

    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)
    kind: Mapped[str] = mapped_column(String(10))
    active: Mapped[bool] = mapped_column(server_default=text("true"))
    domain_id: Mapped[DomainId] = mapped_column(String, ForeignKey("domains.id"))
    options: Mapped[dict[str, Any]] = mapped_column(JSONB)
    mapping: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default=text("'[]'"))
    secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())

    @property
    def method(self) -> str:
        """How sign-ins by it begin, as `Login.method` says."""
        return f"{self.kind}:{self.name}"


class ExternalIdentity(Table):
    """Who a user is at a provider. subject: theirs, never reassigned.

    projects, role: what the groups gave at the last sign-in, so that it can be taken away again; what
    administrators gave by hand is in neither.
    """

    __tablename__ = "external_identities"
    __table_args__ = (UniqueConstraint("user_id", "provider_id"),)

    provider_id: Mapped[str] = mapped_column(
        String, ForeignKey("providers.id", ondelete="CASCADE"), primary_key=True
    )
    subject: Mapped[str] = mapped_column(String(255), primary_key=True)
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"))
    projects: Mapped[list[ProjectId]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    role: Mapped[Role | None] = mapped_column(String(20))
    seen_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
