"""The table of engines."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import CheckConstraint, DateTime, LargeBinary, String, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import EngineId
from carrel.db.tables import Table

TOPIC = "engines"
"""Notified when an engine is added, changed or removed."""


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
