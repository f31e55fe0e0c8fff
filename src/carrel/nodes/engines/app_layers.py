"""The app layer of each engine: its state as the controllers report it, and the request to build it again."""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import delete, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import EngineId, NodeId
from carrel.db.database import notify
from carrel.nodes.engines import service
from carrel.tables.engines import LAYER_TOPIC, AppLayerRow, EngineRow, LayerState
from carrel.tables.nodes import Node


async def all_layers(tx: AsyncSession) -> Mapping[EngineId, AppLayerRow]:
    """By engine; absent: the engine has none yet, or cannot mount any."""
    return {row.engine_id: row for row in (await tx.execute(select(AppLayerRow))).scalars()}


async def ready(tx: AsyncSession) -> Mapping[EngineId, str]:
    """The reference of the layer by engine, where it can be mounted."""
    rows = select(AppLayerRow.engine_id, AppLayerRow.reference).where(AppLayerRow.state == LayerState.READY)
    return {row.engine_id: row.reference for row in await tx.execute(rows)}


_REPORT = text("""
INSERT INTO app_layers AS l (engine_id, reference, state, step, error, state_since)
SELECT id, :reference, :state, :step, CAST(:error AS text), :now FROM engines WHERE id = :engine
ON CONFLICT (engine_id) DO UPDATE SET
    reference = excluded.reference, state = excluded.state, step = excluded.step, error = excluded.error,
    state_since = CASE WHEN l.state = excluded.state AND l.reference = excluded.reference
        THEN l.state_since ELSE excluded.state_since END
RETURNING engine_id
""")


async def report(
    tx: AsyncSession,
    engine: EngineId,
    reference: str,
    state: LayerState,
    now: datetime,
    *,
    step: str = "",
    error: str | None = None,
) -> None:
    """Store the state of an engine's layer and publish it. An engine that was removed meanwhile: no-op."""
    values = {"engine": engine, "reference": reference, "state": str(state), "step": step, "error": error}
    if (await tx.execute(_REPORT, {**values, "now": now})).scalar():
        await service.publish(tx, await tx.get_one(EngineRow, engine))


async def keep(tx: AsyncSession, engines: Collection[EngineId]) -> None:
    """Forget the layers of all other engines."""
    await tx.execute(delete(AppLayerRow).where(AppLayerRow.engine_id.not_in(engines)))


async def missing(tx: AsyncSession, node: NodeId | None) -> str:
    """Why a session on the node does not have the layer, as a sentence."""
    of = select(AppLayerRow).join(Node, Node.engine_id == AppLayerRow.engine_id).where(Node.id == node)
    row = (await tx.execute(of)).scalar_one_or_none()
    if row is None:
        return "The engine of the session has no app layer."
    if row.state == LayerState.FAILED:
        return row.error or "The app layer of its engine failed."
    if row.state == LayerState.BUILDING:
        return "The app layer of its engine is not ready yet. Sessions that start later have it."
    return "The app layer of its engine was not ready when it started. A new session has it."


async def note(tx: AsyncSession, engine: EngineId) -> str:
    """For a check of the engine: how containers have the layer, or why they cannot; empty if there is neither."""
    row = (await all_layers(tx)).get(engine)
    text = row and (row.error if row.state == LayerState.FAILED else row.step)
    return f"App layer: {text}" if text else ""


async def build_again(tx: AsyncSession, engine: EngineId) -> None:
    """Have a failed build begin again now. Otherwise: no-op."""
    failed = delete(AppLayerRow).where(
        AppLayerRow.engine_id == engine, AppLayerRow.state == LayerState.FAILED
    )
    if (await tx.execute(failed.returning(AppLayerRow.engine_id))).scalar():
        await notify(tx, LAYER_TOPIC)
