"""Use cases of statistics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import Invalid
from carrel.core.slots import SHARES_SUFFIX, WHOLE
from carrel.http import spreadsheet
from carrel.permissions.decide import Actor
from carrel.site import service as site
from carrel.tables.usage import UsageScope
from carrel.usage import history_scope, packing
from carrel.usage.statistics import queries
from carrel.usage.statistics.queries import TOTAL, SlotSums, Sums
from carrel.usage.statistics.schemas import (
    LONGEST_DAYS,
    DayStatistics,
    SlotStatistics,
    StatisticsBy,
    StatisticsPeriod,
    StatisticsRow,
    StatisticsView,
    WaitStatistics,
    WastefulSession,
)
from carrel.usage.waits import percentile

_HOUR_S = 3600
_KWH_J = 3_600_000
_SESSIONS = "sessions"
_UNITS = {"cpu": (1000, "core"), "mem": (1 << 30, "GiB")}
_COLUMNS = (
    "name",
    "id",
    "slot",
    "unit",
    "slot_hours",
    "peak",
    "utilisation",
    "unused_slot_hours",
    "cost",
    "currency",
    "sessions_placed",
    "wait_p50_s",
    "wait_p90_s",
    "wait_p99_s",
    "most_unused_session",
    "most_unused_owner",
    "most_unused_slot_hours",
    "energy_kwh",
    "power_measured_hours",
)


async def show(
    tx: AsyncSession, clock: Clock, actor: Actor, query: StatisticsPeriod, *, limit: int | None = None
) -> StatisticsView:
    """Statistics of a scope that the actor may read. limit: of the rows; None: all.

    Raises: NotFound, Forbidden, Invalid.
    """
    if query.scope is UsageScope.NODE:
        raise Invalid("invalid.request", "There are no statistics of nodes.", field="scope")
    scope_id = await history_scope.find(tx, actor, query.scope, query.ref)
    first, last = _period(query, clock.now().astimezone(UTC).date())
    sums = await queries.load(tx, query.scope, scope_id, query.by, first, last)
    settings = await site.settings(tx)
    chosen = [key for key in sums.keys if key != TOTAL]
    worst = {of.worst for one in sums.keys.values() for of in one.slots.values() if of.worst}
    names = _Names(
        settings.slot_prices,
        await queries.labels(tx, query.by, chosen),
        await queries.sessions(tx, sorted(worst)),
    )
    items = [_row(key, sums.keys[key], names) for key in chosen]
    items.sort(key=lambda row: (-(row.cost or 0), -row.session_hours, row.label))
    return StatisticsView.model_validate(
        {
            "scope": query.scope,
            "name": await _name(tx, query.scope, scope_id),
            "by": query.by,
            "first": first,
            "last": last,
            "until": await packing.progress(tx),
            "currency": settings.currency if settings.slot_prices else "",
            "prices": settings.slot_prices,
            "total": _row(TOTAL, sums.keys[TOTAL], names),
            "items": items[:limit],
            "omitted": len(items) - len(items[:limit]),
            "days": [_day(day, of) for day, of in sorted(sums.days.items())],
        }
    )


def as_csv(view: StatisticsView) -> str:
    """A row per slot, in cores, GiB and devices; the total comes last, without a name."""
    rows = [
        (
            row.label,
            row.id,
            slot,
            _unit(slot)[1],
            of.held / _unit(slot)[0],
            of.peak / _unit(slot)[0],
            of.utilisation,
            of.unused / _unit(slot)[0],
            of.cost,
            view.currency,
            row.waits.sessions,
            row.waits.p50_s,
            row.waits.p90_s,
            row.waits.p99_s,
            of.worst.name if of.worst else None,
            of.worst.owner.email if of.worst else None,
            of.worst.unused / _unit(slot)[0] if of.worst else None,
            of.energy_kwh,
            of.power_hours if of.energy_kwh is not None else None,
        )
        for row in [*view.items, view.total]
        for slot, of in sorted(row.slots.items())
    ]
    return spreadsheet.table(
        _COLUMNS, [[round(cell, 4) if isinstance(cell, float) else cell for cell in row] for row in rows]
    )


async def _name(tx: AsyncSession, scope: UsageScope, scope_id: str) -> str:
    if scope is UsageScope.SITE:
        return ""
    return (await queries.labels(tx, StatisticsBy(scope.value), [scope_id]))[scope_id]


@dataclass(frozen=True)
class _Names:
    """What rows are called and cost. sessions: by id, as `queries.sessions`."""

    prices: Mapping[str, float]
    labels: Mapping[str, str]
    sessions: Mapping[str, Any]


def _period(query: StatisticsPeriod, today: date) -> tuple[date, date]:
    last = query.to or max(today, query.from_ or today)
    first = query.from_ or last.replace(day=1)
    if not timedelta() <= last - first < timedelta(days=LONGEST_DAYS):
        raise Invalid(
            "invalid.request", f"The period has at most {LONGEST_DAYS} days and ends today.", field="from"
        )
    return first, last


def _row(key: str, sums: Sums, names: _Names) -> StatisticsRow:
    slots = {slot: _slot(slot, of, names) for slot, of in sums.slots.items() if slot != _SESSIONS}
    sessions = sums.slots.get(_SESSIONS, SlotSums())
    costs = [of.cost for of in slots.values() if of.cost is not None]
    energies = [of.energy_kwh for of in slots.values() if of.energy_kwh is not None]
    return StatisticsRow(
        id=key,
        label=names.labels.get(key, key),
        session_hours=sessions.held / _HOUR_S,
        session_peak=sessions.peak,
        slots=slots,
        waits=WaitStatistics(
            sessions=sum(sums.waits.values()),
            p50_s=percentile(sums.waits, 0.5),
            p90_s=percentile(sums.waits, 0.9),
            p99_s=percentile(sums.waits, 0.99),
        ),
        cost=sum(costs) if names.prices else None,
        energy_kwh=sum(energies) if energies else None,
    )


def _slot(slot: str, sums: SlotSums, names: _Names) -> SlotStatistics:
    price = names.prices.get(slot)
    worst = names.sessions.get(sums.worst) if sums.worst else None
    return SlotStatistics(
        held=sums.held / _HOUR_S,
        peak=sums.peak,
        measured=sums.measured / _HOUR_S,
        used=sums.used / _HOUR_S,
        unused=(sums.measured - sums.used) / _HOUR_S,
        utilisation=sums.used / sums.measured if sums.measured else None,
        cost=None if price is None else price * sums.held / _HOUR_S / _unit(slot)[0],
        energy_kwh=sums.joules / _KWH_J if sums.power_s else None,
        power_hours=sums.power_s / _HOUR_S,
        worst=WastefulSession(
            id=worst.id, name=worst.name, owner=worst.owner, unused=sums.unused_of_worst / _HOUR_S
        )
        if worst
        else None,
    )


def _day(day: date, sums: Sums) -> DayStatistics:
    slots: Sequence[tuple[str, SlotSums]] = [
        (slot, of) for slot, of in sums.slots.items() if slot != _SESSIONS
    ]
    return DayStatistics(
        day=day,
        held={slot: of.held / _HOUR_S for slot, of in slots},
        used={slot: of.used / _HOUR_S for slot, of in slots},
    )


def _unit(slot: str) -> tuple[int, str]:
    """Base units per unit of prices and files, and its name."""
    if slot in _UNITS:
        return _UNITS[slot]
    return (WHOLE if slot.endswith(SHARES_SUFFIX) else 1), "device"
