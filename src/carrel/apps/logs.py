"""A container's log as one stream: what is stored, then what the engine has beyond it."""

import asyncio
import zlib
from collections import deque
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from functools import partial
from typing import Protocol

import structlog
from sqlalchemy import select

from carrel.apps.container_engines import ContainerEngines
from carrel.apps.denials import of_engine
from carrel.apps.session_changes import SessionChanges
from carrel.core.ids import ContainerId
from carrel.db.database import Database
from carrel.engines.port import ContainerGone, EngineError, LogRecord
from carrel.sessions.logs import queries
from carrel.sessions.logs.blocks import LogBlock, unpack
from carrel.sessions.logs.following import read_on
from carrel.sessions.logs.reading import LogFormat, LogPart, LogQuery, last_pieces, pieces_of
from carrel.sessions.logs.records import decode, full_lines
from carrel.sessions.logs.store import LogStore, trail_of
from carrel.sessions.logs.trail import Resumption, Trail
from carrel.tables.session_states import LIFECYCLE, SessionState
from carrel.tables.sessions import Container, Session

log = structlog.get_logger()

_LOOK_AGAIN_S = 30.0
"""Polling interval, in case a notification is lost."""
_ENGINE_PAUSE_S = 1.0
_PROMPT_S = 0.3
_LARGE_BYTES = 16 << 10
_LIVE = (SessionState.RUNNING, SessionState.TERMINATING)


class _Beyond(Protocol):
    """Reads what the engine has after the trail."""

    def __call__(self, trail: Trail, *, follow: bool) -> AsyncIterator[Sequence[LogRecord]]: ...


class LogReader:
    """Reads the logs of containers; `open` one for each response."""

    def __init__(
        self, database: Database, engines: ContainerEngines, changes: SessionChanges, store: LogStore
    ) -> None:
        self._database = database
        self._engines = engines
        self._changes = changes
        self._store = store

    async def read(
        self, container: ContainerId, query: LogQuery, sent_as: LogFormat, *, follow: bool
    ) -> AsyncIterator[bytes]:
        """What the query asks for.

        follow: continue until its session ends; waits for the session to run. Raises: Unavailable.
        """
        trail: Trail | None = None
        while True:
            change = self._changes.next
            state, begun_at = await self._state(container)
            live = state in _LIVE and await self._is_current(container, query)
            beyond = partial(self._beyond, container, begun_at=begun_at) if live else None
            # 1. The log so far; after the first time only what is new.
            try:
                if trail is None:
                    trail = Trail()
                    async for records in self._first(container, query, trail, beyond, follow=follow):
                        yield sent_as(records)
                else:
                    async for records in self._next(container, trail, beyond, follow=follow):
                        yield sent_as(query.matching(records))
            except EngineError as error:
                if not follow:
                    raise of_engine(error) from error
                log.warning("logs.engine_unavailable", container=container)
                await asyncio.sleep(_ENGINE_PAUSE_S)
                continue
            # 2. Wait for more.
            if not follow or state in LIFECYCLE.final:
                return
            await _wait(change)

    async def _first(
        self,
        container: ContainerId,
        query: LogQuery,
        trail: Trail,
        beyond: _Beyond | None,
        *,
        follow: bool,
    ) -> AsyncIterator[Sequence[LogRecord]]:
        """The records that match. beyond: reads what is not stored yet; None: nothing is."""
        attempts = await self._store.do(self._store.index, container, query.attempt)
        for batch in await self._store.do(trail_of, attempts[-1] if attempts else ()):
            trail.add(batch)
        pieces = pieces_of(attempts, query)
        latest: Sequence[LogRecord] = ()
        rest: AsyncIterator[Sequence[LogRecord]] | None = None
        if query.tail is not None:
            # What the engine has counts, too.
            if beyond:
                try:
                    latest = await _latest(beyond(trail, follow=False), query, query.tail)
                except EngineError:
                    if not follow:
                        raise
            missing = query.tail - full_lines(latest)
            pieces = await self._store.do(last_pieces, pieces, query, missing)
        elif beyond and not follow:
            # An engine that does not respond must be known before the response begins.
            rest = beyond(trail, follow=False)
            # Not (): CPython 3.11 fails with a tuple as the default (SystemError).
            latest = query.matching(await anext(rest, []))
        if not attempts and not beyond:
            latest = last_lines(query.matching(await self._kept(container)), query.tail)
        for piece in pieces:
            yield await self._store.do(LogPart.records, piece, query)
        if latest:
            yield latest
        if beyond and (follow or query.tail is None):
            async for records in rest or beyond(trail, follow=follow):
                yield query.matching(records)

    async def _next(
        self, container: ContainerId, trail: Trail, beyond: _Beyond | None, *, follow: bool
    ) -> AsyncIterator[Sequence[LogRecord]]:
        """Records after those of the trail: the engine may have removed the container meanwhile."""
        resumption = trail.resume()
        for members in await self._store.do(self._store.index, container):
            for member in members:
                if resumption.since is None or member.last_at >= resumption.since:
                    yield _passed(await self._store.do(_records, member), resumption, trail)
        if beyond:
            async for records in beyond(trail, follow=follow):
                yield records

    async def _beyond(
        self, container: ContainerId, trail: Trail, *, follow: bool, begun_at: datetime | None
    ) -> AsyncIterator[Sequence[LogRecord]]:
        """What the engine has after the trail. begun_at: when the container began to run."""
        try:
            engine = await self._engines.of(container)
            async for records in read_on(engine, container, trail, follow=follow, begun_at=begun_at):
                yield records
        except ContainerGone:
            pass  # everything is stored before it is removed

    async def _state(self, container: ContainerId) -> tuple[SessionState, datetime | None]:
        """The session's, and when the container began to run."""
        statement = select(Session.state, Container.started_at).join(
            Container, Container.session_id == Session.id
        )
        async with self._database.transaction() as tx:
            row = (await tx.execute(statement.where(Container.id == container))).one()
        return SessionState(row.state), row.started_at

    async def _is_current(self, container: ContainerId, query: LogQuery) -> bool:
        """True if new output belongs to the attempt that is asked for."""
        if query.attempt is None:
            return True
        return query.attempt == await self._store.do(self._store.current_attempt, container)

    async def _kept(self, container: ContainerId) -> list[LogRecord]:
        """The log that an earlier version stored in the database; without times."""
        async with self._database.transaction() as tx:
            content = await queries.kept_log(tx, container)
        return [LogRecord(b"", 1, line) for line in content.splitlines(keepends=True)]


async def _latest(
    unstored: AsyncIterator[Sequence[LogRecord]], query: LogQuery, count: int
) -> Sequence[LogRecord]:
    """The last records that match."""
    latest = deque[LogRecord](maxlen=count)
    async for records in unstored:
        latest.extend(query.matching(records))
    return list(latest)


def last_lines(records: Sequence[LogRecord], count: int | None) -> Sequence[LogRecord]:
    return records if count is None else records[max(len(records) - count, 0) :]


def _passed(records: Sequence[LogRecord], resumption: Resumption, trail: Trail) -> Sequence[LogRecord]:
    new = resumption.new(records)
    trail.add(new)
    return new


def _records(member: LogBlock) -> list[LogRecord]:
    return decode(unpack(member))


async def zipped(blocks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same stream, compressed by gzip."""
    compressor = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    async for block in blocks:
        if len(block) > _LARGE_BYTES:
            yield await asyncio.to_thread(compressor.compress, block)
        else:
            yield compressor.compress(block)
    yield compressor.flush()


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
