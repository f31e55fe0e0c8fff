"""Transfers of images between an engine and a registry, with their progress stored meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import TypeVar

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.controllers.loop import Tools, end
from carrel.core.errors import Unavailable
from carrel.db.leader import LeadershipLost
from carrel.engines.port import EngineUnavailable, Progress, ProgressSink

log = structlog.get_logger()

T = TypeVar("T")
_STORE_EVERY_S = 0.5
_STALL_S = 600.0


async def transfer(
    tools: Tools,
    start: Callable[[ProgressSink], Coroutine[None, None, T]],
    store: Callable[[AsyncSession, float | None], Awaitable[bool]],
) -> T | None:
    """The result of a transfer; None if it was stopped, since `store` said that it is not to go on.

    start: the engine's call. store: writes the progress, a fraction; called twice a second.
    Raises: EngineUnavailable if it makes no progress for long, and what the engine raises.
    """
    latest: list[float | None] = [None]
    moved = asyncio.Event()

    def show(progress: Progress) -> None:
        latest[0] = progress.fraction
        moved.set()

    work = asyncio.create_task(start(show))
    writing = asyncio.Lock()

    async def report() -> None:
        goes_on = True
        try:
            while goes_on:
                async with writing, tools.transaction() as tx:
                    goes_on = await store(tx, latest[0])
                await asyncio.sleep(_STORE_EVERY_S)
        except (Unavailable, LeadershipLost) as error:
            log.warning("transfer.not_stored", error=str(error))
        work.cancel()

    reporter = asyncio.create_task(report())
    try:
        if await _stalled(work, moved):
            raise EngineUnavailable("There was no progress for ten minutes.")
    finally:
        await end(reporter, writing)
        work.cancel()
        await asyncio.wait([work])
    return None if work.cancelled() else work.result()


async def _stalled(work: asyncio.Task[T], moved: asyncio.Event) -> bool:
    """True once there is no progress for long; False when it has ended. An engine that is gone never answers."""
    while not work.done():
        moved.clear()
        await asyncio.wait([work], timeout=_STALL_S)
        if not work.done() and not moved.is_set():
            return True
    return False
