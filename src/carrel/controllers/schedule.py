"""Decide who starts where: snapshot in, plan out, applied in one guarded transaction."""

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.controllers.loop import Tools
from carrel.limits import model as limits
from carrel.nodes import service as nodes
from carrel.scheduler import loading
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import Plan, Snapshot
from carrel.sessions import transitions
from carrel.sessions.states import LIFECYCLE, SessionState


class Schedule:
    name = "schedule"
    topics = (
        nodes.TOPIC,
        limits.TOPIC,
        *(transitions.topic(s) for s in (SessionState.PENDING, *sorted(LIFECYCLE.final))),
    )
    tick_s = 2.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def close(self) -> None:
        """Nothing runs beside the step."""

    async def step(self) -> None:
        """One pass over everything that waits.

        Load and apply share a transaction: the leader is the only writer of allocations, so what was read
        is still true when it is written.
        """
        now = self._tools.clock.now()
        async with self._tools.placing, self._tools.transaction() as tx:
            snapshot = await loading.snapshot(tx, now)
            if snapshot.waiting:
                await self._apply(tx, snapshot, plan(snapshot))

    async def _apply(self, tx: AsyncSession, snapshot: Snapshot, decided: Plan) -> None:
        now = snapshot.now
        if decided.placements:
            moved = set(
                await transitions.move(
                    tx, [(p.session, p.node) for p in decided.placements], SessionState.SCHEDULED,
                    cause="scheduled", now=now,
                )
            )  # fmt: skip
            slots = {one.id: one.slots for one in snapshot.waiting}
            placed = [(p, slots[p.session]) for p in decided.placements if p.session in moved]
            await nodes.allocate(tx, placed, now)
        if decided.refusals:
            await transitions.refuse(tx, [(r.session, r.reason, r.position) for r in decided.refusals])
