"""Compare what the engine has with what the sessions say, and put right what differs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.controllers import lifetime
from carrel.controllers.loop import ENGINE_TOPIC, Tools
from carrel.core.ids import ContainerId, NodeId, SessionId
from carrel.engines.port import EngineUnavailable, Observed, ObservedState
from carrel.nodes import service as nodes
from carrel.sessions import containers, queries, service, transitions
from carrel.sessions.containers import Change
from carrel.tables.groups import NodeLoss
from carrel.tables.session_states import LAUNCHING, LIFECYCLE, ContainerState, SessionState
from carrel.tables.sessions import Container, Session

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
_LIVE = sorted(LIFECYCLE.live)
_OUTCOME = {NodeLoss.END: SessionState.ERROR, NodeLoss.RESCHEDULE: SessionState.PENDING}


@dataclass(frozen=True)
class Before:
    """The live sessions before the engine was asked. containers: all of theirs."""

    marks: Mapping[SessionId, queries.Mark]
    containers: frozenset[str]


@dataclass(frozen=True)
class Ended:
    """Containers of a running session that have ended. reason: a sentence."""

    session: Session
    containers: tuple[Change, ...]
    reason: str


@dataclass(frozen=True)
class Findings:
    """What differs.

    orphans: containers whose session is not live, nor was before the list was asked for: one that ended since had
    its containers removed first, and the list may be older than that. strays: of sessions that wait for a place,
    and so have none; left by a leader that did not know that it had been replaced, or by a node that was lost.
    node_lost: with the rule of their group.
    """

    restart: Sequence[Ended]
    lost: Sequence[Ended]
    out_of_memory: Sequence[Session]
    moved: Sequence[tuple[ContainerId, str]]
    orphans: Sequence[str]
    strays: Sequence[tuple[Session, ContainerId]]
    node_lost: Sequence[tuple[Session, NodeLoss]]

    def __bool__(self) -> bool:
        return any(vars(self).values())


@dataclass(frozen=True)
class Live:
    """The live sessions at one moment, with their containers."""

    sessions: Mapping[SessionId, Session]
    containers: Mapping[SessionId, Sequence[Container]]


def compare(
    seen: Sequence[Observed],
    before: Before,
    live: Live,
    restarts: Mapping[SessionId, int],
    gone: Mapping[NodeId, NodeLoss | None],
) -> Findings:
    """Pure. seen: the engine's list. restarts: how often each was started again lately. gone: as `nodes.gone`.

    before, live: read before the list was asked for and after it came. The list says something only of sessions that
    stayed as they were while it was made.
    """
    listed = {observed.id: observed for observed in seen}
    restart: list[Ended] = []
    lost: list[Ended] = []
    moved: list[tuple[ContainerId, str]] = []
    out_of_memory: list[Session] = []
    strays: list[tuple[Session, ContainerId]] = []
    node_lost: list[tuple[Session, NodeLoss]] = []
    for session in live.sessions.values():
        # None, when it ended between the two reads.
        own = live.containers.get(session.id, ())
        there = [(one, listed[one.id]) for one in own if one.id in listed]
        if "out_of_memory" not in session.warnings and any(observed.out_of_memory for _, observed in there):
            out_of_memory.append(session)
        if before.marks.get(session.id) != queries.mark(session):
            continue
        if session.state == SessionState.PENDING:
            strays += [(session, one.id) for one, _ in there]
            continue
        missing = [one for one in own if one.id not in listed]
        away = [one for one in missing if session.started_at and one.node_id in gone]
        rules = {rule for one in away if one.node_id and (rule := gone[one.node_id])}
        if rules and session.state != SessionState.TERMINATING:
            node_lost.append((session, NodeLoss.END if NodeLoss.END in rules else NodeLoss.RESCHEDULE))
        if rules or session.state != SessionState.RUNNING:
            continue
        exited = [(one, observed) for one, observed in there if observed.state is ObservedState.EXITED]
        if absent := [one for one in missing if one not in away]:
            why = f"{_subject(own, absent)} disappeared from the engine."
            lost.append(Ended(session, tuple(Change(one.id) for one in absent), why))
        elif exited:
            ended = tuple(Change(one.id, exit_code=observed.exit_code) for one, observed in exited)
            why = (
                _OOM
                if any(observed.out_of_memory for _, observed in exited)
                else f"{_subject(own, [one for one, _ in exited])} stopped, for example with the engine."
            )
            if restarts.get(session.id, 0) < MAX_RESTARTS:
                again = tuple(Change(one.id) for one, _ in exited)
                restart.append(
                    Ended(session, again, f"{why} It was started again; files are kept, processes are not.")
                )
            else:
                why += f" It has been started again {MAX_RESTARTS} times already."
                lost.append(Ended(session, ended, why))
        else:
            moved += [
                (one.id, observed.address)
                for one, observed in there
                if observed.address and observed.address != one.address
            ]
    known = before.containers | {one.id for own in live.containers.values() for one in own}
    orphans = [container for container in listed if container not in known]
    return Findings(restart, lost, out_of_memory, moved, orphans, strays, node_lost)


def _subject(own: Sequence[Container], some: Sequence[Container]) -> str:
    """What a sentence is about: people need not know the word where there is only one."""
    if len(own) == 1:
        return "Its container"
    names = [one.name for one in some]
    return f"Its container {names[0]}" if len(names) == 1 else f"Its containers {', '.join(names)}"


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
        stopped = {ContainerId(o.id) for o in seen if o.state is ObservedState.EXITED}
        async with tools.database.transaction() as tx:
            sessions = {s.id: s for s in await queries.in_states(tx, *_LIVE)}
            live = Live(sessions, await containers.in_states(tx, *_LIVE))
            again = [key for key, own in live.containers.items() if any(one.id in stopped for one in own)]
            restarts = await queries.restarts_since(tx, again, now - RESTARTS_COUNTED) if again else {}
            gone = await nodes.gone(tx, now)
        if found := compare(seen, before, live, restarts, gone):
            await self._apply(found)

    async def _begin(self) -> Before:
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
            own = await containers.ids_in_states(tx, *_LIVE)
        self._took_over = True
        return Before(marks, own)

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
            for ended in found.restart:
                await containers.change(
                    tx, ended.session.id, ended.containers, ContainerState.STARTING, states=[SessionState.RUNNING],
                    cause="restarted", reason=ended.reason, now=now,
                )  # fmt: skip
            for ended in found.lost:
                await containers.change(
                    tx, ended.session.id, ended.containers, ContainerState.EXITED, states=[SessionState.RUNNING],
                    cause="lost", reason=ended.reason, now=now,
                )  # fmt: skip
            for session, rule in found.node_lost:
                await transitions.move(
                    tx, [session.id], SessionState.TERMINATING, sources=[SessionState.RUNNING, SessionState.STARTING],
                    outcome=_OUTCOME[rule], cause="node_lost", reason=_LOST_WITH_NODE[rule], now=now,
                )  # fmt: skip
            for moved, address in found.moved:
                await containers.relocate(tx, moved, address)
        for container in found.orphans:
            log.warning("observe.orphan", container=container)
            await tools.engine.remove(container, grace_s=0)
        for session, stray in found.strays:
            await self._remove_stray(session, stray)

    async def _remove_stray(self, session: Session, container: ContainerId) -> None:
        # No transaction stays open over the engine's call; the lock keeps the scheduler from placing it.
        async with self._tools.placing:
            async with self._tools.transaction() as tx:
                waits = await queries.lock(tx, session.id, SessionState.PENDING)
            if waits:
                log.warning("observe.stray", session=session.id, container=container)
                await self._tools.engine.remove(container, grace_s=0)

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
