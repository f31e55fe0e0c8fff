"""Push environments to registries.

A push is a row. After a crash the next leader begins it again; layers that are there are not sent again.
"""

from collections import Counter
from functools import partial

import structlog

from carrel.controllers.active_tasks import ActiveTasks, Work
from carrel.controllers.image_transfers import transfer
from carrel.controllers.loop import Tools, beside
from carrel.core.errors import Forbidden, NotFound, Unavailable
from carrel.core.ids import PushId
from carrel.db.encryption import SecretUnreadable
from carrel.db.leader import LeadershipLost
from carrel.engines.optional import ImagePushing
from carrel.engines.port import EngineError, EngineUnavailable
from carrel.environments.pushes import due_pushes
from carrel.environments.pushes.due_pushes import DuePush
from carrel.nodes.engines.connections import in_time
from carrel.tables.pushes import PUSHES_TOPIC, PushState

log = structlog.get_logger()

_ON_AN_ENGINE, _AT_ONCE = 2, 8
_ENDING = "ending"
_CANNOT = EngineError("The engine cannot push images.", retriable=False)
_UNEXPECTED = EngineError("Something unexpected happened; see the log of the server.", retriable=False)


class EnvironmentPushes:
    """A few pushes at once from each engine, and in all."""

    name = "environment-pushes"
    topics = (PUSHES_TOPIC,)
    tick_s = 5.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._active = ActiveTasks[PushId]()

    async def step(self) -> None:
        """Begin the open pushes that are due and not running, and stop those that were cancelled."""
        async with self._tools.transaction() as tx:
            due = await due_pushes.due(tx)
        running = Counter(one.engine for one in due if one.id in self._active)
        for one in due:
            if one.unneeded and self._active.about(one.id) != _ENDING:
                await self._active.stop(one.id)
                self._begin(one, partial(self._end, one, PushState.CANCELLED), _ENDING)
            elif one.unneeded or one.id in self._active or one.due_at > self._tools.clock.now():
                continue
            elif running[one.engine] < _ON_AN_ENGINE and running.total() < _AT_ONCE:
                self._begin(one, partial(self._work, one))
                running[one.engine] += 1

    async def drain(self) -> None:
        """Wait until no push is running."""
        await self._active.drain()

    async def close(self) -> None:
        """Cancel all pushes; the next leader begins them again."""
        await self._active.close()

    def _begin(self, one: DuePush, work: Work, about: str = "") -> None:
        self._active.begin(one.id, partial(beside, "pushes of environments", work, push=one.id), about)

    async def _work(self, one: DuePush) -> None:
        try:
            async with self._tools.transaction() as tx:
                if not await due_pushes.begin(tx, one.id, self._tools.clock.now()):
                    return
            engine = await self._engine(one)
            if engine is None:
                raise _CANNOT
            await self._push(one, engine)
        except (Unavailable, SecretUnreadable) as error:
            await self._hindered(one, EngineUnavailable(error.message))
        except Forbidden as error:
            await self._end(
                one, PushState.FAILED, EngineError(error.message, retriable=False, code=error.code)
            )
        except EngineError as error:
            await self._hindered(one, error)
        except LeadershipLost:
            raise
        except Exception:
            # What the registry sends reaches us through the engine.
            log.exception("environment_pushes.failed", push=one.id)
            await self._end(one, PushState.FAILED, _UNEXPECTED)

    async def _push(self, one: DuePush, engine: ImagePushing) -> None:
        """Push it, with its progress stored meanwhile. Raises: EngineError, Forbidden, SecretUnreadable."""
        async with self._tools.transaction() as tx:
            credentials = await due_pushes.credentials(tx, self._tools.seal, one.id)
        digest = await transfer(
            self._tools,
            lambda show: engine.push_image(one.image, one.reference, show, credentials),
            lambda tx, fraction: due_pushes.advanced(tx, one.id, fraction),
        )
        if digest is not None:
            await self._end(one, PushState.DONE, digest=digest)

    async def _hindered(self, one: DuePush, error: EngineError) -> None:
        """Have it tried again if that may help."""
        if error.retriable:
            async with self._tools.transaction() as tx:
                if await due_pushes.postpone(tx, one.id, error, self._tools.clock.now()):
                    log.warning("environment_pushes.hindered", push=one.id, error=error.message)
                    return
        await self._end(one, PushState.FAILED, error)

    async def _end(
        self, one: DuePush, state: PushState, error: EngineError | None = None, *, digest: str | None = None
    ) -> None:
        """Remove what an interrupted attempt may have left on the engine, and record how it ended."""
        if state != PushState.DONE:
            await self._discard(one)
        async with self._tools.transaction() as tx:
            await due_pushes.finish(tx, one.id, state, self._tools.clock.now(), error=error, digest=digest)
        log.info("environment_pushes.ended", push=one.id, state=state, problem=error and error.message)

    async def _discard(self, one: DuePush) -> None:
        try:
            if engine := await self._engine(one):
                await in_time(engine.discard_push(one.image, one.reference))
        except EngineError as error:
            log.warning("environment_pushes.not_discarded", push=one.id, error=error.message)

    async def _engine(self, one: DuePush) -> ImagePushing | None:
        """None if it cannot push, or is gone."""
        try:
            engine = await self._tools.engines.of(one.engine)
        except NotFound:
            return None
        return engine if isinstance(engine, ImagePushing) else None
