"""Load the snapshot for a plan. A fixed number of queries, however long the queues are."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.cuda import driver_of
from carrel.core.host_names import architecture
from carrel.core.ids import GroupId, SessionId
from carrel.engines.port import ROOT_INSIDE
from carrel.engines.references import canonical
from carrel.environments import session_images as environments
from carrel.limits.scopes import ceilings, scopes_of
from carrel.nodes import ledger
from carrel.nodes.device_snapshots import device_snapshot
from carrel.nodes.groups import service as groups
from carrel.queue import cuda_requirements
from carrel.scheduling.array_limits import REASON, ArrayLimit, set_aside
from carrel.scheduling.node_domains import domains
from carrel.scheduling.snapshot import (
    SESSIONS,
    ContainerPlacement,
    GroupChoice,
    GroupSnapshot,
    NodeSnapshot,
    PendingSession,
    QueueOrder,
    RunningSession,
    ScopeSnapshot,
    ShareSnapshot,
    Slots,
    Snapshot,
    Strategy,
    Without,
)
from carrel.sessions import allowed_rights, dependencies, mounting, topology
from carrel.sessions.dependencies import Dependency
from carrel.tables.groups import FairShareWeight, LeastTier, ScopeKind
from carrel.tables.nodes import Allocation, Node
from carrel.tables.session_states import LIFECYCLE, Rights, SessionState
from carrel.tables.sessions import Container, Session

PAST_HALF_LIVES = 10
"""Usage older than this many half-lives counts less than a thousandth and is ignored."""


@dataclass(frozen=True)
class HeldSlots:
    """Sum of what one owner holds in one project and group with one keypair."""

    access_key: str | None
    path: tuple[str, str, str]
    group: GroupId
    slots: Slots


async def snapshot(
    tx: AsyncSession, now: datetime, waiting: Sequence[PendingSession], *, running: bool = False
) -> Snapshot:
    """The pending sessions and everything that a plan depends on. running: include running sessions, which excludes
    those that were placed since `waiting` was read.
    """
    holders = await _running(tx, now) if running else ()
    placed = {one.id for one in holders}
    waiting = [one for one in waiting if one.id not in placed]
    images = sorted({one.image for one in waiting if one.image})
    drivers = any(one.cuda for one in waiting)
    machines = (await tx.execute(_NODES, {"images": images, "drivers": drivers})).all()
    holdings = await holdings_of(tx)
    groups = (await tx.execute(_GROUPS)).all()
    return Snapshot(
        nodes=tuple([_node(one) for one in machines]),
        waiting=tuple(waiting),
        now=now,
        groups=tuple([await _group(tx, one, holdings, now, waiting) for one in groups]),
        scopes=await scope_views(
            tx, {one.scopes: one.path for one in waiting}, holdings, _names(waiting, machines)
        ),
        running=holders,
    )


# The last condition repeats the first, so that forgotten nodes, of which there may be many, are not even read.
# Plain rows of prebuilt statements: otherwise building statements and objects would dominate the time from request to
# placement.
_NODES = text(f"""
    SELECT n.id, n.name, n.slots, n.reserved, n.cpu_overcommit, n.devices, n.group_id, n.state, n.cordoned, n.closed,
        n.architecture, n.capabilities, n.engine_id, g.required_capabilities, g.runtime, n.elastic, g.topology,
        n.sharing, g.min_share_tier,
        CASE WHEN g.topology <> '{{}}' OR :drivers THEN n.labels || n.own_labels END AS labels,
        shared.group_id IS NOT NULL AS shared, coalesce(held.slots, '{{}}') AS held,
        coalesce(used.devices, '{{}}') AS on_devices, present.images
    FROM nodes n JOIN resource_groups g ON g.id = n.group_id
    LEFT JOIN (
        SELECT node_id, jsonb_object_agg(slot, amount) AS slots FROM (
            SELECT node_id, slot, sum(amount) AS amount FROM ({ledger.HELD}) AS entries GROUP BY 1, 2
        ) AS by_slot GROUP BY 1
    ) AS held ON held.node_id = n.id
    LEFT JOIN (
        SELECT node_id, jsonb_object_agg(device, amount) AS devices FROM (
            SELECT node_id, device, sum(amount) AS amount FROM (
                SELECT a.node_id, d.key AS device, CAST(d.value AS bigint) AS amount
                FROM allocations a, jsonb_each_text(a.devices) d
                WHERE a.released_at IS NULL AND a.devices IS NOT NULL
                UNION ALL {ledger.OF_CHECKS}
            ) AS entries GROUP BY 1, 2
        ) AS by_device GROUP BY 1
    ) AS used ON used.node_id = n.id
    LEFT JOIN (
        SELECT i.node_id, array_agg(name) AS images FROM node_images i, unnest(i.names) AS name
        WHERE i.names && CAST(:images AS varchar[]) AND name = ANY(:images) GROUP BY 1
    ) AS present ON present.node_id = n.id
    LEFT JOIN (
        SELECT DISTINCT group_id FROM nodes WHERE elastic AND forgotten_at IS NULL
    ) AS shared ON shared.group_id = n.group_id AND NOT n.elastic
    WHERE (held.slots IS NOT NULL OR n.forgotten_at IS NULL AND shared.group_id IS NULL) AND n.id IN (
        SELECT id FROM nodes WHERE forgotten_at IS NULL
        UNION SELECT node_id FROM allocations WHERE released_at IS NULL
    )
    ORDER BY n.name
