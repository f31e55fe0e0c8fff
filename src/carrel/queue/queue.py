"""The queue and the fair shares of a resource group, computed on the scheduler's snapshot."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.db.database import Database
from carrel.db.scope import permitted
from carrel.nodes.groups import service as groups
from carrel.nodes.groups.schemas import GroupRef
from carrel.permissions.decide import Actor, Target, require, sight
from carrel.queue import loading
from carrel.queue.schemas import QueuedView, QueueQuery, QueueView, ShareNode, SharesView
from carrel.queue.service import HORIZON
from carrel.scheduling.forecast import MOST_WORK, Forecast, forecast
from carrel.scheduling.plan import Planning, plan
from carrel.scheduling.snapshot import PendingSession, Plan, Refusal, ShareSnapshot, Snapshot
from carrel.sessions.schemas import OwnerRef
from carrel.tables.groups import ResourceGroup, ScopeKind
from carrel.tables.sessions import Session
from carrel.tables.tenancy import Domain, Project, User
from carrel.tenancy.schemas import ProjectRef

FORECAST_WORK = MOST_WORK // 4
"""Less than for one session: the page asks again whenever a queue changes."""


@dataclass(frozen=True)
class PlannedQueues:
    """The plan of a snapshot, and when its pending sessions start."""

    snapshot: Snapshot
    plan: Plan
    forecast: Forecast


_Making = asyncio.Task[PlannedQueues]


class Plans:
    """The current plan, computed once for concurrent callers.

    A call during a computation gets the next one, since the current snapshot may predate the caller's own writes.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._making: _Making | None = None
        self._next: _Making | None = None

    async def latest(self) -> PlannedQueues:
        """Call outside a transaction: it opens its own."""
        if self._next is None:
            self._next = asyncio.create_task(self._make(self._making))
        return await asyncio.shield(self._next)

    async def _make(self, before: _Making | None) -> PlannedQueues:
        if before is not None:
            await asyncio.wait([before])
        self._making, self._next = self._next, None
        async with self._database.transaction() as tx:
            now = self._clock.now()
            waiting = await loading.waiting(tx, now)
            snapshot = await loading.snapshot(tx, now, waiting, running=bool(waiting))
        return await asyncio.to_thread(_planned, snapshot)


def _planned(snapshot: Snapshot) -> PlannedQueues:
    decided = plan(snapshot)
    refused = {refusal.session for refusal in decided.refusals}
    return PlannedQueues(snapshot, decided, forecast(snapshot, refused, HORIZON, work=FORECAST_WORK))


async def queue(tx: AsyncSession, actor: Actor, query: QueueQuery, planned: PlannedQueues) -> QueueView:
    """A page of a group's queue. Raises: NotFound for a group that the actor may not see."""
    group = await _group(tx, actor, query.group)
    mine = {one.id: one for one in planned.snapshot.waiting if group.id in one.groups}
    refusals = [refusal for refusal in planned.plan.refusals if refusal.group == group.id]
    begin = int(query.cursor or 0)
    shown = refusals[begin : begin + query.limit]
    end = begin + len(shown)
    named = await _named(tx, actor, [refusal.session for refusal in shown])
    return QueueView(
        group=GroupRef(id=group.id, name=group.name),
        scheduler=group.scheduler,
        length=len(refusals),
        forecast_complete=planned.forecast.complete,
        items=[
            _queued(
                refusal,
                mine[refusal.session],
                named.get(refusal.session),
                planned.forecast.starts.get(refusal.session),
            )
            for refusal in shown
        ],
        next_cursor=str(end) if end < len(refusals) else None,
    )


async def _group(tx: AsyncSession, actor: Actor, ref: str) -> ResourceGroup:
    return await groups.find(tx, ref, seen=groups.seen_by(actor))


async def _named(tx: AsyncSession, actor: Actor, sessions: Iterable[str]) -> Mapping[str, Any]:
    rows = await tx.execute(
        select(Session.id, Session.name, User.id, User.email, Project.id, Project.name)
        .join(User, User.id == Session.owner_id)
        .join(Project, Project.id == Session.project_id)
        .where(
            Session.id.in_(list(sessions)),
            permitted(
                actor,
                "session.read",
                owner=Session.owner_id,
                domain=Session.domain_id,
                project=Session.project_id,
            ),
        )
    )
    return {row[0]: row for row in rows}


