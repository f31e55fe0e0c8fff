"""Store the output of running containers, because engines keep only a little of it.

One task follows the log of each container. It stores a batch when it is large enough or old enough, so a killed
control plane loses nothing that the engine still has: the next one goes on after the last stored record. A container
whose output cannot be stored goes on running; the lines are dropped and counted.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial

import structlog

from carrel.controllers.active_tasks import ActiveTasks
from carrel.controllers.loop import Tools, beside
from carrel.core.ids import ContainerId
from carrel.engines.port import ContainerGone, Engine, EngineError, EngineUnavailable, LogRecord
from carrel.sessions import announcements
from carrel.sessions.logs import queries
from carrel.sessions.logs.following import read_on
from carrel.sessions.logs.queries import LoggedContainer
from carrel.sessions.logs.store import LogStore, LogWriter, Superseded
from carrel.tables.session_states import ContainerState, SessionState

log = structlog.get_logger()

BATCH_BYTES = 64 << 10
BATCH_S = 30.0
_BEGUN_AT_ONCE = 100
"""So that the engine does not read the logs of all containers at the same time when a leader starts."""
_RETRY_S, _DOUBLED = 1.0, 5
_REST_S = 10.0
"""The longest time for reading what the engine has when a container is to be removed."""
_LAST_WORDS_S = 2.0


class LogCollection:
    name = "logs"
    topics: Sequence[str] = (announcements.topic(SessionState.RUNNING),)
    calm_s = 2.0
    """The log of a container that has ended by then is read when it is removed."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._active = ActiveTasks[ContainerId]()
        self._batches: dict[ContainerId, LogBatch] = {}
        self._ending: set[ContainerId] = set()
        self._failures: Counter[ContainerId] = Counter()
        """In a row, so that logs that cannot be followed are tried less and less often."""

    @property
    def tick_s(self) -> float:
        """Short while there are logs, whose tasks may fail and whose batches get old."""
        return 2.0 if self._active else 30.0

    async def step(self) -> None:
        """Follow the containers that run, and store old batches."""
        async with self._tools.database.transaction() as tx:
            logged = {one.id: one for one in await queries.logged(tx)}
        for container in self._active:
            if container not in logged:
                await self._active.stop(container)
                del self._failures[container]
        begun = 0
        for one in logged.values():
            # The log of an exited container is read to its end by the task that followed it, or when it is removed.
            if one.state != ContainerState.RUNNING or one.id in self._ending:
                continue
            if one.id not in self._active:
                self._active.begin(one.id, partial(beside, "collect log", partial(self._follow, one)))
                begun += 1
                if begun == _BEGUN_AT_ONCE:
                    break
        for batch in list(self._batches.values()):
            if batch.age_s > BATCH_S:
                await batch.store()

    async def close(self) -> None:
        await self._active.close()

    @asynccontextmanager
    async def until_gone(
        self, container: ContainerId, engine: Engine, *, exited: bool
    ) -> AsyncIterator[None]:
        """Within it the container is removed; afterwards everything that it printed is stored, if at all possible.

        Raises: EngineUnavailable.
        """
        self._ending.add(container)
        try:
            async with self._collecting(container, engine, exited=exited):
                yield
        finally:
            self._ending.discard(container)

    @asynccontextmanager
    async def _collecting(
        self, container: ContainerId, engine: Engine, *, exited: bool
    ) -> AsyncIterator[None]:
        await self._active.stop(container)
        async with self._tools.database.transaction() as tx:
            one = await queries.one(tx, container)
        batch = self._batch(one) if one else LogBatch(self._tools.logs, container, None)
        # 1. what there is
        await _bounded(batch, partial(batch.read, engine, follow=False), _REST_S)
        # 2. what it prints while it is stopped
        following = (
            None
            if exited
            else asyncio.create_task(_bounded(batch, partial(batch.read, engine, follow=True), None))
        )
        try:
            yield
        finally:
            if following:
                await asyncio.wait([following], timeout=_LAST_WORDS_S)
                following.cancel()
                await asyncio.wait([following])
        await batch.end()

    def _batch(self, one: LoggedContainer) -> "LogBatch":
        return LogBatch(self._tools.logs, one.id, one.most_bytes, one.begun_at)

    async def _follow(self, one: LoggedContainer) -> None:
        batch = self._batches[one.id] = self._batch(one)
        try:
            engine = await self._tools.engines.of(one.engine)
            await batch.read(engine, follow=True)
            await batch.store()
            del self._failures[one.id]
        except ContainerGone:
            await batch.end()
        except EngineError as error:
            self._failures[one.id] += 1
            log.warning("logs.not_followed", container=one.id, error=error.message)
        except Superseded:
            log.warning("logs.superseded", container=one.id)
        finally:
            del self._batches[one.id]
        await asyncio.sleep(_RETRY_S * 2 ** min(self._failures[one.id], _DOUBLED))


