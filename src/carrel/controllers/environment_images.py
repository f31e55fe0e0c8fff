"""Make the images of environments, and remove those that are no longer needed.

A version's row is the task. An attempt that is interrupted leaves scratch in the engine under the version's id, which
the next attempt clears, and the sweep if there is none. Nothing has the reference of an image before it is complete.
"""

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import structlog

from carrel.controllers.active_tasks import ActiveTasks, Work
from carrel.controllers.loop import Tools, beside, end
from carrel.core.errors import NotFound, Refused, Unavailable
from carrel.core.ids import EngineId
from carrel.db.leader import LeadershipLost
from carrel.engines import left_out
from carrel.engines.optional import CommittedImage, Committing
from carrel.engines.port import ContainerGone, Engine, EngineError, EngineUnavailable, Progress
from carrel.environments import making
from carrel.nodes.engines.connections import in_time
from carrel.sessions import saving
from carrel.tables.environments import TOPIC, EnvironmentVersion, VersionState
from carrel.tables.sessions import Session

log = structlog.get_logger()

_STORE_EVERY_S = 0.5
_PAUSE_S = 5.0
_AT_ONCE = 2
_SWEEP_EVERY = timedelta(minutes=10)
_UNEXPECTED = "The image could not be made; Carrel's log has the reason."
_GONE = "The session ended before its image was complete."


@dataclass
class _Attempt:
    """latest: its progress. unneeded: it was cancelled, or its environment deleted."""

    latest: Progress | None = None
    unneeded: bool = False

    def advance(self, progress: Progress) -> None:
        self.latest = progress


