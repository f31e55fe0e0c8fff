"""The scheduler loop: load a snapshot, plan, and apply it in one guarded transaction."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.controllers import metrics
from carrel.controllers.loop import Tools
from carrel.core.ids import SessionId
from carrel.queue import loading
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import Plan, Refusal, Snapshot
from carrel.sessions import announcements, containers, queries, transitions, updates
from carrel.tables import limits, nodes
from carrel.tables.session_states import LIFECYCLE, SessionState

_PLACES_SHOWN = 1000
"""Queue positions beyond this are not published, because they change with every start."""

_TICK_S, _PENDING_TICK_S = 10.0, 2.0
"""While sessions are pending, time alone may change what can start."""

_MANY = 300
"""Plans with this many sessions run in a thread."""


class Schedule:
    name = "schedule"
    topics = (
        nodes.TOPIC,
        limits.TOPIC,
        # TERMINATING: the next one of its array may start while it is removed.
        *(
            announcements.topic(s)
            for s in (SessionState.PENDING, SessionState.TERMINATING, *sorted(LIFECYCLE.final))
        ),
    )
    tick_s = _TICK_S

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._arrays_waited: datetime | None = None
        """When a pass left only sessions of arrays pending."""

    async def close(self) -> None:
        """No-op: there are no background tasks."""

    async def step(self) -> None:
        """One pass over all pending sessions that may start.

        Load and apply share a transaction. The leader is the only writer of allocations, so the snapshot is still
        valid when the plan is applied.
        """
        now = self._tools.clock.now()
        decided, placed = Plan((), ()), 0
        async with self._tools.placing, self._tools.transaction() as tx:
            # Each end in a long array wakes twice, and a pass reads all of it. Positions may be out of date for a tick.
            is_recent = self._arrays_waited and now - self._arrays_waited < timedelta(seconds=_PENDING_TICK_S)
            if is_recent and not await loading.may_start(tx):
                return
            waiting = await loading.startable(tx, now)
            if waiting:
                snapshot = await loading.snapshot(tx, now, waiting)
                with metrics.PLAN_SECONDS.time():
                    # A long plan must not block the event loop, which also serves requests.
                    decided = (
                        plan(snapshot) if len(waiting) < _MANY else await asyncio.to_thread(plan, snapshot)
                    )
                decided = replace(decided, refusals=_in_preferred_groups(snapshot, decided))
                placed = await self._apply(tx, snapshot, decided)
            pending = {one.session for one in decided.refusals}
            only_arrays = all(one.array for one in waiting if one.id in pending)
            self._arrays_waited = now if pending and only_arrays else None
            self.tick_s = _PENDING_TICK_S if pending else _TICK_S
        metrics.PLACEMENTS.inc(placed)
        metrics.waiting(decided.refusals)

    async def _apply(self, tx: AsyncSession, snapshot: Snapshot, decided: Plan) -> int:
        """Number of placed sessions."""
        now = snapshot.now
        moved: list[SessionId] = []
        if decided.placements:
            placed = await containers.place(tx, decided.placements, now)
            moved = await transitions.move(tx, placed, SessionState.SCHEDULED, cause="scheduled", now=now)
        if decided.refusals:
            shown = _shown(snapshot, decided)
            await self._store_refusals(
                tx, [(one.session, one.reason, shown.get(one.session)) for one in decided.refusals]
            )
        return len(moved)

    async def _store_refusals(
        self, tx: AsyncSession, refusals: Sequence[tuple[SessionId, str, int | None]]
    ) -> None:
        """Store changed reasons and positions; a long queue moves with every session that ends."""
        if not refusals:
            return
        stored = await queries.reasons_of_pending(tx, [session for session, _, _ in refusals])
        await updates.refuse(tx, [one for one in refusals if stored.get(one[0]) != one[1:]])


def _in_preferred_groups(snapshot: Snapshot, decided: Plan) -> tuple[Refusal, ...]:
    """The reason and position that a session has are those in the group that it prefers."""
    preferred = {one.id: one.group for one in snapshot.waiting}
    return tuple([one for one in decided.refusals if one.group == preferred[one.session]])


def _shown(snapshot: Snapshot, decided: Plan) -> dict[SessionId, int]:
    """The queue positions to publish; in an array only that of the first pending session."""
    array_of = {one.id: one.array for one in snapshot.waiting if one.array}
    shown: dict[SessionId, int] = {}
    arrays: set[SessionId] = set()
    for refusal in decided.refusals:
        array = array_of.get(refusal.session)
        if refusal.position <= _PLACES_SHOWN and (array is None or array not in arrays):
            shown[refusal.session] = refusal.position
        if array:
            arrays.add(array)
    return shown
