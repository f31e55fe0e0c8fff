"""Thin out usage with age: samples of a day, minutes of a month, hours and days of years.

An hour is packed once, soon after its end, from its samples; the day that it belongs to is computed anew.
"""

from collections import defaultdict
from datetime import UTC, datetime, timedelta

import numpy as np
from sqlalchemy import delete, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import ContainerId
from carrel.tables.nodes import Allocation
from carrel.tables.usage import DeviceEnergy, Sample, UsageDay, UsageHour, UsageMinutes, UsageProgress
from carrel.usage import chunks, days
from carrel.usage.service import INTERVAL_S, KEPT

MINUTES_KEPT = timedelta(days=31)
HOURS_KEPT = timedelta(days=3 * 366)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_LATE = timedelta(minutes=1)
"""When the last sweep of an hour is certainly stored."""
_BACK = timedelta(days=366)
"""How far back days are computed for the sessions before an upgrade."""

COLUMNS = (
    Sample.cpu_millis,
    Sample.mem_bytes,
    Sample.accelerator_percent,
    Sample.accelerator_mem_percent,
    Sample.read_rate,
    Sample.write_rate,
    Sample.rx_rate,
    Sample.tx_rate,
    Sample.disk_bytes,
)
"""Columns of packed points, after the seconds since the beginning of the hour. Only ever extended at the end."""

# Numbers of samples count whole seconds: a sample stands for the interval before it.
_HOURS = text(f"""
    INSERT INTO usage_hours (container_id, at, seconds, cpu_peak, mem_peak, {", ".join(c.key for c in COLUMNS)})
    SELECT container_id, :start, least(count(*) * :interval_s, 3600), max(cpu_millis), max(mem_bytes),
        {", ".join(f"avg({c.key})" for c in COLUMNS)}
    FROM usage_samples WHERE at >= :start AND at < :end GROUP BY container_id
    ON CONFLICT DO NOTHING
""")  # noqa: S608 - names of columns


async def advance(tx: AsyncSession, now: datetime) -> bool:
    """Pack the next hour that has ended. False: there is none. Twice: the next one."""
    start = await progress(tx) or await _beginning(tx, now)
    oldest_sample = (now - KEPT).replace(minute=0, second=0, microsecond=0)
    # Without samples, whole days are enough.
    whole_day = start.hour == 0 and start + _DAY <= oldest_sample
    end = start + (_DAY if whole_day else _HOUR)
    if end + _LATE > now:
        return False
    if not whole_day:
        await _pack_hour(tx, start)
    await days.compute(tx, start.date(), end)
    await tx.execute(
        insert(UsageProgress)
        .values(id=1, until=end)
        .on_conflict_do_update(index_elements=[UsageProgress.id], set_={"until": end})
    )
    return True


async def progress(tx: AsyncSession) -> datetime | None:
    """The end of the last packed hour; None: none is."""
    until = (await tx.execute(select(UsageProgress.until))).scalar()
    return until.astimezone(UTC) if until else None


async def prune(tx: AsyncSession, now: datetime) -> None:
    """Delete minutes and hours past their retention."""
    await tx.execute(delete(UsageMinutes).where(UsageMinutes.at < now - MINUTES_KEPT))
    await tx.execute(delete(UsageHour).where(UsageHour.at < now - HOURS_KEPT))


async def prune_days(tx: AsyncSession, now: datetime, *, kept: int) -> None:
    """Delete the statistics of days before the last so many. kept: 0: none is deleted."""
    if kept:
        first = (now.astimezone(UTC) - timedelta(days=kept)).date()
        for table in (UsageDay, DeviceEnergy):
            await tx.execute(delete(table).where(table.day < first))


async def _beginning(tx: AsyncSession, now: datetime) -> datetime:
    """Midnight before the first allocation, or the last one."""
    first = (await tx.execute(select(func.min(Allocation.created_at)))).scalar() or now
    return max(first, now - _BACK).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


async def _pack_hour(tx: AsyncSession, start: datetime) -> None:
    minute = func.date_trunc("minute", Sample.at)
    rows = await tx.execute(
        select(
            Sample.container_id,
            func.extract("epoch", minute - start),
            *(func.round(func.coalesce(func.avg(column), chunks.ABSENT)) for column in COLUMNS),
        )
        .where(Sample.at >= start, Sample.at < start + _HOUR)
        .group_by(Sample.container_id, minute)
        .order_by(minute)
    )
    points: dict[ContainerId, list[tuple[int, ...]]] = defaultdict(list)
    for container, *point in rows:
        points[container].append(tuple(map(int, point)))
    if not points:
        return
    packed = [
        {"container_id": container, "at": start, "points": chunks.pack(np.array(of_container))}
        for container, of_container in points.items()
    ]
    await tx.execute(insert(UsageMinutes).on_conflict_do_nothing(), packed)
    await tx.execute(_HOURS, {"start": start, "end": start + _HOUR, "interval_s": INTERVAL_S})