""")  # noqa: S608 - no input in it

_GROUPS = text("""
    SELECT id, name, scheduler, placement, slot_priority, patience_s, half_life_s, topology
    FROM resource_groups WHERE active
""")

_PLACED = ", ".join(f"'{state}'" for state in sorted(LIFECYCLE.live - {SessionState.PENDING}))

_PLACED_OF_ARRAYS = f"""
    SELECT m.array_id, count(*) AS placed FROM sessions m
    WHERE m.state IN ({_PLACED}) AND m.array_id IS NOT NULL AND EXISTS (
        SELECT FROM containers c WHERE c.session_id = m.id AND c.state NOT IN ('EXITED', 'GONE'))
    GROUP BY 1"""  # noqa: S608 - no input in it

_MAY_START = text(f"""
    SELECT EXISTS (
        SELECT FROM sessions s LEFT JOIN session_arrays r ON r.id = s.array_id
            LEFT JOIN ({_PLACED_OF_ARRAYS}) AS p ON p.array_id = s.array_id
        WHERE s.state = 'PENDING' AND (
            s.reason IS NULL OR r.max_parallel IS NULL OR coalesce(p.placed, 0) < r.max_parallel))
""")  # noqa: S608 - no input in it

# shut_out: the owner has lost access to the group, which can happen while the session is pending. The plan handles
# inactive groups. choices: of those that accept several groups, for each, which is g inside. some_wait_for_others,
# some_images_elsewhere: constants that mostly save a statement.
_SHUT_OUT_OF_GROUP = f"g.active AND NOT (s.kind = ANY(g.session_kinds) AND {groups.as_text()})"
_WAITING = f"""
    SELECT s.id, s.slots, s.created_at, s.group_id, s.domain_id, s.project_id, s.owner_id, s.access_key, s.priority,
        made.image, s.wanted_node, s.avoided_nodes, s.time_limit_s - s.limit_used_s AS left_s, s.rights, s.reason,
        CASE WHEN s.not_before > :now THEN s.not_before END AS not_before,
        (SELECT i.architecture FROM images i LEFT JOIN registries o ON o.id = i.registry_id
            WHERE i.reference = s.image AND coalesce(o.project_id = s.project_id, o.domain_id = s.domain_id, true)
            LIMIT 1) AS architecture,
        made.containers, s.placement, s.topology,
        CASE WHEN s.mixed THEN
            (SELECT json_agg(c.slots ORDER BY c.index) FROM containers c WHERE c.session_id = s.id)
        END AS mixed,
        CASE WHEN made.containers > 1 THEN
            (SELECT json_agg(c.image ORDER BY c.index) FROM containers c WHERE c.session_id = s.id)
        END AS images,
        {_SHUT_OUT_OF_GROUP} AS shut_out,
        CASE WHEN s.accepted_groups <> '{{{{}}}}' THEN (
            SELECT json_agg(json_build_array(g.id, {_SHUT_OUT_OF_GROUP}, {allowed_rights.forbidden_as_text()})
                ORDER BY o.rank)
            FROM unnest(s.accepted_groups) WITH ORDINALITY AS o(id, rank)
                JOIN resource_groups g ON g.id = o.id)
        END AS choices,
        EXISTS (SELECT FROM session_dependencies a JOIN sessions w ON w.id = a.session_id AND w.state = 'PENDING')
            AS some_wait_for_others,
        EXISTS (SELECT FROM environment_versions v JOIN engines e ON e.id <> v.engine_id) AS some_images_elsewhere,
        {allowed_rights.forbidden_as_text()} AS root_forbidden,
        s.array_id, r.max_parallel, coalesce(p.placed, 0) AS placed, {{behind}} AS behind
    FROM sessions s JOIN resource_groups g ON g.id = s.group_id JOIN domains d ON d.id = s.domain_id
        CROSS JOIN LATERAL (SELECT count(*) AS containers,
                coalesce(min(image) FILTER (WHERE index = 0), s.image) AS image
            FROM containers WHERE session_id = s.id) AS made
        LEFT JOIN session_arrays r ON r.id = s.array_id
        LEFT JOIN ({_PLACED_OF_ARRAYS}) AS p ON p.array_id = s.array_id
        {{queues}}
    WHERE s.state = 'PENDING' {{which}}
