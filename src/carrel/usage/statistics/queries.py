"""Sums over the days of a period, for one scope, by one dimension."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from sqlalchemy import String, cast, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.tables.sessions import Session
from carrel.tables.tenancy import User
from carrel.tables.usage import UsageScope
from carrel.usage.statistics.schemas import StatisticsBy

TOTAL = ""
"""The key of all rows together."""
_SCOPES = {
    UsageScope.SITE: "true",
    UsageScope.DOMAIN: "domain_id = :scope_id",
    UsageScope.PROJECT: "project_id = :scope_id",
    UsageScope.GROUP: "group_id = :scope_id",
    UsageScope.USER: "owner_id = :scope_id",
}
_KEYS = {
    StatisticsBy.DOMAIN: "domain_id",
    StatisticsBy.PROJECT: "project_id",
    StatisticsBy.USER: "owner_id",
    StatisticsBy.GROUP: "group_id",
    StatisticsBy.IMAGE: "image",
}
_FROM = "FROM usage_days WHERE day BETWEEN :first AND :last AND {scope}"

_HELD = """
WITH hourly AS (
    SELECT {key} AS key, slot, day, n, sum(held) AS held
    FROM (SELECT {key}, slot, day, hours {source}) d, unnest(hours) WITH ORDINALITY AS h(held, n)
    WHERE held > 0 GROUP BY 1, 2, 3, 4
), totals AS (
    SELECT slot, day, n, sum(held) AS held FROM hourly GROUP BY 1, 2, 3
)
SELECT key, slot, CAST(NULL AS date) AS day, sum(held), max(held) FROM hourly GROUP BY 1, 2
UNION ALL SELECT '', slot, NULL, sum(held), max(held) FROM totals GROUP BY 2
UNION ALL SELECT '', slot, day, sum(held), max(held) FROM totals GROUP BY 2, 3 ORDER BY 3
"""
_USED = """
SELECT {key} AS key, slot, day, sum(measured), sum(used) {source}
GROUP BY GROUPING SETS (({key}, slot), (slot), (day, slot))
"""
_WASTE = """
SELECT DISTINCT ON (key, slot) key, slot, session, unused FROM (
    SELECT {key} AS key, slot, w.key AS session, sum(w.value::float) AS unused
    FROM (SELECT {key}, slot, wasters {source} AND wasters IS NOT NULL) d, jsonb_each_text(wasters) w
    GROUP BY 1, 2, 3
) sums ORDER BY key, slot, unused DESC, session
"""
_WAITS = """
SELECT {key} AS key, w.key::int, sum(w.value::int)
FROM (SELECT {key}, waits {source} AND waits IS NOT NULL) d, jsonb_each_text(waits) w GROUP BY 1, 2
"""
_ENERGY = """
SELECT {key} AS key, slot, sum(joules), sum(seconds)
FROM device_energy WHERE day BETWEEN :first AND :last AND {scope}
GROUP BY GROUPING SETS (({key}, slot), (slot))
"""


_LABELS = {
    StatisticsBy.DOMAIN: text("SELECT id, name FROM domains WHERE id = ANY(:keys)"),
    StatisticsBy.PROJECT: text(
        "SELECT p.id, d.name || '/' || p.name FROM projects p JOIN domains d ON d.id = p.domain_id"
        " WHERE p.id = ANY(:keys)"
    ),
    StatisticsBy.USER: text("SELECT id, email FROM users WHERE id = ANY(:keys)"),
    StatisticsBy.GROUP: text("SELECT id, name FROM resource_groups WHERE id = ANY(:keys)"),
}


@dataclass
class SlotSums:
    """In slot-seconds; peak: in slots. power_s: device-seconds during which power was measured."""

    held: float = 0
    peak: float = 0
    measured: float = 0
    used: float = 0
    joules: float = 0
    power_s: float = 0
    worst: str | None = None
    unused_of_worst: float = 0


@dataclass
class Sums:
    slots: dict[str, SlotSums] = field(default_factory=dict)
    waits: dict[int, int] = field(default_factory=dict)

    def of(self, slot: str) -> SlotSums:
        return self.slots.setdefault(slot, SlotSums())


@dataclass
class PeriodSums:
    """keys: by key, with the total. days: oldest first."""

    keys: dict[str, Sums] = field(default_factory=dict)
    days: dict[date, Sums] = field(default_factory=dict)

    def of(self, key: str) -> Sums:
        return self.keys.setdefault(key, Sums())


async def load(
    tx: AsyncSession, scope: UsageScope, scope_id: str, by: StatisticsBy, first: date, last: date
) -> PeriodSums:
    """The sums of the period, both days inclusive."""

    async def rows(query: str) -> Sequence[Any]:
        source = _FROM.format(scope=_SCOPES[scope])
        statement = text(query.format(key=_KEYS[by], source=source, scope=_SCOPES[scope]))
        return (await tx.execute(statement, {"first": first, "last": last, "scope_id": scope_id})).all()

    sums = PeriodSums()
    sums.of(TOTAL)
    for key, slot, day, held, peak in await rows(_HELD):
        of = (sums.days.setdefault(day, Sums()) if day else sums.of(key)).of(slot)
        of.held, of.peak = held, peak / 3600
    for key, slot, day, measured, used in await rows(_USED):
        of = (sums.days.setdefault(day, Sums()) if day else sums.of(key or TOTAL)).of(slot)
        of.measured, of.used = measured, used
    for key, slot, joules, power_s in await rows(_ENERGY):
        of = sums.of(key or TOTAL).of(slot)
        of.joules, of.power_s = joules, power_s
    for key, slot, session, unused in await rows(_WASTE):
        for one in (sums.of(key).of(slot), sums.of(TOTAL).of(slot)):
            if unused > one.unused_of_worst:
                one.worst, one.unused_of_worst = session, unused
    for key, bucket, number in await rows(_WAITS):
        sums.of(key).waits[bucket] = number
        total = sums.of(TOTAL).waits
        total[bucket] = total.get(bucket, 0) + number
    return sums


async def labels(tx: AsyncSession, by: StatisticsBy, keys: Sequence[str]) -> Mapping[str, str]:
    """Names by id; those that were deleted for good are absent."""
    if by is StatisticsBy.IMAGE:
        return {key: key for key in keys}
    rows = await tx.execute(_LABELS[by], {"keys": list(keys)})
    return {key: label for key, label in rows}


async def sessions(tx: AsyncSession, ids: Sequence[str]) -> Mapping[str, Any]:
    """id, name and owner of sessions, by id."""
    owner = func.json_build_object("id", User.id, "email", User.email).label("owner")
    rows = await tx.execute(
        select(Session.id, Session.name, owner)
        .join(User, User.id == Session.owner_id)
        .where(cast(Session.id, String).in_(ids))
    )
    return {row.id: row for row in rows}
