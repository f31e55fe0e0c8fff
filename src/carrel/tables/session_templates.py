"""Templates: saved session definitions."""

from datetime import datetime
from typing import Any

from sqlalchemy import DateTime, ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import DomainId, ProjectId, TemplateId, UserId
from carrel.db.tables import Table


class SessionTemplate(Table):
    """project_id: where its sessions start. shared: the members of that project see and start it.

    parameters: `sessions.templates.parameters.Parameter`, each as JSON. definition: the fields of a session request,
    whose texts refer to parameters; values of its environment are encrypted. revision: from 1, of the content.
    """

    __tablename__ = "session_templates"
    __table_args__ = (
        UniqueConstraint("owner_id", "name", name="uq_session_templates_owner_id_name"),
        Index(
            "uq_session_templates_project_id_name_shared",
            "project_id",
            "name",
            unique=True,
            postgresql_where=text("shared"),
        ),
    )

    id: Mapped[TemplateId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64))
    description: Mapped[str] = mapped_column(String(500))
    owner_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id"))
    project_id: Mapped[ProjectId] = mapped_column(
        String, ForeignKey("projects.id", ondelete="CASCADE"), index=True
    )
    domain_id: Mapped[DomainId] = mapped_column(String, ForeignKey("domains.id"))
    shared: Mapped[bool]
    parameters: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    definition: Mapped[dict[str, Any]] = mapped_column(JSONB)
    revision: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    updated_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