class EnvironmentImages:
    """Concurrency limits per engine, so that one that hangs delays only its own."""

    name = "environments"
    topics = (TOPIC,)
    tick_s = 5.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._active = ActiveTasks[str]()
        self._rooms: dict[EngineId, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(_AT_ONCE))
        self._swept: dict[EngineId, datetime] = {}

    async def step(self) -> None:
        """Start every due task that is not running, cancel those that are not to go on, and sweep now and then."""
        async with self._tools.transaction() as tx:
            versions = await making.to_do(tx)
        for version in versions:
            work = self._remove if version.state == VersionState.REMOVING else self._make
            self._begin(version.id, partial(work, version))
        now = self._tools.clock.now()
        for engine in await self._tools.engines.ids():
            if now - self._swept.get(engine, now - _SWEEP_EVERY) >= _SWEEP_EVERY:
                self._swept[engine] = now
                self._begin(f"sweep {engine}", partial(self._sweep, engine))

    async def drain(self) -> None:
        """Wait until no task is running."""
        await self._active.drain()

    async def close(self) -> None:
        """Cancel all tasks."""
        await self._active.close()

    def _begin(self, key: str, work: Work) -> None:
        self._active.begin(key, partial(beside, "environments", work, key=key))

    async def _make(self, version: EnvironmentVersion) -> None:
        async with self._rooms[version.engine_id]:
            async with self._tools.transaction() as tx:
                task = await making.begin(tx, version.id)
                session = await tx.get(Session, version.session_id)
                given = await saving.given_files(tx, session) if session else []
            if task is None:
                return
            try:
                engine = await self._engine(version)
                if task.cancel:
                    await self._give_up(version, VersionState.CANCELLED, None)
                elif engine is None:
                    await self._give_up(
                        version, VersionState.FAILED, "The engine cannot make images of sessions."
                    )
                else:
                    await self._commit(version, engine, (*left_out.ALL, *given))
            except (EngineUnavailable, Unavailable) as error:
                await self._hindered(version, error.message)
            except ContainerGone:
                await self._give_up(version, VersionState.FAILED, _GONE)
            except (EngineError, Refused) as error:
                await self._give_up(version, VersionState.FAILED, error.message)
            except (LookupError, RecursionError, TypeError, ValueError):
                # The engine's answers have labels of images, which anybody may have written.
                log.exception("environments.failed", version=version.id)
                await self._give_up(version, VersionState.FAILED, _UNEXPECTED)

    async def _commit(
        self, version: EnvironmentVersion, engine: Committing, without: tuple[str, ...]
    ) -> None:
        # The process may have been suspended since the transaction before.
        await self._tools.confirm()
        attempt = _Attempt()
        work = asyncio.create_task(
            engine.commit(
                version.container_id,
                version.reference,
                version.id,
                left_out=without,
                progress=attempt.advance,
            )
        )
        storing = asyncio.Lock()
        reporter = asyncio.create_task(self._report(version, attempt, work, storing))
        try:
            await asyncio.wait([work])
        finally:
            await end(reporter, storing)
            work.cancel()
            await asyncio.wait([work])
        if not work.cancelled():
            await self._made(version, work.result())
        elif attempt.unneeded:
            await self._give_up(version, VersionState.CANCELLED, None)

    async def _made(self, version: EnvironmentVersion, image: CommittedImage) -> None:
        async with self._tools.transaction() as tx:
            complete = await making.made(tx, version.id, image, self._tools.clock.now())
        if complete:
            log.info("environments.made", version=version.id, added_bytes=image.added_bytes)
        else:
            await self._give_up(version, VersionState.CANCELLED, None)

    async def _report(
        self,
        version: EnvironmentVersion,
        attempt: "_Attempt",
        work: "asyncio.Task[CommittedImage]",
        storing: asyncio.Lock,
    ) -> None:
        """Store the progress twice a second, and stop the work once it is not to go on."""
        try:
            while not attempt.unneeded:
                async with storing, self._tools.transaction() as tx:
                    attempt.unneeded = await making.advanced(tx, version.id, attempt.latest)
                if not attempt.unneeded:
                    await asyncio.sleep(_STORE_EVERY_S)
        except (Unavailable, LeadershipLost) as error:
            log.warning("environments.not_stored", version=version.id, error=str(error))
        work.cancel()

    async def _give_up(self, version: EnvironmentVersion, state: VersionState, problem: str | None) -> None:
        """Remove what there is of it, then record how it ended."""
        if engine := await self._engine(version):
            await in_time(engine.discard_commit(version.id))
        async with self._tools.transaction() as tx:
            await making.not_made(tx, version.id, state, problem, self._tools.clock.now())
        log.info("environments.not_made", version=version.id, state=state, problem=problem)

    async def _hindered(self, version: EnvironmentVersion, problem: str) -> None:
        log.warning("environments.hindered", version=version.id, error=problem)
        async with self._tools.transaction() as tx:
            await making.hindered(tx, version.id, problem)
        await asyncio.sleep(_PAUSE_S)

    async def _remove(self, version: EnvironmentVersion) -> None:
        try:
            if engine := await self._engine(version):
                await in_time(engine.discard_commit(version.id))
        except (EngineError, Unavailable) as error:
            # A session that was just requested may still use it.
            await self._hindered(version, error.message)
            return
        async with self._tools.transaction() as tx:
            await making.removed(tx, version.id)
        log.info("environments.removed", version=version.id)

    async def _sweep(self, engine_id: EngineId) -> None:
        """Remove images of this installation that have no version."""
        try:
            engine = await self._tools.engines.of(engine_id)
            if not isinstance(engine, Committing):
                return
            there = await in_time(engine.commits())
            async with self._tools.transaction() as tx:
                needed = await making.kept(tx)
            for key in sorted(set(there) - needed):
                await self._discard(engine, engine_id, key)
        except (EngineError, NotFound) as error:
            log.warning("environments.not_swept", engine=engine_id, error=str(error))

    async def _discard(self, engine: Committing, engine_id: EngineId, key: str) -> None:
        try:
            await in_time(engine.discard_commit(key))
            log.info("environments.swept", engine=engine_id, version=key)
        except EngineError as error:
            log.warning("environments.not_swept", engine=engine_id, version=key, error=str(error))

    async def _engine(self, version: EnvironmentVersion) -> Committing | None:
        """None if it cannot make images, or is gone."""
        try:
            engine: Engine = await self._tools.engines.of(version.engine_id)
        except NotFound:
            return None
        return engine if isinstance(engine, Committing) else None