"""  # noqa: S608 - no input in it
_ALL = text(_WAITING.format(behind="0", queues="", which=""))

# By array: those known to wait for others of it. turn: 1 may start next; the first one that cannot is kept.
_IN_ARRAY_QUEUES = f"""
    SELECT s.id, row_number() OVER w - greatest(r.max_parallel - coalesce(p.placed, 0), 0) AS turn,
        count(*) OVER (PARTITION BY s.array_id, s.priority) - row_number() OVER w AS behind
    FROM sessions s JOIN session_arrays r ON r.id = s.array_id LEFT JOIN ({_PLACED_OF_ARRAYS}) AS p ON p.array_id = r.id
    WHERE s.state = 'PENDING' AND s.reason = format(:in_array_queue, r.max_parallel)
        AND coalesce(s.not_before <= :now, true)
    WINDOW w AS (PARTITION BY s.array_id, s.priority ORDER BY s.created_at, s.id)"""  # noqa: S608 - no input in it
_STARTABLE = text(
    f"WITH queued AS MATERIALIZED ({_IN_ARRAY_QUEUES})"
    + _WAITING.format(
        behind="CASE WHEN q.turn = 1 THEN q.behind ELSE 0 END",
        queues="LEFT JOIN queued q ON q.id = s.id",
        which="AND coalesce(q.turn, 0) <= 1",
    )
)

_HOLDERS = select(
    Session.id,
    Session.slots,
    Session.mixed,
    Session.group_id,
    Session.domain_id,
    Session.project_id,
    Session.owner_id,
    Session.access_key,
    (Session.time_limit_s - Session.limit_used_s).label("left_s"),
    Session.started_at,
    Session.state,
    Session.outcome,
    Session.array_id,
)


_AGAIN = "It is waiting for the next start attempt."
_FILLED = "filled by its cluster"
_SHUT_OUT = "Its owner may no longer start sessions in its resource group."


async def waiting(tx: AsyncSession, now: datetime) -> list[PendingSession]:
    """The pending sessions. Set aside are those that back off after a failed start, are to start after others, lack
    storage they need, have lost access to the group or root inside, or wait for others of their array.
    """
    return await _requests(tx, (await tx.execute(_ALL, {"now": now})).all())


async def startable(tx: AsyncSession, now: datetime) -> list[PendingSession]:
    """As `waiting`, without those that wait for others of their array and have more before them than may start: the
    first of them stands for those behind it. So the length of an array does not matter.
    """
    bound = {"now": now, "in_array_queue": REASON.format("%s")}
    return await _requests(tx, (await tx.execute(_STARTABLE, bound)).all())


async def _requests(tx: AsyncSession, rows: Sequence[Any]) -> list[PendingSession]:
    if not rows:
        return []
    missing = await mounting.missing_storage(tx)
    without_image = await environments.without_of_pending(tx) if rows[0].some_images_elsewhere else {}
    after = await dependencies.of_pending(tx) if rows[0].some_wait_for_others else {}
    required = await cuda_requirements.of_pending(tx, rows)
    requests = [
        _request(
            row,
            ("" if row.choices else _not_allowed(row.shut_out, row.root_forbidden))
            or missing.away.get(row.id, ""),
            after.get(row.id, ()),
            (*missing.without.get(row.id, ()), *without_image.get(row.id, ())),
            required.get(row.id, ""),
        )
        for row in rows
    ]
    limits = {
        row.array_id: ArrayLimit(row.max_parallel, row.placed) for row in rows if row.max_parallel is not None
    }
    return set_aside(requests, limits) if limits else requests


def _not_allowed(shut_out: bool | None, root_forbidden: str | None) -> str:
    """Why a session may not start in a group any more, though it could be requested."""
    if shut_out:
        return _SHUT_OUT
    return allowed_rights.NO_LONGER_ALLOWED[root_forbidden] if root_forbidden else ""


async def may_start(tx: AsyncSession) -> bool:
    """False if every pending session has its reason and is of an array with as many running as it allows."""
    return bool((await tx.execute(_MAY_START)).scalar_one())


def _request(
    row: Any, kept_back: str, after: Sequence[Dependency], without: Without, required: str
) -> PendingSession:
    path = (row.domain_id, row.project_id, row.owner_id)
    # Nobody knows when storage is back; a condition that cannot be met stays so.
    for_ever = kept_back or dependencies.cannot_be_met(after)
    where = topology.where(row.containers, row.placement, row.topology)
    return PendingSession(
        id=row.id,
        slots=row.slots,
        # A session that waited for others does not go before those that could have started meanwhile.
        since=max([row.created_at, *(one.ended_at for one in after if one.ended_at)]),
        group=row.group_id,
        path=path,
        scopes=scopes_of(row.access_key, path),
        priority=row.priority,
        count=row.containers,
        mode=where.mode,
        within=where.within,
        mixed=tuple(row.mixed or ()),
        node=row.wanted_node,
        avoid=frozenset(row.avoided_nodes),
        architecture=architecture(row.architecture),
        root=row.rights == Rights.ROOT,
        without=without,
        lasts=timedelta(seconds=max(row.left_s, 1)) if row.left_s is not None else None,
        aside=(row.reason or _AGAIN) if row.not_before else dependencies.sentence(after) or kept_back,
        not_before=None if for_ever else row.not_before,
        after=frozenset() if for_ever else dependencies.awaited(after),
        image=canonical(row.image),
        cuda=required,
        array=row.array_id,
        array_most=row.max_parallel,
        behind=row.behind,
        choices=tuple(
            [GroupChoice(group, _not_allowed(out, forbidden)) for group, out, forbidden in row.choices or ()]
        ),
    )


async def _running(tx: AsyncSession, now: datetime) -> tuple[RunningSession, ...]:
    ledger: defaultdict[SessionId, dict[int, dict[str, Allocation]]] = defaultdict(lambda: defaultdict(dict))
    entries = (
        select(Allocation, Container.index)
        .join(Container, Container.id == Allocation.container_id)
        .where(Allocation.released_at.is_(None))
    )
    for one, index in await tx.execute(entries):
        ledger[one.session_id][index][one.slot] = one
    rows = await tx.execute(_HOLDERS.where(Session.id.in_(list(ledger))))
    return tuple(_holder(row, ledger[row.id], now) for row in rows)


def _holder(row: Any, containers: Mapping[int, Mapping[str, Allocation]], now: datetime) -> RunningSession:
    """containers: allocations by container index."""
    parts = tuple(
        ContainerPlacement(
            next(iter(slots.values())).node_id,
            {slot: one.devices for slot, one in slots.items() if one.devices},
        )
        for _, slots in sorted(containers.items())
    )
    path = (row.domain_id, row.project_id, row.owner_id)
    # One that was placed starts about now.
    ends = (row.started_at or now) + timedelta(seconds=row.left_s) if row.left_s is not None else None
    if LIFECYCLE.final & {row.state, row.outcome}:
        ends = now
    # From the ledger, since containers that have ended hold nothing.
    sizes = tuple(
        {slot: one.amount for slot, one in slots.items()} for _, slots in sorted(containers.items())
    )
    return RunningSession(
        row.id,
        row.slots,
        parts,
        scopes_of(row.access_key, path),
        path,
        row.group_id,
        ends,
        mixed=sizes if row.mixed else (),
        array=row.array_id,
    )


def _names(waiting: Iterable[PendingSession], machines: Iterable[Any]) -> frozenset[str]:
    """Every slot that exists or is requested."""
    return frozenset().union(
        *(one.slots for one in waiting),
        *(slots for one in waiting for slots in one.mixed),
        *(one.slots for one in machines),
    )


def _node(node: Any) -> NodeSnapshot:
    return NodeSnapshot(
        node.id,
        node.name,
        {} if node.shared else ledger.offered(node),
        node.held,
        node.group_id,
        _FILLED if node.shared else ledger.closed(node, node.required_capabilities, node.runtime),
        architecture(node.architecture),
        devices=tuple([device_snapshot(one, node.on_devices.get(one["id"], 0)) for one in node.devices]),
        network=node.engine_id or "",
        root=ROOT_INSIDE in node.capabilities,
        elastic=node.elastic,
        domains=domains(node.labels, node.topology) if node.topology else (),
        images=frozenset(node.images or ()),
        driver=driver_of(node.labels) if node.labels else None,
        no_shares=LeastTier(node.min_share_tier).refuses(node.sharing),
        share_of_one=bool(node.sharing) and node.sharing["tier"] == LeastTier.MPS3,
    )


_HELD = text("""
    SELECT s.access_key, s.domain_id, s.project_id, s.owner_id, s.group_id, a.slot, sum(a.amount) AS amount
    FROM allocations a JOIN sessions s ON s.id = a.session_id
    WHERE a.released_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6
    UNION ALL
    SELECT s.access_key, s.domain_id, s.project_id, s.owner_id, s.group_id, :sessions, count(*)
    FROM sessions s WHERE s.id IN (SELECT session_id FROM allocations WHERE released_at IS NULL)
    GROUP BY 1, 2, 3, 4, 5
