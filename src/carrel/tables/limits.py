"""Resource policies. Ceilings of domains and projects are columns of their own tables."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import CheckConstraint, DateTime, Index, String, or_, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import PolicyId
from carrel.db.tables import Table
from carrel.tables.policies import UNLIMITED

TOPIC = "limits"
"""Notified when a limit is changed or assigned."""


class PolicyKind(StrEnum):
    KEYPAIR = "keypair"
    USER = "user"
    PROJECT = "project"


DEFAULT_POLICIES = {kind: PolicyId(f"default-{kind}") for kind in PolicyKind}
"""The default policy; created by the migration, and never deleted."""

_KINDS = ", ".join(f"'{kind}'" for kind in PolicyKind)


class ResourcePolicy(Table):
    """limits: written by `limits.schemas` for the kind, read by `tables.policies`.

    Every limit is present, "unlimited" or a number.
    """

    __tablename__ = "resource_policies"
    __table_args__ = (
        CheckConstraint(f"kind IN ({_KINDS})", name="kind"),
        Index("uq_resource_policies_kind_name_lower", "kind", text("lower(name)"), unique=True),
    )

    id: Mapped[PolicyId] = mapped_column(String, primary_key=True)
    kind: Mapped[PolicyKind] = mapped_column(String(10))
    name: Mapped[str] = mapped_column(String(64))
    description: Mapped[str] = mapped_column(String(500), server_default="")
    limits: Mapped[dict[str, Any]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=text("now()"))


HAS_IDLE_RULE = or_(
    ResourcePolicy.limits["idle_timeout_s"].as_string() != UNLIMITED,
    ResourcePolicy.limits["idle_use"].as_string() != UNLIMITED,
)
LOG_BYTES = ResourcePolicy.limits["log_bytes"]
FOLDER_BYTES = "limits -> 'folder_bytes'"
"""As an SQL fragment, for `tables.policies.most`."""
