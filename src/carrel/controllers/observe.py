"""Compare what the engine has with what the sessions say, and put right what differs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.controllers import lifetime
from carrel.controllers.loop import ENGINE_TOPIC, Tools
from carrel.core.ids import NodeId, SessionId
from carrel.engines.port import ContainerState, EngineUnavailable, Observed
from carrel.groups.model import NodeLoss
from carrel.nodes import service as nodes
from carrel.sessions import queries, service, transitions
from carrel.sessions.model import Session
from carrel.sessions.states import LAUNCHING, LIFECYCLE, SessionState

log = structlog.get_logger()

MAX_RESTARTS = 5
RESTARTS_COUNTED = timedelta(hours=1)
"""Only restarts this recent count: a session that lives for months outlives many of an engine's updates."""
_OOM = "A process was killed because the session reached its memory limit."
_LOST_WITH_NODE = {
    NodeLoss.END: "Its node is lost, and what ran there with it.",
    NodeLoss.RESCHEDULE: "Its node is lost: it goes back to the queue and starts again elsewhere, without the files "
    "that were outside mounted folders.",
}
_OUTCOME = {NodeLoss.END: SessionState.ERROR, NodeLoss.RESCHEDULE: SessionState.PENDING}


@dataclass(frozen=True)
class Findings:
    """What differs. restart and lost: with a sentence.

    orphans: containers whose session is not live, nor was before the list was asked for: one that ended since had
    its container removed first, and the list may be older than that. strays: of sessions that wait for a place,
    and so have none; left by a leader that did not know that it had been replaced, or by a node that was lost.
    node_lost: with the rule of their group.
    """

    restart: Sequence[tuple[Session, str]]
    lost: Sequence[tuple[Session, str]]
    out_of_memory: Sequence[Session]
    moved: Sequence[tuple[Session, str]]
    orphans: Sequence[str]
    strays: Sequence[Session]
    node_lost: Sequence[tuple[Session, NodeLoss]]

    def __bool__(self) -> bool:
        return any(vars(self).values())


def compare(
    seen: Sequence[Observed],
    before: Mapping[SessionId, queries.Mark],
    sessions: Mapping[SessionId, Session],
    restarts: Mapping[SessionId, int],
    gone: Mapping[NodeId, NodeLoss | None],
) -> Findings:
    """Pure. seen: the engine's list. restarts: how often each was started again lately. gone: as `nodes.gone`.

    before, sessions: all live ones, read before the list was asked for and after it came. The list says
    something only of sessions that stayed as they were while it was made.
    """
    containers = {observed.id: observed for observed in seen}
    restart: list[tuple[Session, str]] = []
    lost: list[tuple[Session, str]] = []
    moved: list[tuple[Session, str]] = []
    out_of_memory: list[Session] = []
    strays: list[Session] = []
    node_lost: list[tuple[Session, NodeLoss]] = []
    for session in sessions.values():
        observed = containers.get(session.id)
        if observed and observed.out_of_memory and "out_of_memory" not in session.warnings:
            out_of_memory.append(session)
        if before.get(session.id) != queries.mark(session):
            continue
        if session.state == SessionState.PENDING and observed:
            strays.append(session)
        elif observed is None and session.started_at and session.node_id and session.node_id in gone:
            if (rule := gone[session.node_id]) and session.state != SessionState.TERMINATING:
                node_lost.append((session, rule))
        elif session.state != SessionState.RUNNING:
            continue
        elif observed is None:
            lost.append((session, "Its container disappeared from the engine."))
        elif observed.state is ContainerState.EXITED:
            why = _OOM if observed.out_of_memory else "Its container stopped, for example with the engine."
            if restarts.get(session.id, 0) < MAX_RESTARTS:
                restart.append((session, f"{why} It was started again; files are kept, processes are not."))
            else:
                lost.append((session, f"{why} It has been started again {MAX_RESTARTS} times already."))
        elif observed.address and observed.address != session.address:
            moved.append((session, observed.address))
    live = before.keys() | sessions.keys()
    orphans = [container for container in containers if container not in live]
    return Findings(restart, lost, out_of_memory, moved, orphans, strays, node_lost)


