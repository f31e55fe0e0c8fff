"""The table of engines."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import CheckConstraint, DateTime, ForeignKey, LargeBinary, String, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import EngineId
from carrel.db.tables import Table

TOPIC = "engines"
"""Notified when an engine is added, changed or removed."""
LAYER_TOPIC = "app_layers"
"""Notified when the app layer of an engine is to be built again."""


class EngineState(StrEnum):
    """UNKNOWN: not checked yet. DOWN: no response in time; its nodes accept no sessions."""

    UNKNOWN = "UNKNOWN"
    READY = "READY"
    DOWN = "DOWN"


_STATES = ", ".join(f"'{state}'" for state in EngineState)


class EngineRow(Table):
    """kind: of the plug-in. settings: by its model, without secrets. secrets: as JSON, sealed.

    last_error: why it is DOWN, a sentence. state_since: time of the last state change.
    """

    __tablename__ = "engines"
    __table_args__ = (CheckConstraint(f"state IN ({_STATES})", name="state"),)

    id: Mapped[EngineId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)
    kind: Mapped[str] = mapped_column(String(40))
    settings: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default=text("'{}'"))
    secrets: Mapped[bytes | None] = mapped_column(LargeBinary)
    state: Mapped[EngineState] = mapped_column(String(10), server_default=EngineState.UNKNOWN)
    last_error: Mapped[str | None]
    state_since: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=text("now()"))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=text("now()"))


class LayerState(StrEnum):
    """READY: sessions that start have it. FAILED: it is tried again later."""

    BUILDING = "BUILDING"
    READY = "READY"
    FAILED = "FAILED"


_LAYER_STATES = ", ".join(f"'{state}'" for state in LayerState)


class AppLayerRow(Table):
    """The app layer in an engine that can mount one. reference: of its image. step: of the build, for people.

    error: why it FAILED, a sentence. state_since: time of the last state change.
    """

    __tablename__ = "app_layers"
    __table_args__ = (CheckConstraint(f"state IN ({_LAYER_STATES})", name="state"),)

    engine_id: Mapped[EngineId] = mapped_column(
        String, ForeignKey("engines.id", ondelete="CASCADE"), primary_key=True
    )
    reference: Mapped[str] = mapped_column(String(512))
    state: Mapped[LayerState] = mapped_column(String(10))
    step: Mapped[str] = mapped_column(server_default="")
    error: Mapped[str | None]
    state_since: Mapped[datetime] = mapped_column(DateTime(timezone=True))