class LogBatch:
    """Records of one container that are not stored yet."""

    def __init__(
        self,
        store: LogStore,
        container: ContainerId,
        most_bytes: int | None,
        begun_at: datetime | None = None,
    ) -> None:
        self._store = store
        self._container = container
        self._most_bytes = most_bytes
        self._begun_at = begun_at
        self._writer: LogWriter | None = None
        self._records: list[LogRecord] = []
        self._bytes = 0
        self._since = 0.0
        self._writing = asyncio.Lock()
        self._failed = False

    @property
    def age_s(self) -> float:
        """Of its oldest record; 0 without records."""
        return asyncio.get_running_loop().time() - self._since if self._records else 0.0

    async def read(self, engine: Engine, *, follow: bool) -> None:
        """Read the log from after the last record that is stored or in the batch.

        Raises: EngineError, Superseded.
        """
        await self.store()
        self._writer = await self._store.do(self._store.writer, self._container, self._most_bytes)
        trail = self._writer.trail
        async for new in read_on(engine, self._container, trail, follow=follow, begun_at=self._begun_at):
            if not self._records:
                self._since = asyncio.get_running_loop().time()
            self._records += new
            self._bytes += sum(len(record.content) for record in new)
            # The reader waits meanwhile, so the memory is bounded.
            if self._bytes >= BATCH_BYTES:
                await self.store()

    async def store(self) -> None:
        """Store the batch. If the disk refuses, it is dropped. Raises: Superseded."""
        async with self._writing:
            records, self._records, self._bytes = self._records, [], 0
            if records and self._writer:
                await self._write(self._writer.append, records)

    async def end(self) -> None:
        """Store the batch and end the attempt. Raises: Superseded."""
        await self.store()
        if self._writer is None:
            self._writer = await self._store.do(self._store.writer, self._container, self._most_bytes)
        async with self._writing:
            await self._write(self._writer.end)

    async def _write(self, act: Callable[..., None], *arguments: Sequence[LogRecord]) -> None:
        writing = asyncio.ensure_future(self._store.do(act, *arguments))
        try:
            await asyncio.shield(writing)
            self._failed = False
        except asyncio.CancelledError:
            # The next writer must not begin before this one is done.
            await asyncio.wait([writing])
            raise
        except OSError as error:
            if not self._failed:
                log.warning("logs.dropped", container=self._container, error=str(error))
            self._failed = True


async def _bounded(batch: LogBatch, read: Callable[[], Awaitable[None]], limit_s: float | None) -> None:
    """Read and store; an unreadable log must not block the termination. Raises: EngineUnavailable."""
    try:
        async with asyncio.timeout(limit_s):
            await read()
    except (ContainerGone, TimeoutError, Superseded):
        pass
    except EngineUnavailable:
        if limit_s is not None:
            raise
    except EngineError as error:
        log.warning("logs.not_read", error=error.message)
    await batch.store()