class Observe:
    name = "observe"
    topics = (ENGINE_TOPIC, nodes.FORGOTTEN)
    tick_s = 10.0
    calm_s = 0.05

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._took_over = False

    async def close(self) -> None:
        """Nothing runs beside the step."""

    async def step(self) -> None:
        """One comparison; also the deadlines, which hold even when the engine is away."""
        tools = self._tools
        # 1. what we believe
        before = await self._begin()
        # 2. what there is
        try:
            machines = await tools.engine.nodes()
            seen = await tools.engine.list()
        except EngineUnavailable:
            await self._engine_is_away()
            raise
        now = tools.clock.now()
        async with tools.transaction() as tx:
            await nodes.record(tx, machines, now)
        # 3. what differs, and was not in motion meanwhile
        stopped = [SessionId(o.id) for o in seen if o.state is ContainerState.EXITED]
        async with tools.database.transaction() as tx:
            live = {s.id: s for s in await queries.in_states(tx, *sorted(LIFECYCLE.live))}
            restarts = await queries.restarts_since(tx, stopped, now - RESTARTS_COUNTED) if stopped else {}
            gone = await nodes.gone(tx, now)
        if found := compare(seen, before, live, restarts, gone):
            await self._apply(found)

    async def _begin(self) -> Mapping[SessionId, queries.Mark]:
        """The live sessions, with the deadlines enforced, except by a leader that has only just begun.

        Nobody may have been there to act before: what was going on gets its whole time again.
        """
        tools = self._tools
        now = tools.clock.now()
        async with tools.transaction() as tx:
            if self._took_over:
                await self._enforce_deadlines(tx, now)
                await lifetime.enforce(tx, now)
            else:
                await transitions.renew_deadlines(tx, LIFECYCLE.deadlines, now=now)
            marks = await queries.marks(tx)
        self._took_over = True
        return marks

    async def _engine_is_away(self) -> None:
        """Nothing can be placed; and a session that lost its container's processes must not lose its files
        too because the engine takes long to come back."""
        tools = self._tools
        async with tools.transaction() as tx:
            await nodes.mark_down(tx)
            await transitions.renew_deadlines(
                tx, [SessionState.STARTING], now=tools.clock.now(), only_started=True
            )

    async def _apply(self, found: Findings) -> None:
        tools = self._tools
        now = tools.clock.now()
        async with tools.transaction() as tx:
            for session in found.out_of_memory:
                await transitions.warn(tx, session.id, cause="out_of_memory", reason=_OOM, now=now)
            for session, reason in found.restart:
                await transitions.move(
                    tx, [session.id], SessionState.STARTING, sources=[SessionState.RUNNING],
                    cause="restarted", reason=reason, now=now,
                )  # fmt: skip
            for session, reason in found.lost:
                await transitions.move(
                    tx, [session.id], SessionState.TERMINATING, sources=[SessionState.RUNNING],
                    outcome=SessionState.ERROR, cause="lost", reason=reason, now=now,
                )  # fmt: skip
            for session, rule in found.node_lost:
                await transitions.move(
                    tx, [session.id], SessionState.TERMINATING, sources=[SessionState.RUNNING, SessionState.STARTING],
                    outcome=_OUTCOME[rule], cause="node_lost", reason=_LOST_WITH_NODE[rule], now=now,
                )  # fmt: skip
            for session, address in found.moved:
                await transitions.relocate(tx, session.id, address)
        for container in found.orphans:
            log.warning("observe.orphan", container=container)
            await tools.engine.remove(container, grace_s=0)
        for session in found.strays:
            await self._remove_stray(session)

    async def _remove_stray(self, session: Session) -> None:
        # No transaction stays open over the engine's call; the lock keeps the scheduler from placing it.
        async with self._tools.placing:
            async with self._tools.transaction() as tx:
                waits = await queries.lock(tx, session.id, SessionState.PENDING)
            if waits:
                log.warning("observe.stray", session=session.id)
                await self._tools.engine.remove(session.id, grace_s=0)

    async def _enforce_deadlines(self, tx: AsyncSession, now: datetime) -> None:
        for session in await queries.overdue(tx, now):
            if session.state == SessionState.TERMINATING:
                # The engine never confirmed. What is left of it is an orphan, removed when it answers.
                reason = "The engine did not confirm the removal in time; it is cleaned up when it answers."
                await service.finish(tx, session.id, cause="deadline", reason=reason, now=now)
            elif session.state in LAUNCHING:
                reason = f"It stayed in {session.state} for too long" + (
                    f": {session.reason}" if session.reason else "."
                )
                await transitions.move(
                    tx, [session.id], SessionState.TERMINATING, sources=[session.state],
                    outcome=SessionState.ERROR, cause="deadline", reason=reason, now=now,
                )  # fmt: skip
