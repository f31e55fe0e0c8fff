"""Usage of the containers of a session over a period, from the finest points that are kept of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Invalid
from carrel.core.ids import ContainerId
from carrel.tables.sessions import Container
from carrel.tables.usage import MINUTE_S, Sample, UsageHour, UsageMinutes
from carrel.usage import chunks, packing
from carrel.usage.history import MeasurePoints
from carrel.usage.service import INTERVAL_S, KEPT

HOUR_S = 3600
KEPT_BY_STEP = {INTERVAL_S: KEPT, MINUTE_S: packing.MINUTES_KEPT, HOUR_S: packing.HOURS_KEPT}
NAMES = tuple(column.key for column in packing.COLUMNS)
_FEW, _MOST = 400, 5000
"""Points: about the width of a chart; the maximum."""

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ContainerSeries:
    """measures: those that were measured at all."""

    id: ContainerId
    name: str
    measures: Mapping[str, MeasurePoints]


@dataclass(frozen=True)
class SessionSeries:
    """step_s: length of an interval. times: ends of the intervals, oldest first. containers: the main one first."""

    step_s: int
    times: Sequence[datetime]
    containers: Sequence[ContainerSeries]


@dataclass
class _Points:
    """Points of a container: begin of each in seconds since the epoch, means, and peaks of the measures."""

    at: list[_Floats] = field(default_factory=list)
    means: list[_Floats] = field(default_factory=list)
    peaks: list[_Floats] = field(default_factory=list)

    def add(self, at: Any, means: Any, peaks: Any = None) -> None:
        self.at.append(np.asarray(at, float))
        self.means.append(np.asarray(means, float))
        self.peaks.append(self.means[-1] if peaks is None else np.asarray(peaks, float))


def step_of(start: datetime, end: datetime, now: datetime, step_s: int | None) -> int:
    """The length of an interval: as requested, or for a chart; at least that of the points kept since the start.

    Raises: Invalid for too many intervals.
    """
    span_s = max((end - start).total_seconds(), 1.0)
    chosen = step_s or max(INTERVAL_S, ceil(span_s / _FEW))
    finest = next((kept_s for kept_s, kept in KEPT_BY_STEP.items() if now - start <= kept), HOUR_S)
    # Whole multiples of what is kept, or intervals would hold unequal numbers of points.
    grain = max(finest, max(kept_s for kept_s in KEPT_BY_STEP if kept_s <= max(chosen, INTERVAL_S)))
    chosen = ceil(max(chosen, grain) / grain) * grain
    if span_s / chosen > _MOST:
        raise Invalid(
            "invalid.request",
            f"This period has more than {_MOST} intervals of {chosen} s.",
            hint="Request a longer step or a shorter period.",
            field="step",
        )
    return chosen


async def load(
    tx: AsyncSession, containers: Sequence[Container], start: datetime, end: datetime, step_s: int
) -> SessionSeries:
    """The series of these containers of a session. step_s: from `step_of`."""
    points = {container.id: _Points() for container in containers}
    grain = max(kept_s for kept_s in KEPT_BY_STEP if kept_s <= step_s)
    first = datetime.fromtimestamp(start.timestamp() // step_s * step_s, UTC)
    unpacked = first
    if grain > INTERVAL_S:
        unpacked = max(first, await packing.progress(tx) or first)
        await (_add_minutes if grain == MINUTE_S else _add_hours)(tx, points, first, min(end, unpacked))
    await _add_samples(tx, points, unpacked, end)
    count = max(ceil((end - first).total_seconds() / step_s), 0)
    return SessionSeries(
        step_s,
        [first + timedelta(seconds=step_s * (index + 1)) for index in range(count)],
        [
            ContainerSeries(one.id, one.name, _binned(points[one.id], first.timestamp(), step_s, count))
            for one in containers
        ],
    )


def _of(points: Mapping[ContainerId, _Points], table: Any, start: datetime, end: datetime) -> Any:
    return table.container_id.in_(list(points)) & (table.at >= start) & (table.at < end)


async def _add_samples(
    tx: AsyncSession, points: Mapping[ContainerId, _Points], start: datetime, end: datetime
) -> None:
    query: Select[*tuple[Any, ...]] = select(Sample.container_id, Sample.at, *packing.COLUMNS)
    by_container: dict[ContainerId, tuple[list[float], list[Any]]] = {}
    for container, at, *means in await tx.execute(query.where(_of(points, Sample, start, end))):
        times, rows = by_container.setdefault(container, ([], []))
        times.append(at.timestamp())
        rows.append(means)
    for container, (times, rows) in by_container.items():
        points[container].add(times, rows)


async def _add_minutes(
    tx: AsyncSession, points: Mapping[ContainerId, _Points], start: datetime, end: datetime
) -> None:
    query = select(UsageMinutes.container_id, UsageMinutes.at, UsageMinutes.points)
    hour = start.replace(minute=0, second=0, microsecond=0)
    for container, at, packed in await tx.execute(query.where(_of(points, UsageMinutes, hour, end))):
        table = chunks.unpack(packed)
        means = np.full((len(table), len(NAMES)), np.nan)
        known = min(table.shape[1] - 1, len(NAMES))
        means[:, :known] = np.where(table[:, 1 : known + 1] == chunks.ABSENT, np.nan, table[:, 1 : known + 1])
        points[container].add(at.timestamp() + table[:, 0], means)


async def _add_hours(
    tx: AsyncSession, points: Mapping[ContainerId, _Points], start: datetime, end: datetime
) -> None:
    measures = (getattr(UsageHour, name) for name in NAMES)
    query: Select[*tuple[Any, ...]] = select(
        UsageHour.container_id, UsageHour.at, UsageHour.cpu_peak, UsageHour.mem_peak, *measures
    )
    for container, at, cpu_peak, mem_peak, *means in await tx.execute(
        query.where(_of(points, UsageHour, start, end))
    ):
        # The first two measures are CPU and memory.
        points[container].add([at.timestamp()], [means], [[cpu_peak, mem_peak, *means[2:]]])


def _binned(points: _Points, first: float, step_s: int, count: int) -> dict[str, MeasurePoints]:
    """Means and peaks per interval of the measures that have any."""
    if not points.at:
        return {}
    bins = ((np.concatenate(points.at) - first) // step_s).astype(int)
    means, peaks = np.concatenate(points.means), np.concatenate(points.peaks)
    inside = (bins >= 0) & (bins < count)
    bins, means, peaks = bins[inside], means[inside], peaks[inside]
    series: dict[str, MeasurePoints] = {}
    for index, name in enumerate(NAMES):
        valid = ~np.isnan(means[:, index])
        if not valid.any():
            continue
        at = bins[valid]
        numbers = np.bincount(at, minlength=count)
        sums = np.bincount(at, weights=means[valid, index], minlength=count)
        highest = np.full(count, -np.inf)
        np.maximum.at(highest, at, peaks[valid, index])
        series[name] = MeasurePoints(
            [round(total / number) if number else None for total, number in zip(sums, numbers, strict=True)],
            [round(peak) if number else None for peak, number in zip(highest, numbers, strict=True)],
        )
    return series
