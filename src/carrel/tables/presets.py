"""Presets, of one resource group or of all."""

from datetime import datetime

from sqlalchemy import DateTime, ForeignKey, Index, String, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import GroupId, PresetId
from carrel.db.tables import Table


class Preset(Table):
    """group_id None: offered in every group. slots: in base units."""

    __tablename__ = "presets"
    __table_args__ = (
        Index(
            "uq_presets_group_id_name_lower", text("coalesce(group_id, '')"), text("lower(name)"), unique=True
        ),
    )

    id: Mapped[PresetId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64))
    group_id: Mapped[GroupId | None] = mapped_column(
        String, ForeignKey("resource_groups.id", ondelete="CASCADE")
    )
    slots: Mapped[dict[str, int]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=text("now()"))
