"""Progress of scans of all registries or images, which the ends of their scans make."""

from datetime import datetime

from sqlalchemy import func, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import RescanId
from carrel.tables.registries import ScanState
from carrel.tables.rescans import Rescan

_COUNTS = {
    ScanState.DONE: Rescan.done,
    ScanState.FAILED: Rescan.failed,
    ScanState.CANCELLED: Rescan.cancelled,
}


async def add(
    tx: AsyncSession, rescan: RescanId, ended_as: ScanState, now: datetime, problem: str | None
) -> None:
    """Count a scan that has ended. problem: why it failed."""
    count = _COUNTS[ended_as]
    # A result that is used again is of an earlier time.
    latest = func.greatest(Rescan.updated_at, now)
    counted = update(Rescan).where(Rescan.id == rescan).values({count: count + 1, Rescan.updated_at: latest})
    await tx.execute(counted.values(problem=problem) if problem else counted)
