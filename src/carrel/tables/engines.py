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
"""Announced when an engine was added, changed or removed."""


class EngineState(StrEnum):
    """UNKNOWN: not looked at yet. DOWN: it does not answer, or not in time; its nodes take no sessions."""

    UNKNOWN = "UNKNOWN"
    READY = "READY"
    DOWN = "DOWN"


_STATES = ", ".join(f"'{state}'" for state in EngineState)


class EngineRow(Table):
    """kind: of the plug-in. settings: what its model says, without secrets. secrets: those as JSON, sealed.

    last_error: why it is DOWN, a sentence. state_since: since when it is in its state.
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
