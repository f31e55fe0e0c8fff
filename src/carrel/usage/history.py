"""Allocation, usage and waiting times over 30 days, in steps that grow with the age.

Measures: SLOT.allocated and SLOT.capacity for every slot, SLOT.used of sessions, of an accelerator by its utilisation;
SLOT.percent of accelerators, and accelerator.used for all kinds of them (means of containers, as a mean over those
that have some), sessions.live, sessions.pending, and wait_s: the median wait of the sessions that were placed in
the interval. Of nodes also host.NAME: the load of the whole machine, see `nodes.host_load`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from sqlalchemy import Float, cast, delete, exists, func, or_, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from carrel.core.ids import EngineId
from carrel.core.units import LEAST
from carrel.nodes import host_load, ledger
from carrel.nodes.host_load import HostLoad, Machine
from carrel.tables.nodes import IS_KNOWN, Allocation, Node, is_offered
from carrel.tables.session_states import SessionState
from carrel.tables.sessions import IS_LIVE, Container, Session
from carrel.tables.usage import MINUTE_S, Sample, UsagePoint, UsageScope

STEPS = {MINUTE_S: timedelta(days=1), 900: timedelta(days=7), 3600: timedelta(days=30)}
"""Retention of points by their step in seconds."""
CAPACITY, WAIT, ACCELERATOR, PERCENT = ".capacity", "wait_s", "accelerator.used", ".percent"

NONE_MEASURED: Mapping[Machine, HostLoad] = {}

Key = tuple[UsageScope, str]
_SITE: Key = (UsageScope.SITE, "")

# A scope without a point had no sessions: its amounts are means over all points of the site.
_ROLL_UP = text("""
WITH span AS (
    SELECT coalesce(max(at), '-infinity') AS since FROM usage_history WHERE scope = 'site' AND step_s = :coarse
), fine AS (
    SELECT h.scope, h.scope_id, h.measures,
        date_bin(make_interval(secs => :coarse), h.at - interval '1 microsecond', 'epoch')
            + make_interval(secs => :coarse) AS bin
    FROM usage_history h, span WHERE h.step_s = :fine AND h.at > span.since AND h.at <= :until
), points AS (
    SELECT bin, count(*) AS n FROM fine WHERE scope = 'site' GROUP BY bin
), means AS (
    SELECT f.scope, f.scope_id, f.bin, m.key,
        CASE WHEN m.key IN ('wait_s', 'accelerator.used') OR starts_with(m.key, 'host.')
                OR m.key LIKE '%.percent'
             THEN avg(CAST(m.value->>0 AS float))
             ELSE sum(CAST(m.value->>0 AS float)) / greatest(min(p.n), count(*)) END AS mean,
        max(CAST(m.value->>1 AS float)) AS peak
    FROM fine f JOIN points p USING (bin), jsonb_each(f.measures) m
    GROUP BY f.scope, f.scope_id, f.bin, m.key
)
INSERT INTO usage_history (scope, scope_id, step_s, at, measures)
SELECT scope, scope_id, :coarse, bin, jsonb_object_agg(key, jsonb_build_array(mean, peak))
FROM means GROUP BY scope, scope_id, bin
ON CONFLICT DO NOTHING
""")


async def record(tx: AsyncSession, now: datetime, loads: Mapping[Machine, HostLoad] = NONE_MEASURED) -> None:
    """Store the last minute, and the longer intervals that ended. Twice in a minute: no-op."""
    at = now.replace(second=0, microsecond=0)
    sums: dict[Key, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    sums[_SITE] = defaultdict(float, {"sessions.live": 0, "sessions.pending": 0})
    await _add_nodes(tx, sums, loads)
    await _add_allocations(tx, sums)
    await _add_sessions(tx, sums, now)
    await _add_usage(tx, sums, now)
    await _add_waits(tx, sums, now)
    rows = [
        {
            "scope": scope,
            "scope_id": scope_id,
            "step_s": MINUTE_S,
            "at": at,
            "measures": {name: [value, value] for name, value in measures.items()},
        }
        for (scope, scope_id), measures in sums.items()
    ]
    await tx.execute(insert(UsagePoint).on_conflict_do_nothing(), rows)
    fine = MINUTE_S
    for coarse in sorted(STEPS)[1:]:
        until = datetime.fromtimestamp(now.timestamp() // coarse * coarse, now.tzinfo)
        await tx.execute(_ROLL_UP, {"fine": fine, "coarse": coarse, "until": until})
        fine = coarse


async def prune(tx: AsyncSession, now: datetime) -> None:
    """Delete points past their retention."""
    for step_s, kept in STEPS.items():
        old = (UsagePoint.step_s == step_s) & (UsagePoint.at < now - kept)
        await tx.execute(delete(UsagePoint).where(old))


def _keys(*, node: str | None, group: str, project: str, domain: str, owner: str) -> list[Key]:
    """The scopes that a session on the node counts in."""
    keys: list[Key] = [
        _SITE,
        (UsageScope.GROUP, group),
        (UsageScope.PROJECT, project),
        (UsageScope.DOMAIN, domain),
        (UsageScope.USER, owner),
    ]
    return [*keys, (UsageScope.NODE, node)] if node else keys


_Sums = dict[Key, dict[str, float]]
_OF_SESSION = (Session.group_id, Session.project_id, Session.domain_id, Session.owner_id)


async def _add_nodes(tx: AsyncSession, sums: _Sums, loads: Mapping[Machine, HostLoad]) -> None:
    rows = await tx.execute(select(Node, is_offered()).where(IS_KNOWN))
    for node, offered in rows:
        keys: list[Key] = [(UsageScope.NODE, node.id)]
        if offered:
            keys += [_SITE, (UsageScope.GROUP, node.group_id)]
        for slot, amount in ledger.offered(node).items():
            for key in keys:
                sums[key][slot + CAPACITY] += amount
        if (load := loads.get((EngineId(node.engine_id or ""), node.name))) is not None:
            sums[UsageScope.NODE, node.id].update(host_load.measures(load))


async def _add_allocations(tx: AsyncSession, sums: _Sums) -> None:
    rows = await tx.execute(
        select(Container.node_id, *_OF_SESSION, Allocation.slot, func.sum(Allocation.amount))
        .join(Session, Session.id == Allocation.session_id)
        .join(Container, Container.id == Allocation.container_id)
        .where(Allocation.released_at.is_(None))
        .group_by(Container.node_id, *_OF_SESSION, Allocation.slot)
    )
    for node, group, project, domain, owner, slot, amount in rows:
        for key in _keys(node=node, group=group, project=project, domain=domain, owner=owner):
            sums[key][f"{slot}.allocated"] += float(amount)


async def _add_sessions(tx: AsyncSession, sums: _Sums, now: datetime) -> None:
    due = or_(Session.not_before.is_(None), Session.not_before <= now)
    rows = await tx.execute(
        select(*_OF_SESSION, Session.state, func.count())
        .where(IS_LIVE, or_(Session.state != SessionState.PENDING, due))
        .group_by(*_OF_SESSION, Session.state)
    )
    for group, project, domain, owner, state, count in rows:
        for key in _keys(node=None, group=group, project=project, domain=domain, owner=owner):
            sums[key]["sessions.pending" if state == SessionState.PENDING else "sessions.live"] += count


async def _add_usage(tx: AsyncSession, sums: _Sums, now: datetime) -> None:
    used = (
        select(
            Sample.container_id,
            cast(func.avg(Sample.cpu_millis), Float).label("cpu"),
            cast(func.avg(Sample.mem_bytes), Float).label("mem"),
            cast(func.avg(Sample.accelerator_percent), Float).label("accelerator"),
        )
        .where(Sample.at > now - timedelta(seconds=MINUTE_S))
        .group_by(Sample.container_id)
        .subquery()
    )
    rows = await tx.execute(
        select(Container.node_id, *_OF_SESSION, Container.slots, used.c.cpu, used.c.mem, used.c.accelerator)
        .join(used, used.c.container_id == Container.id)
        .join(Session, Session.id == Container.session_id)
    )
    percents: dict[tuple[Key, str], list[float]] = defaultdict(list)
    for node, group, project, domain, owner, slots, cpu, mem, accelerator in rows:
        accelerators = {slot: amount for slot, amount in slots.items() if slot not in LEAST and amount}
        for key in _keys(node=node, group=group, project=project, domain=domain, owner=owner):
            sums[key]["cpu.used"] += cpu
            sums[key]["mem.used"] += mem
            if accelerator is not None:
                percents[key, ACCELERATOR].append(accelerator)
                for slot, amount in accelerators.items():
                    sums[key][f"{slot}.used"] += amount * accelerator / 100
                    percents[key, slot + PERCENT].append(accelerator)
    for (key, measure), values in percents.items():
        sums[key][measure] = sum(values) / len(values)


_EARLIER = aliased(Allocation)
_RESIZED = exists().where(
    _EARLIER.container_id == Allocation.container_id, _EARLIER.released_at == Allocation.created_at
)
"""An allocation that replaces one of the same container, which did not wait for it."""


async def _add_waits(tx: AsyncSession, sums: _Sums, now: datetime) -> None:
    """Restarted sessions do not count: they were not waiting since their creation."""
    since = now - timedelta(seconds=MINUTE_S)
    placed = func.min(Allocation.created_at)
    rows = await tx.execute(
        select(*_OF_SESSION, Session.created_at, Session.not_before, placed)
        .join(Session, Session.id == Allocation.session_id)
        .where(
            Allocation.created_at > since,
            or_(Allocation.released_at.is_(None), Allocation.released_at > since),
            Session.restarts == 0,
            ~_RESIZED,
        )
        .group_by(Session.id)
    )
    waits: dict[Key, list[float]] = defaultdict(list)
    for group, project, domain, owner, created, not_before, at in rows:
        wait = (at - max(created, not_before or created)).total_seconds()
        for key in _keys(node=None, group=group, project=project, domain=domain, owner=owner):
            waits[key].append(max(wait, 0.0))
    for key, values in waits.items():
        sums[key][WAIT] = median(values)


@dataclass(frozen=True)
class MeasurePoints:
    """One per moment; None: nothing was measured."""

    mean: list[float | None]
    peak: list[float | None]


@dataclass(frozen=True)
class History:
    """step_s: length of an interval. times: ends of the intervals, oldest first."""

    step_s: int
    times: list[datetime]
    measures: Mapping[str, MeasurePoints]


async def load(tx: AsyncSession, scope: UsageScope, scope_id: str, step_s: int, since: datetime) -> History:
    """The points of a scope; intervals in which the site was not measured are absent."""
    times = await _times(tx, step_s, since)
    rows = await tx.execute(
        select(UsagePoint.at, UsagePoint.measures).where(
            UsagePoint.scope == scope,
            UsagePoint.scope_id == scope_id,
            UsagePoint.step_s == step_s,
            UsagePoint.at > since,
        )
    )
    points = {at: measures for at, measures in rows}
    names = sorted({name for measures in points.values() for name in measures})
    return History(step_s, list(times), {name: _series(name, times, points) for name in names})


async def _times(tx: AsyncSession, step_s: int, since: datetime) -> Sequence[datetime]:
    site = (UsagePoint.scope == UsageScope.SITE) & (UsagePoint.scope_id == "")
    rows = await tx.execute(
        select(UsagePoint.at)
        .where(site, UsagePoint.step_s == step_s, UsagePoint.at > since)
        .order_by(UsagePoint.at)
    )
    return rows.scalars().all()


def _series(
    name: str, times: Sequence[datetime], points: Mapping[datetime, Mapping[str, list[float]]]
) -> MeasurePoints:
    """Amounts that are absent were zero; a capacity, a percentage, a wait or a machine's load was not
    measured.
    """
    measured = (
        name.endswith((CAPACITY, PERCENT))
        or name in (WAIT, ACCELERATOR)
        or name.startswith(host_load.MEASURE)
    )
    absent: list[float | None] = [None, None] if measured else [0.0, 0.0]
    pairs: list[list[float | None]] = [[*points.get(at, {}).get(name, absent)] for at in times]
    return MeasurePoints([mean for mean, _ in pairs], [peak for _, peak in pairs])
