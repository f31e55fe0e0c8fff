"""Compute the statistics of a day from the ledger and the hours of its containers."""

from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.usage.waits import GROWTH

_WASTERS = 3
"""Sessions kept per row; a session that wastes much over a month is among them on each of its days."""

# 1. parts: how long each allocation lasted in each hour. The slot "sessions" follows the main container's CPU.
# 2. measured: the time of its container's samples in this hour. Two allocations of a container in one hour, before
#    and after a restart, share it.
# 3. per session, then per owner, project, group, image and slot.
_COMPUTE = text("""
WITH moments AS (
    SELECT n, :start + n * interval '1 hour' AS begins,
        least(:start + (n + 1) * interval '1 hour', :until) AS ends
    FROM generate_series(0, 23) n WHERE :start + n * interval '1 hour' < :until
), held AS (
    SELECT a.session_id, a.container_id, a.slot, a.amount, a.created_at, a.released_at
    FROM allocations a
    WHERE a.released_at > :start AND a.created_at < :until
    UNION ALL
    SELECT a.session_id, a.container_id, a.slot, a.amount, a.created_at, a.released_at
    FROM allocations a
    WHERE a.released_at IS NULL AND a.created_at < :until
), parts AS (
    SELECT h.session_id, h.container_id, h.slot, h.amount, m.n, m.begins,
        extract(epoch FROM least(coalesce(h.released_at, m.ends), m.ends)
            - greatest(h.created_at, m.begins))::float AS seconds
    FROM held h JOIN moments m
        ON h.created_at < m.ends AND coalesce(h.released_at, 'infinity') > m.begins
), measured AS (
    SELECT p.*, u.cpu_millis, u.mem_bytes, u.accelerator_percent,
        CASE WHEN p.slot NOT IN ('cpu', 'mem') AND u.accelerator_percent IS NULL THEN 0
            ELSE least(coalesce(u.seconds, 0) * p.seconds
                / sum(p.seconds) OVER (PARTITION BY p.container_id, p.slot, p.n), p.seconds)
        END AS measured_s
    FROM parts p LEFT JOIN usage_hours u ON u.container_id = p.container_id AND u.at = p.begins
    WHERE p.seconds > 0
), amounts AS (
    SELECT session_id, slot, n, amount * seconds AS held, amount * measured_s AS measured,
        measured_s * CASE slot
            WHEN 'cpu' THEN least(coalesce(cpu_millis, 0), amount)
            WHEN 'mem' THEN least(coalesce(mem_bytes, 0), amount)
            ELSE amount * coalesce(accelerator_percent, 0) / 100.0 END AS used
    FROM measured
    UNION ALL
    SELECT p.session_id, 'sessions', p.n, p.seconds, 0, 0
    FROM parts p JOIN containers c ON c.id = p.container_id AND c.index = 0
    WHERE p.slot = 'cpu' AND p.seconds > 0
), of_sessions AS (
    SELECT session_id, slot, sum(measured) AS measured, sum(used) AS used FROM amounts GROUP BY 1, 2
), ranked AS (
    SELECT s.owner_id, s.project_id, s.group_id, s.image, s.domain_id, o.*,
        row_number() OVER (PARTITION BY s.owner_id, s.project_id, s.group_id, s.image, s.domain_id, o.slot
            ORDER BY o.measured - o.used DESC) AS rank
    FROM of_sessions o JOIN sessions s ON s.id = o.session_id
), sums AS (
    SELECT owner_id, project_id, group_id, image, domain_id, slot, sum(measured) AS measured, sum(used) AS used,
        jsonb_object_agg(session_id, measured - used)
            FILTER (WHERE rank <= :wasters AND measured > used) AS wasters
    FROM ranked GROUP BY 1, 2, 3, 4, 5, 6
), hourly AS (
    SELECT s.owner_id, s.project_id, s.group_id, s.image, s.domain_id, a.slot, a.n, sum(a.held) AS held
    FROM amounts a JOIN sessions s ON s.id = a.session_id GROUP BY 1, 2, 3, 4, 5, 6, 7
), hours AS (
    SELECT k.owner_id, k.project_id, k.group_id, k.image, k.domain_id, k.slot,
        array_agg(coalesce(h.held, 0) ORDER BY n) AS hours
    FROM sums k CROSS JOIN generate_series(0, 23) n
        LEFT JOIN hourly h USING (owner_id, project_id, group_id, image, domain_id, slot, n)
    GROUP BY 1, 2, 3, 4, 5, 6
), placed AS (
    SELECT h.session_id, min(h.created_at) AS at FROM held h
    WHERE h.created_at >= :start AND NOT EXISTS (
        SELECT FROM held e WHERE e.container_id = h.container_id AND e.released_at = h.created_at)
    GROUP BY 1
), waited AS (
    SELECT s.owner_id, s.project_id, s.group_id, s.image, s.domain_id,
        extract(epoch FROM p.at - greatest(s.created_at, s.not_before))::float AS wait_s
    FROM placed p JOIN sessions s ON s.id = p.session_id WHERE s.restarts = 0
), counts AS (
    SELECT owner_id, project_id, group_id, image, domain_id,
        CASE WHEN wait_s < 1 THEN 0 ELSE ceil(ln(wait_s) / ln(:growth)) + 1 END::int AS bucket, count(*) AS number
    FROM waited GROUP BY 1, 2, 3, 4, 5, 6
), waits AS (
    SELECT owner_id, project_id, group_id, image, domain_id, 'sessions' AS slot,
        jsonb_object_agg(bucket, number) AS waits
    FROM counts GROUP BY 1, 2, 3, 4, 5
)
INSERT INTO usage_days
    (day, owner_id, project_id, group_id, image, slot, domain_id, hours, measured, used, wasters, waits)
SELECT :day, owner_id, project_id, group_id, image, slot, domain_id, hours, measured, used, wasters, waits
FROM sums JOIN hours USING (owner_id, project_id, group_id, image, domain_id, slot)
    LEFT JOIN waits USING (owner_id, project_id, group_id, image, domain_id, slot)
""")


async def compute(tx: AsyncSession, day: date, until: datetime) -> None:
    """Replace the rows of a UTC day by its sums until then."""
    start = datetime.combine(day, time(), UTC)
    until = min(until, start + timedelta(days=1))
    await tx.execute(text("DELETE FROM usage_days WHERE day = :day"), {"day": day})
    await tx.execute(
        _COMPUTE, {"day": day, "start": start, "until": until, "wasters": _WASTERS, "growth": GROWTH}
    )
