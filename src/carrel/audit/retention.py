"""Deletion of entries older than the retention period, from the oldest on, with a record of the cut."""

from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service

BATCH = 20_000

# The first sealed entries, as long as all of them are old enough.
_OLD = text("""
    WITH first AS (
        SELECT position, hash, at, bool_and(at < :before) OVER (ORDER BY position) AS old
        FROM audit WHERE position IS NOT NULL ORDER BY position LIMIT :batch
    )
    SELECT position, hash, at FROM first WHERE old ORDER BY position DESC LIMIT 1
""")
_ALLOW = text("SET LOCAL carrel.audit_retention = 'on'")
_DISALLOW = text("SET LOCAL carrel.audit_retention = 'off'")
_DELETE = text("DELETE FROM audit WHERE position <= :position")
_NOTE = text("""
    INSERT INTO audit_anchor (id, position, hash, cut_at) VALUES (1, :position, :hash, :now)
    ON CONFLICT (id) DO UPDATE SET position = excluded.position, hash = excluded.hash, cut_at = excluded.cut_at
""")


def oldest_kept(now: datetime, days: int) -> datetime:
    """The time before which entries may be deleted. Whole days (UTC), so that there is at most one cut per day."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days)


async def cut(tx: AsyncSession, *, before: datetime, now: datetime) -> bool:
    """Delete the oldest expired entries, at most BATCH, and record it in the trail. True: there may be more."""
    last = (await tx.execute(_OLD, {"before": before, "batch": BATCH})).first()
    if last is None:
        return False
    await tx.execute(_ALLOW)
    deleted = await tx.execute(_DELETE, {"position": last.position})
    await tx.execute(_DISALLOW)
    await tx.execute(_NOTE, {"position": last.position, "hash": last.hash, "now": now})
    count: int = deleted.rowcount  # type: ignore[attr-defined]
    service.record_own(
        tx,
        "audit.prune",
        details={
            "entries": count,
            "position": last.position,
            "hash": last.hash.hex(),
            "up_to": last.at.isoformat(),
        },
    )
    return count == BATCH
