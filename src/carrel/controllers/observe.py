"""Compare what the engine has with what the sessions say, and put right what differs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from carrel.controllers.loop import ENGINE_TOPIC, Tools
from carrel.core.ids import SessionId
from carrel.engines.port import ContainerState, EngineUnavailable, Observed
from carrel.nodes import service as nodes
from carrel.sessions import queries, service, transitions
from carrel.sessions.model import Session
from carrel.sessions.states import LAUNCHING, LIFECYCLE, SessionState

log = structlog.get_logger()

MAX_RESTARTS = 5
_OOM = "A process was killed because the session reached its memory limit."


@dataclass(frozen=True)
class Findings:
    """What differs. restart and lost: with a sentence; orphans: containers that nobody asked for."""

    restart: Sequence[tuple[Session, str]]
    lost: Sequence[tuple[Session, str]]
    out_of_memory: Sequence[Session]
    moved: Sequence[tuple[Session, str]]
    orphans: Sequence[str]


def compare(seen: Sequence[Observed], sessions: Mapping[SessionId, Session], listed_at: datetime) -> Findings:
    """Pure. sessions: all live ones, read after the engine's list was asked for at `listed_at`.

    A session that began to run after the list was asked for proves nothing by its absence.
    """
    containers = {observed.id: observed for observed in seen}
    restart: list[tuple[Session, str]] = []
    lost: list[tuple[Session, str]] = []
    moved: list[tuple[Session, str]] = []
    out_of_memory: list[Session] = []
    for session in sessions.values():
        observed = containers.get(session.id)
        if observed and observed.out_of_memory and "out_of_memory" not in session.warnings:
            out_of_memory.append(session)
        if session.state != SessionState.RUNNING:
            continue
        if observed is None:
            if session.started_at is not None and session.started_at < listed_at:
                lost.append((session, "Its container disappeared from the engine."))
        elif observed.state is ContainerState.EXITED:
            why = _OOM if observed.out_of_memory else "Its container stopped, for example with the engine."
            if session.restarts < MAX_RESTARTS:
                restart.append((session, f"{why} It was started again; files are kept, processes are not."))
            else:
                lost.append((session, f"{why} It has been started again {MAX_RESTARTS} times already."))
        elif observed.address and observed.address != session.address:
            moved.append((session, observed.address))
    orphans = [container for container in containers if SessionId(container) not in sessions]
    return Findings(restart, lost, out_of_memory, moved, orphans)


class Observe:
    name = "observe"
    topics = (ENGINE_TOPIC,)
    tick_s = 10.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def close(self) -> None:
        """Nothing runs beside the step."""

    async def step(self) -> None:
        """One comparison; also the deadlines, which hold even when the engine is away."""
        tools = self._tools
        await self._enforce_deadlines()
        asked_at = tools.clock.now()
        try:
            machines = await tools.engine.nodes()
            seen = await tools.engine.list()
        except EngineUnavailable:
            async with tools.transaction() as tx:
                await nodes.mark_down(tx)
            raise
        async with tools.transaction() as tx:
            await nodes.record(tx, machines, tools.clock.now())
        async with tools.database.transaction() as tx:
            live = {s.id: s for s in await queries.in_states(tx, *sorted(LIFECYCLE.live))}
        await self._apply(compare(seen, live, asked_at))

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
            for session, address in found.moved:
                await transitions.relocate(tx, session.id, address)
        for container in found.orphans:
            log.warning("observe.orphan", container=container)
            await tools.engine.remove(container, grace_s=0)

    async def _enforce_deadlines(self) -> None:
        tools = self._tools
        now = tools.clock.now()
        async with tools.transaction() as tx:
            for session in await queries.overdue(tx, now):
                if session.state == SessionState.TERMINATING:
                    # The engine never confirmed. What is left of it is an orphan, removed when it answers.
                    reason = (
                        "The engine did not confirm the removal in time; it is cleaned up when it answers."
                    )
                    session.outcome = SessionState.ERROR if session.outcome is None else session.outcome
                    await service.finish(tx, session, cause="deadline", reason=reason, now=now)
                elif session.state in LAUNCHING:
                    reason = f"It stayed in {session.state} for too long" + (
                        f": {session.reason}" if session.reason else "."
                    )
                    await transitions.move(
                        tx, [session.id], SessionState.TERMINATING, sources=[session.state],
                        outcome=SessionState.ERROR, cause="deadline", reason=reason, now=now,
                    )  # fmt: skip
