"""A container's log as one stream, from the engine or from storage."""

import asyncio
from collections.abc import AsyncIterator

import structlog
from sqlalchemy import select

from carrel.apps.container_engines import ContainerEngines
from carrel.apps.denials import of_engine
from carrel.apps.session_changes import SessionChanges
from carrel.core.ids import ContainerId
from carrel.db.database import Database
from carrel.engines.port import ContainerGone, EngineError
from carrel.sessions import service as sessions
from carrel.tables.session_states import LIFECYCLE, SessionState
from carrel.tables.sessions import Container, Session

log = structlog.get_logger()

_LOOK_AGAIN_S = 30.0
"""Polling interval, in case a notification is lost."""
_ENGINE_PAUSE_S = 1.0
_PROMPT_S = 0.3


class LogReader:
    """Reads the log from the engine, or the copy stored on removal."""

    def __init__(self, database: Database, engines: ContainerEngines, changes: SessionChanges) -> None:
        self._database = database
        self._engines = engines
        self._changes = changes

    async def read(self, container: ContainerId, *, follow: bool, tail: int | None) -> AsyncIterator[bytes]:
        """The log from its start, or its last `tail` lines.

        follow: continue until its session ends; waits for the session to run. Raises: Unavailable.
        """
        begun = False
        while True:
            change = self._changes.next
            state = await self._state(container)
            # 1. The current log; after the first part only new output.
            try:
                async for chunk in self._now(container, state, follow=follow, tail=0 if begun else tail):
                    begun = True
                    yield chunk
            except EngineError as error:
                if not (follow and begun):
                    raise of_engine(error) from error
                log.warning("logs.engine_unavailable", container=container)
                await asyncio.sleep(_ENGINE_PAUSE_S)
                continue
            # 2. Wait for more.
            if not follow or state in LIFECYCLE.final:
                return
            begun = begun or state == SessionState.RUNNING
            await _wait(change)

    async def _now(
        self, container: ContainerId, state: SessionState, *, follow: bool, tail: int | None
    ) -> AsyncIterator[bytes]:
        if state in (SessionState.RUNNING, SessionState.TERMINATING):
            try:
                engine = await self._engines.of(container)
                async for chunk in engine.logs(container, follow=follow, tail=tail):
                    yield chunk
                return
            except ContainerGone:
                pass
        # Stored before the container is removed, so it is available when the container is gone.
        if kept := last_lines(await self._kept(container), tail):
            yield kept

    async def _state(self, container: ContainerId) -> SessionState:
        """The session's."""
        statement = select(Session.state).join(Container, Container.session_id == Session.id)
        async with self._database.transaction() as tx:
            return SessionState((await tx.execute(statement.where(Container.id == container))).scalar_one())

    async def _kept(self, container: ContainerId) -> bytes:
        async with self._database.transaction() as tx:
            return await sessions.kept_log(tx, container)


def last_lines(content: bytes, count: int | None) -> bytes:
    """The last lines; all of them when count is None."""
    if count is None:
        return content
    lines = content.splitlines(keepends=True)
    return b"".join(lines[max(len(lines) - count, 0) :])


async def prompt(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same stream with its first chunk fetched, so that an early error is raised before the response starts."""
    first = asyncio.ensure_future(anext(chunks, b""))
    await asyncio.wait([first], timeout=_PROMPT_S)
    if first.done():
        first.result()
    return _rest(first, chunks)


async def _rest(first: "asyncio.Future[bytes]", chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        yield await first
        async for chunk in chunks:
            yield chunk
    finally:
        first.cancel()


async def _wait(change: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(_LOOK_AGAIN_S):
            await change.wait()
    except TimeoutError:
        pass