""")


async def holdings_of(tx: AsyncSession) -> list[HeldSlots]:
    """Allocations summed by every kind of scope; SESSIONS counts the sessions."""
    sums: defaultdict[tuple[Any, ...], dict[str, int]] = defaultdict(dict)
    for row in await tx.execute(_HELD, {"sessions": SESSIONS}):
        key = (row.access_key, (row.domain_id, row.project_id, row.owner_id), row.group_id)
        sums[key][row.slot] = int(row.amount)
    return [HeldSlots(access_key, path, group, slots) for (access_key, path, group), slots in sums.items()]


async def scope_views(
    tx: AsyncSession,
    holders: Mapping[tuple[str, ...], tuple[str, str, str]],
    holdings: Iterable[HeldSlots],
    slots: frozenset[str],
) -> dict[str, ScopeSnapshot]:
    """The scopes with their limits and usage. holders: `scopes_of` -> path. slots: all existing slots."""
    used: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for one in holdings:
        for scope in scopes_of(one.access_key, one.path):
            for slot, amount in one.slots.items():
                used[scope][slot] += amount
    limited = await ceilings(tx, holders, slots)
    return {key: replace(scope, used=used.get(key, {})) for key, scope in limited.items()}


async def _group(
    tx: AsyncSession,
    group: Any,
    holdings: Sequence[HeldSlots],
    now: datetime,
    waiting: Iterable[PendingSession],
) -> GroupSnapshot:
    shares: Mapping[tuple[str, ...], ShareSnapshot] = {}
    if group.scheduler == QueueOrder.DRF:
        shares = {key: ShareSnapshot(held=held) for key, held in _held(holdings, group.id, [2]).items()}
    elif group.scheduler == QueueOrder.FAIR_SHARE:
        paths = {one.path for one in waiting if group.id in one.groups}
        shares = await fair_shares(tx, group, holdings, now, paths)
    return GroupSnapshot(
        group.id,
        group.name,
        QueueOrder(group.scheduler),
        Strategy(group.placement),
        tuple(group.slot_priority),
        timedelta(seconds=group.patience_s),
        shares,
        await _last_node(tx, group),
        timedelta(seconds=group.half_life_s),
        tuple(group.topology),
    )


def _held(
    holdings: Iterable[HeldSlots], group: GroupId, levels: Sequence[int]
) -> dict[tuple[str, ...], dict[str, float]]:
    """Usage in the group, summed by the given path levels."""
    sums: defaultdict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
    for one in holdings:
        if one.group == group:
            mine = sums[tuple(one.path[level] for level in levels)]
            for slot, amount in one.slots.items():
                if slot != SESSIONS:
                    mine[slot] = mine.get(slot, 0) + amount
    return sums


_PAST = text("""
    SELECT s.domain_id, s.project_id, s.owner_id, a.slot, sum(a.amount * (
        exp(-:rate * extract(epoch FROM :now - coalesce(a.released_at, :now)))
        - exp(-:rate * extract(epoch FROM :now - a.created_at)))) AS amount
    FROM allocations a JOIN sessions s ON s.id = a.session_id
    WHERE coalesce(a.group_id, s.group_id) = :group AND (a.released_at IS NULL OR a.released_at > :since)
    GROUP BY 1, 2, 3, 4
