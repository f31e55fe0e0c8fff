"""Identity providers, and the external identities of users."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    DateTime,
    ForeignKey,
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
    """kind: of the plug-in. settings: by its model, without secrets. secrets: by name, each sealed, in hexadecimal.

    server: its address, for lists. domain_id: where new users are created. mapping: grants of groups at the provider,
    as in `schemas.GroupRule`, with project ids.
    """

    __tablename__ = "providers"

    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)
    kind: Mapped[str] = mapped_column(String(30))
    active: Mapped[bool] = mapped_column(server_default=text("true"))
    domain_id: Mapped[DomainId] = mapped_column(String, ForeignKey("domains.id"))
    settings: Mapped[dict[str, Any]] = mapped_column(JSONB)
    secrets: Mapped[dict[str, str]] = mapped_column(JSONB, server_default=text("'{}'"))
    server: Mapped[str] = mapped_column(String(1024))
    mapping: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default=text("'[]'"))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())

    @property
    def method(self) -> str:
        """Prefix of the method of its sign-ins, see `Login.method`."""
        return f"{self.kind}:{self.name}"


class ExternalIdentity(Table):
    """The identity of a user at a provider. subject: at the provider, never reassigned.

    projects, role: granted by groups at the last sign-in, so that they can be revoked; manual grants are in neither.
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
