"""Move or end running sessions on draining nodes. `launch` requeues sessions that have not run there yet."""

from collections.abc import Iterable

from sqlalchemy import select

from carrel.controllers.loop import Tools
from carrel.nodes import service as nodes
from carrel.nodes.administration import drain_outcome
from carrel.nodes.schemas import DrainOutcome
from carrel.sessions import transitions
from carrel.tables.nodes import TOPIC, Node
from carrel.tables.session_states import Result, SessionState
from carrel.tables.sessions import Container, Session

_RAN = (SessionState.RUNNING, SessionState.STARTING)
_OUTCOME = {DrainOutcome.ENDS: SessionState.CANCELLED, DrainOutcome.MOVES: SessionState.PENDING}


class Drain:
    name = "drain"
    topics = (TOPIC,)
    tick_s = 10.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def close(self) -> None:
        """No-op: there are no background tasks."""

    async def step(self) -> None:
        """Start to end or move every session on a draining node; the reaper does the rest."""
        async with self._tools.transaction() as tx:
            emptied = {node.id: node for node in await nodes.draining(tx)}
            if not emptied:
                return
            there = await tx.execute(
                select(Session, Container.node_id)
                .join(Container, Container.session_id == Session.id)
                .where(Container.node_id.in_(emptied), Session.state.in_(map(str, _RAN)))
                .order_by(Session.id, Container.index)
            )
            affected = [(session, emptied[node]) for session, node in there if node]
            for session, becomes, reason in _fates(affected):
                await transitions.move(
                    tx,
                    [session.id],
                    SessionState.TERMINATING,
                    sources=_RAN,
                    outcome=_OUTCOME[becomes],
                    result=Result.FAILURE if becomes is DrainOutcome.MOVES else None,
                    cause="drained",
                    reason=reason,
                    now=self._tools.clock.now(),
                )


def _fates(affected: Iterable[tuple[Session, Node]]) -> Iterable[tuple[Session, DrainOutcome, str]]:
    """The sessions to end or move, with the reason for their history. found: each with its draining node."""
    for session, node in affected:
        assert node.draining is not None
        match drain_outcome(session, node.draining):
            case DrainOutcome.ENDS:
                yield session, DrainOutcome.ENDS, f"Its node {node.name} is draining."
            case DrainOutcome.MOVES:
                reason = (
                    f"Its node {node.name} is draining: it is requeued and restarts on another node, "
                    "without the files outside mounted folders."
                )
                yield session, DrainOutcome.MOVES, reason