""")


async def fair_shares(
    tx: AsyncSession,
    group: Any,
    holdings: Sequence[HeldSlots],
    now: datetime,
    waiting: Iterable[tuple[str, str, str]] = (),
) -> dict[tuple[str, ...], ShareSnapshot]:
    """Shares of each domain, project and owner that has usage or pending sessions.

    Weight, current usage, and decayed mean of past usage.

    The mean weighs each moment by 2^(-age / half-life), over all the past: the ledger is the only source.
    """
    bound = {
        "group": group.id,
        "now": now,
        "rate": math.log(2) / group.half_life_s,
        "since": now - timedelta(seconds=PAST_HALF_LIVES * group.half_life_s),
    }
    past: defaultdict[tuple[str, ...], defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for row in await tx.execute(_PAST, bound):
        path = (row.domain_id, row.project_id, row.owner_id)
        for length in (1, 2, 3):
            past[path[:length]][row.slot] += float(row.amount)
    held = {
        path: slots
        for levels in ([0], [0, 1], [0, 1, 2])
        for path, slots in _held(holdings, group.id, levels).items()
    }
    weights = {
        (one.kind, one.scope_id): one.weight
        for one in (
            await tx.execute(select(FairShareWeight).where(FairShareWeight.group_id == group.id))
        ).scalars()
    }
    kinds = (ScopeKind.DOMAIN, ScopeKind.PROJECT, ScopeKind.USER)
    paths = {*past, *held, *(path[:length] for path in waiting for length in (1, 2, 3))}
    return {
        path: ShareSnapshot(
            held.get(path, {}), past.get(path, {}), weights.get((kinds[len(path) - 1], path[-1]), 1.0)
        )
        for path in paths
    }


async def _last_node(tx: AsyncSession, group: Any) -> str:
    """Name of the last node that round robin chose."""
    if group.placement != Strategy.ROUND_ROBIN:
        return ""
    rows = await tx.execute(
        select(Node.name)
        .join(Allocation, Allocation.node_id == Node.id)
        .where(Node.group_id == group.id)
        .order_by(Allocation.id.desc())
        .limit(1)
    )
    return rows.scalar() or ""
