"""Pull images to nodes ahead of sessions.

A pull on a node is a row. After a crash the next leader begins it again; layers that are there are not pulled again.
"""

import asyncio
from collections import defaultdict
from datetime import timedelta
from functools import partial

import structlog

from carrel.controllers.active_tasks import ActiveTasks
from carrel.controllers.image_transfers import transfer
from carrel.controllers.loop import Tools, beside
from carrel.core.errors import NotFound
from carrel.core.ids import EngineId, ImagePullId, NodeId
from carrel.db.database import notify
from carrel.db.encryption import SecretUnreadable
from carrel.engines.optional import ImageInfo, ImageStore
from carrel.engines.port import EngineError, EngineUnavailable, ImageUnusable
from carrel.images.node_images import node_pulls, service
from carrel.images.node_images.node_pulls import DuePull
from carrel.images.registries.pulls import source
from carrel.tables.node_images import PULL_TOPIC, TOPIC, PullState

log = structlog.get_logger()

_ON_A_NODE, _AT_ONCE = 2, 8
_PAUSE_S = 5.0
_LONGEST = timedelta(hours=6)
_NO_STORE = "Nodes of this engine pull images only for sessions."
_GONE = "The node is gone."
_TOO_LONG = f"It took more than {_LONGEST // timedelta(hours=1)} hours."
_UNEXPECTED = "Something unexpected happened; see the log of the server."


class ImagePulls:
    """A few pulls at once on each engine, and in all."""

    name = "image_pulls"
    topics = (PULL_TOPIC,)
    tick_s = 10.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._active = ActiveTasks[tuple[ImagePullId, NodeId]]()
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._rooms: dict[EngineId, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(_ON_A_NODE))

    async def step(self) -> None:
        """Begin the open pulls that are not running, and stop those that were cancelled."""
        async with self._tools.transaction() as tx:
            due = await node_pulls.due(tx)
        for one in due:
            if one.cancel:
                await self._active.stop(one.key)
                await self._finish(one, PullState.CANCELLED)
            else:
                work = partial(beside, "pull of an image", partial(self._work, one), pull=one.pull.id)
                self._active.begin(one.key, work)

    async def drain(self) -> None:
        """Wait until no pull is running."""
        await self._active.drain()

    async def close(self) -> None:
        """Cancel all pulls; the next leader begins them again."""
        await self._active.close()

    async def _work(self, one: DuePull) -> None:
        if one.engine is None:
            await self._finish(one, PullState.FAILED, _GONE)
            return
        async with self._rooms[one.engine], self._room:
            async with self._tools.transaction() as tx:
                if not await node_pulls.begin(tx, one, self._tools.clock.now()):
                    return
            try:
                engine = await self._tools.engines.of(one.engine)
                if isinstance(engine, ImageStore):
                    await self._pull(one, engine)
                else:
                    await self._finish(one, PullState.FAILED, _NO_STORE)
            except (EngineUnavailable, SecretUnreadable) as error:
                await self._hindered(one, error.message)
            except NotFound:
                await self._finish(one, PullState.FAILED, _GONE)
            except EngineError as error:
                await self._finish(one, PullState.FAILED, error.message)
            except (LookupError, TypeError, ValueError):
                # What the registry sends reaches us through the engine.
                log.exception("image_pulls.failed", pull=one.pull.id, node=one.node)
                await self._finish(one, PullState.FAILED, _UNEXPECTED)

    async def _pull(self, one: DuePull, engine: ImageStore) -> None:
        """Pull it, with its progress stored meanwhile. Raises: EngineError, SecretUnreadable."""
        tools, called = self._tools, one.pull.reference
        async with tools.database.transaction() as tx:
            origin = await source(tx, tools.seal, called, project=one.pull.project_id)
        await self._note(one, engine, origin.reference)
        image = await transfer(
            tools,
            lambda show: engine.pull_image(origin.reference, show, origin.credentials),
            lambda tx, fraction: node_pulls.advanced(tx, one, fraction),
        )
        if image is not None:
            await self._done(one, image)

    async def _note(self, one: DuePull, engine: ImageStore, reference: str) -> None:
        """Note that it is pulled by Carrel, unless somebody else has pulled one with this reference before."""
        async with self._tools.database.transaction() as tx:
            ours = await service.pulled_here(tx, one.node, reference)
        try:
            if not ours:
                await engine.image(reference)
                return
        except ImageUnusable:
            pass
        async with self._tools.transaction() as tx:
            now = self._tools.clock.now()
            await service.note_pull(tx, one.node, reference, now, name=one.pull.reference)

    async def _done(self, one: DuePull, image: ImageInfo) -> None:
        await self._finish(one, PullState.DONE, size_bytes=image.size_bytes)
        async with self._tools.transaction() as tx:
            await notify(tx, TOPIC)
        log.info("image_pulls.done", pull=one.pull.id, node=one.node, bytes=image.size_bytes)

    async def _hindered(self, one: DuePull, problem: str) -> None:
        """The next step tries again, for some hours."""
        if self._tools.clock.now() - one.pull.created_at > _LONGEST:
            await self._finish(one, PullState.FAILED, f"{problem} {_TOO_LONG}")
            return
        async with self._tools.transaction() as tx:
            await node_pulls.advanced(tx, one, None, problem)
        await asyncio.sleep(_PAUSE_S)

    async def _finish(
        self, one: DuePull, state: PullState, problem: str | None = None, *, size_bytes: int | None = None
    ) -> None:
        async with self._tools.transaction() as tx:
            now = self._tools.clock.now()
            await node_pulls.finish(tx, one, state, now, problem=problem, size_bytes=size_bytes)
            if state != PullState.DONE:
                await service.forget_pull(tx, one.node, one.pull.reference)
