"""Terminate sessions: store logs, remove containers from the engine, then release their slots."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import structlog

from carrel.controllers.active_tasks import ActiveTasks
from carrel.controllers.launch import Launch
from carrel.controllers.log_collection import LogCollection
from carrel.controllers.loop import Tools
from carrel.core.errors import Unavailable
from carrel.core.ids import ContainerId, EngineId, SessionId
from carrel.db.leader import LeadershipLost
from carrel.engines.port import Engine, EngineError
from carrel.nodes import service as nodes
from carrel.nodes.engines.connections import REMOVAL_S, in_time
from carrel.sessions import containers, queries, service, transitions
from carrel.tables.session_states import ContainerState, SessionState
from carrel.tables.sessions import Session

log = structlog.get_logger()

GRACE_S = 10.0
_RETRY_S = 2.0
_PATIENT, _FORCED = "patient", "forced"


@dataclass(frozen=True)
class Ending:
    """A container to remove. engine: None if it was never placed. exited: its main process has ended."""

    container: ContainerId
    engine: EngineId | None
    exited: bool


class Reap:
    name = "reap"
    topics = (transitions.topic(SessionState.TERMINATING),)
    tick_s = 5.0

    def __init__(self, tools: Tools, launch: Launch, logs: LogCollection, *, concurrency: int = 16) -> None:
        self._tools = tools
        self._launch = launch
        self._logs = logs
        # Per engine, so that a hung one does not use up the slots of others.
        self._room = defaultdict[EngineId | None, asyncio.Semaphore](lambda: asyncio.Semaphore(concurrency))
        self._active = ActiveTasks[SessionId]()

    async def step(self) -> None:
        """Start a task for every terminating session without one; restart those that are now forced."""
        async with self._tools.database.transaction() as tx:
            sessions = await queries.in_states(tx, SessionState.TERMINATING)
            if not sessions:
                return
            own = await containers.in_states(tx, SessionState.TERMINATING)
            places = await nodes.addresses(tx)
        for session in sessions:
            key = session.id
            if session.force and self._active.about(key) == _PATIENT:
                await self._active.stop(key)
            ending = [
                Ending(
                    one.id,
                    places[one.node_id].engine if one.node_id else None,
                    exited=one.state == ContainerState.EXITED,
                )
                for one in own.get(key, ())
                if one.state != ContainerState.GONE
            ]
            about = _FORCED if session.force else _PATIENT
            self._active.begin(key, partial(self._reap, session, ending), about)

    async def drain(self) -> None:
        """Wait until no task is running."""
        await self._active.drain()

    async def close(self) -> None:
        await self._active.close()

    async def _reap(self, session: Session, ending: Sequence[Ending]) -> None:
        try:
            await self._launch.abandon(session.id)
            try:
                await self._end_all(session, ending)
            except EngineError as error:
                log.warning("reap.engine", session=session.id, error=error.message)
                # Keep its reason, which explains why it ended.
                shown = {"phase": "remove", "fraction": None, "text": error.message}
                async with self._tools.transaction() as tx:
                    await transitions.show_progress(
                        tx, session.id, [SessionState.TERMINATING], progress=shown, reason=None
                    )
                await asyncio.sleep(_RETRY_S)
        except (Unavailable, LeadershipLost) as error:
            log.warning("reap.dropped", session=session.id, error=str(error))
        except Exception:
            log.exception("reap.failed", session=session.id)
            await asyncio.sleep(_RETRY_S)

    async def _end_all(self, session: Session, ending: Sequence[Ending]) -> None:
        """Remove all concurrently; a failure does not stop the others. Raises: the first error."""
        ends = await asyncio.gather(*(self._end(session, one) for one in ending), return_exceptions=True)
        for failed in filter(None, ends):
            raise failed

    async def _end(self, session: Session, ending: Ending) -> None:
        tools = self._tools
        async with self._room[ending.engine]:
            # 1. skip containers that were never placed
            if ending.engine:
                await self._remove(session, ending, await tools.engines.of(ending.engine))
            # 2. release its slots, and with the last one end the session, in one transaction
            async with tools.transaction() as tx:
                await service.remove_container(
                    tx, session.id, ending.container, cause="removed", now=tools.clock.now()
                )

    async def _remove(self, session: Session, ending: Ending, engine: Engine) -> None:
        container, grace_s = ending.container, 0 if session.force else GRACE_S
        async with self._logs.until_gone(container, engine, exited=ending.exited):
            await in_time(engine.remove(container, grace_s=grace_s), REMOVAL_S)