def _queued(refusal: Refusal, one: PendingSession, named: Any, start: datetime | None) -> QueuedView:
    return QueuedView(
        position=refusal.position,
        session=named[0] if named else None,
        name=named[1] if named else None,
        owner=OwnerRef(id=named[2], email=named[3]) if named else None,
        project=ProjectRef(id=named[4], name=named[5]) if named else None,
        slots=dict(one.slots),
        priority=one.priority,
        waits_since=one.since,
        expected_start=start if named else None,
        cause=refusal.cause,
        reason=refusal.reason if named else "",
    )


async def shares(tx: AsyncSession, clock: Clock, actor: Actor, ref: str) -> SharesView:
    """Current and past usage and entitled share of each domain, project and user in the group. Domain administrators
    see their domain. Raises: NotFound, Forbidden.
    """
    group = await _group(tx, actor, ref)
    seen = sight(actor, "share.read")
    if not (seen.everything or seen.domain_id):
        require(actor, "share.read", Target())
    now = clock.now()
    snapshot = await loading.snapshot(tx, now, await loading.waiting(tx, now))
    waiting = [one.path for one in snapshot.waiting if group.id in one.groups]
    views = await loading.fair_shares(tx, group, await loading.holdings_of(tx), now, waiting)
    capacity = Planning(snapshot).rooms[group.id].capacity() if group.active else {}
    names = await _names(tx, views)
    tree = _tree((), views, capacity, names, _counted(waiting))
    return SharesView(
        group=GroupRef(id=group.id, name=group.name),
        scheduler=group.scheduler,
        half_life_s=group.half_life_s,
        capacity=capacity,
        items=[one for one in tree if seen.everything or one.id == seen.domain_id],
    )


def _counted(paths: Iterable[tuple[str, str, str]]) -> Mapping[tuple[str, ...], int]:
    counts: defaultdict[tuple[str, ...], int] = defaultdict(int)
    for path in paths:
        for length in (1, 2, 3):
            counts[path[:length]] += 1
    return counts


async def _names(tx: AsyncSession, paths: Iterable[tuple[str, ...]]) -> Mapping[str, str]:
    ids = {part for path in paths for part in path}
    names: dict[str, str] = {}
    for key, name in ((Domain.id, Domain.name), (Project.id, Project.name), (User.id, User.email)):
        names |= {id_: called for id_, called in await tx.execute(select(key, name).where(key.in_(ids)))}
    return names


def _tree(
    above: tuple[str, ...],
    views: Mapping[tuple[str, ...], ShareSnapshot],
    capacity: Mapping[str, int],
    names: Mapping[str, str],
    waiting: Mapping[tuple[str, ...], int],
) -> list[ShareNode]:
    level = len(above)
    if level == len(ScopeKind):
        return []
    here = {path: view for path, view in views.items() if len(path) == level + 1 and path[:-1] == above}
    weights = sum(view.weight for view in here.values())
    nodes = []
    for path, view in here.items():
        share = _share(view, capacity)
        nodes.append(
            ShareNode(
                kind=list(ScopeKind)[level],
                id=path[-1],
                name=names.get(path[-1], path[-1]),
                weight=view.weight,
                share=share,
                entitled=view.weight / weights,
                level=share / view.weight,
                held=dict(view.held),
                waiting=waiting.get(path, 0),
                children=_tree(path, views, capacity, names, waiting),
            )
        )
    return sorted(nodes, key=lambda node: (node.level, node.name))


def _share(view: ShareSnapshot, capacity: Mapping[str, int]) -> float:
    """Dominant share of current and past usage, as the scheduler ranks it."""
    slots = view.held.keys() | view.past.keys()
    return max(
        (
            (view.held.get(slot, 0) + view.past.get(slot, 0)) / capacity[slot]
            for slot in slots
            if capacity.get(slot)
        ),
        default=0.0,
    )
