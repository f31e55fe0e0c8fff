"""Terminate sessions: store logs, remove containers from the engine, then release their slots."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

import structlog

from carrel.controllers.active_tasks import ActiveTasks
from carrel.controllers.engine_concurrency import EngineConcurrency
from carrel.controllers.launch import Launch
from carrel.controllers.log_collection import LogCollection
from carrel.controllers.loop import Tools
from carrel.core.errors import Unavailable
from carrel.core.ids import ContainerId, EngineId, SessionId
from carrel.db.leader import LeadershipLost
from carrel.engines.port import EngineError
from carrel.nodes import service as nodes
from carrel.nodes.engines.connections import REMOVAL_S, in_time
from carrel.sessions import announcements, containers, queries, removal, repeating, updates
from carrel.tables.session_states import ContainerState, SessionState
from carrel.tables.sessions import Session

log = structlog.get_logger()

_RETRY_S = 2.0
_TICK_S, _BUSY_TICK_S = 20.0, 5.0
_PATIENT, _FORCED = "patient", "forced"


@dataclass(frozen=True)
class Ending:
    """A container to remove. engine: None if it was never placed. exited: its main process has ended."""

    container: ContainerId
    engine: EngineId | None
    exited: bool


End = Callable[[Ending], Awaitable[None]]


class Reap:
    name = "reap"
    topics = (announcements.topic(SessionState.TERMINATING),)
    tick_s = _TICK_S

    def __init__(self, tools: Tools, launch: Launch, logs: LogCollection) -> None:
        self._tools = tools
        self._launch = launch
        self._logs = logs
        self._limits = EngineConcurrency()
        self._active = ActiveTasks[SessionId]()

    async def step(self) -> None:
        """Start a task for every terminating session without one, and for every session with abandoned containers."""
        async with self._tools.database.transaction() as tx:
            sessions = await queries.with_containers_to_remove(tx)
            self.tick_s = _BUSY_TICK_S if sessions else _TICK_S
            if not sessions:
                return
            own = await containers.of_each(tx, [session.id for session in sessions])
            places = await nodes.addresses(tx)

        for session in sessions:
            if any(one.node_id and one.node_id not in places for one in own.get(session.id, ())):
                # It ended while this was read, and its machine had been removed before.
                continue
            ending = [
                Ending(
                    one.id,
                    places[one.node_id].engine if one.node_id else None,
                    exited=one.state == ContainerState.EXITED,
                )
                for one in own.get(session.id, ())
                if one.state != ContainerState.GONE
            ]
            await self._begin(session, ending)

    async def _begin(self, session: Session, ending: Sequence[Ending]) -> None:
        key = session.id
        if session.state != SessionState.TERMINATING:
            if self._active.about(key) == _PATIENT:
                await self._active.stop(key)
            self._active.begin(key, partial(self._reap, key, self._forced, ending), _FORCED)
        elif session.outcome == SessionState.SCHEDULED:
            work = partial(self._reap, key, self._restarting(session), ending, self._place_again)
            self._active.begin(key, work, _PATIENT)
        else:
            self._active.begin(key, partial(self._reap, key, self._patient(session), ending), _PATIENT)

    async def drain(self) -> None:
        """Wait until no task is running."""
        await self._active.drain()

    async def close(self) -> None:
        await self._active.close()

    async def _reap(
        self,
        session: SessionId,
        end: End,
        ending: Sequence[Ending],
        then: Callable[[SessionId], Awaitable[None]] | None = None,
    ) -> None:
        try:
            await self._launch.abandon(session)
            try:
                await _end_all(end, ending)
                if then:
                    await then(session)
            except EngineError as error:
                log.warning("reap.engine", session=session, error=error.message)
                # Keep its reason, which explains why it ended.
                shown = {"phase": "remove", "fraction": None, "text": error.message}
                async with self._tools.transaction() as tx:
                    await updates.show_progress(
                        tx, session, [SessionState.TERMINATING], progress=shown, reason=None
                    )
                await asyncio.sleep(_RETRY_S)
        except (Unavailable, LeadershipLost) as error:
            log.warning("reap.dropped", session=session, error=str(error))
        except Exception:
            log.exception("reap.failed", session=session)
            await asyncio.sleep(_RETRY_S)

    def _patient(self, session: Session) -> End:
        async def end(ending: Ending) -> None:
            # 1. remove it from the engine, unless it was never placed
            await self._remove(ending, grace_s=session.grace_s, signal=session.stop_signal)
            # 2. release its slots, and with the last one end the session, in one transaction
            async with self._tools.transaction() as tx:
                await removal.remove_container(
                    tx, session.id, ending.container, cause="removed", now=self._tools.clock.now()
                )

        return end

    def _restarting(self, session: Session) -> End:
        return partial(self._remove, grace_s=session.grace_s, signal=session.stop_signal)

    async def _place_again(self, session: SessionId) -> None:
        async with self._tools.transaction() as tx:
            await repeating.place_again(tx, self._tools.clock, session)

    async def _forced(self, ending: Ending) -> None:
        """The session has ended already."""
        await self._remove(ending, grace_s=0)
        async with self._tools.transaction() as tx:
            await removal.release_abandoned(tx, ending.container, self._tools.clock.now())

    async def _remove(self, ending: Ending, *, grace_s: int, signal: str = "SIGTERM") -> None:
        if not ending.engine:
            return
        container = ending.container
        engine = await self._tools.engines.of(ending.engine)
        async with (
            self._limits.of(ending.engine, engine),
            self._logs.until_gone(container, engine, exited=ending.exited),
        ):
            # One that has exited needs neither a signal nor time.
            removal = engine.remove(container, grace_s=0 if ending.exited else grace_s, signal=signal)
            await in_time(removal, REMOVAL_S + grace_s)


async def _end_all(end: End, ending: Sequence[Ending]) -> None:
    """End all concurrently; a failure does not stop the others. Raises: the first error."""
    ends = await asyncio.gather(*(end(one) for one in ending), return_exceptions=True)
    for failed in filter(None, ends):
        raise failed
