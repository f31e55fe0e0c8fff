"""Decide who starts where: snapshot in, plan out, applied in one guarded transaction."""

from sqlalchemy import select

from carrel.controllers.loop import Tools
from carrel.nodes import service as nodes
from carrel.nodes.model import Node, NodeState
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import NodeView, Snapshot, Waiting
from carrel.sessions import queries, transitions
from carrel.sessions.states import LIFECYCLE, SessionState


class Schedule:
    name = "schedule"
    topics = (nodes.TOPIC, *(transitions.topic(s) for s in (SessionState.PENDING, *sorted(LIFECYCLE.final))))
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
            pending = await queries.in_states(tx, SessionState.PENDING)
            if not pending:
                return
            due = [s for s in pending if s.not_before is None or s.not_before <= now]
            slots = {session.id: session.slots for session in due}
            usage = await nodes.held(tx)
            snapshot = Snapshot(
                nodes=tuple(
                    NodeView(n.id, n.name, n.state == NodeState.READY, n.slots, usage.get(n.id, {}))
                    for n in (await tx.execute(select(Node).order_by(Node.name))).scalars()
                ),
                waiting=tuple(Waiting(s.id, s.slots, s.created_at) for s in due),
                now=now,
            )
            decided = plan(snapshot)
            moved = set(
                await transitions.move(
                    tx,
                    [(p.session, p.node) for p in decided.placements],
                    SessionState.SCHEDULED,
                    cause="scheduled",
                    now=now,
                )
                if decided.placements
                else []
            )
            placed = [p for p in decided.placements if p.session in moved]
            await nodes.allocate(tx, [(p.session, p.node, slots[p.session]) for p in placed], now)
            if decided.refusals:
                await transitions.refuse(tx, [(r.session, r.reason, r.position) for r in decided.refusals])
