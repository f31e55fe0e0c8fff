"""Energy that sessions draw by their devices: their power, integrated between two measurements.

A session with a part of a device is charged that part of its energy. Time without measurements is not counted.
"""

from collections.abc import Mapping

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

# The trapezium between the measurement in `device_conditions` and the one that replaces it, for those who held the
# device meanwhile.
_ADD = text("""
WITH measured AS (
    SELECT c.node_id, c.device, c.description->>'model' AS model, c.measured_at AS since,
        (CAST(c.metrics->>'power_w' AS float) + CAST(r.metrics->>'power_w' AS float)) / 2 AS watts
    FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r(
        node text, device text, description jsonb, healthy boolean, problem text, metrics jsonb)
    JOIN nodes n ON n.engine_id = :engine AND n.name = r.node
    JOIN device_conditions c ON c.node_id = n.id AND c.device = r.device
    WHERE c.measured_at >= :stale AND c.metrics->>'power_w' IS NOT NULL AND r.metrics->>'power_w' IS NOT NULL
      AND (c.measured_at <= :due
        OR (c.description, c.healthy, c.problem) <> (r.description, r.healthy, r.problem))
), held AS (
    SELECT session_id, node_id, slot, devices, created_at, released_at FROM allocations
    WHERE released_at IS NULL AND devices IS NOT NULL
    UNION ALL
    SELECT session_id, node_id, slot, devices, created_at, released_at FROM allocations
    WHERE released_at > :stale AND devices IS NOT NULL
), parts AS (
    SELECT h.session_id, h.slot, m.node_id, m.device, m.model, m.watts,
        CAST(h.devices->>m.device AS float) / 1000 AS share,
        CAST(extract(epoch FROM least(h.released_at, CAST(:now AS timestamptz)) - greatest(h.created_at, m.since))
            AS float) AS seconds
    FROM measured m JOIN held h ON h.node_id = m.node_id AND h.devices ? m.device
)
INSERT INTO device_energy AS e (day, session_id, node_id, device, slot, owner_id, project_id, group_id, image,
    domain_id, model, joules, seconds)
SELECT CAST(CAST(:now AS timestamptz) AT TIME ZONE 'UTC' AS date), p.session_id, p.node_id, p.device, p.slot,
    s.owner_id, s.project_id, s.group_id, s.image, s.domain_id, min(p.model), sum(p.watts * p.share * p.seconds),
    sum(p.share * p.seconds)
FROM parts p JOIN sessions s ON s.id = p.session_id
WHERE p.seconds > 0
GROUP BY p.session_id, p.node_id, p.device, p.slot, s.id
ON CONFLICT (day, session_id, node_id, device, slot) DO UPDATE SET
    joules = e.joules + excluded.joules, seconds = e.seconds + excluded.seconds
""")


async def add(tx: AsyncSession, bound: Mapping[str, object]) -> None:
    """Before the measurements are replaced. bound: as of `device_conditions.record`."""
    await tx.execute(_ADD, dict(bound))
