"""Record the observed state of engines, and register the local one."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import or_, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import LOCAL_ENGINE, EngineId
from carrel.db.database import notify
from carrel.events import service as events
from carrel.permissions.decide import Target
from carrel.tables.engines import TOPIC, EngineRow, EngineState


async def observe(
    tx: AsyncSession, engine: EngineId, state: EngineState, now: datetime, *, error: str | None = None
) -> bool:
    """Store the observed state of the engine; True if it changed. error: a sentence."""
    moved = await tx.execute(_OBSERVE, {"id": engine, "state": str(state), "error": error, "now": now})
    if (before := moved.scalar()) is None:
        return False
    await publish(tx, await tx.get_one(EngineRow, engine, populate_existing=True))
    return bool(before != state)


# Write only changes, because engines are checked all the time.
_OBSERVE = text("""
WITH before AS (
    SELECT id, state FROM engines
    WHERE id = :id AND (state <> :state OR last_error IS DISTINCT FROM CAST(:error AS text)) FOR NO KEY UPDATE
)
UPDATE engines e SET state = :state, last_error = :error,
    state_since = CASE WHEN before.state = :state THEN e.state_since ELSE :now END
FROM before WHERE e.id = before.id RETURNING before.state
""")


async def ensure_local(tx: AsyncSession, kind: str, settings: Mapping[str, Any]) -> None:
    """Set kind and settings of the local engine. Twice: no-op."""
    other = or_(EngineRow.kind != kind, EngineRow.settings != settings)
    moved = await tx.execute(
        update(EngineRow)
        .where(EngineRow.id == LOCAL_ENGINE, other)
        .values(kind=kind, settings=settings)
        .returning(EngineRow.id)
    )
    if moved.scalar():
        await notify(tx, TOPIC)


async def publish(tx: AsyncSession, engine: EngineRow, event: str = "engine.updated") -> None:
    """Publish the state to engine administrators."""
    data = {"id": engine.id, "name": engine.name, "state": engine.state}
    await events.record(tx, event, engine.id, target=Target(), data=data)
