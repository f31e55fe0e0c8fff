"""Runs the synchronous SDK beside an event loop, each call in its own thread.

Threads are daemons, so that a cancelled call to an unresponsive server does not prevent the program from ending.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import TypeVar

from carrel_client.errors import CarrelError
from carrel_client.sdk.sessions import Session, Until, require_running

T = TypeVar("T")
R = TypeVar("R")
_PREFETCH = 64
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 2.0


async def call(function: Callable[[], T]) -> T:
    """The function's result. If cancelled, the thread continues and its result is dropped."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def work() -> None:
        result, error = None, None
        try:
            result = function()
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=work, daemon=True, name="carrel-call").start()
    return await done


async def iterate(start: Callable[[], Iterator[T]], wrap: Callable[[T], R]) -> AsyncIterator[R]:
    """The items of an iterator that blocks, wrapped. One thread reads ahead, by a bounded number of items."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[tuple[list[T], BaseException | None]] = asyncio.Queue()
    credit = threading.Semaphore(_PREFETCH)
    left = threading.Event()

    def give(items: list[T], end: BaseException | None = None) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(arrived.put_nowait, (items, end))

    def work() -> None:
        try:
            for item in start():
                give([item])
                credit.acquire()
                if left.is_set():
                    return
            give([], StopAsyncIteration())
        except BaseException as raised:
            give([], raised)

    threading.Thread(target=work, daemon=True, name="carrel-iterate").start()
    try:
        while True:
            items, end = await arrived.get()
            if isinstance(end, StopAsyncIteration):
                return
            if end:
                raise end
            for item in items:
                credit.release()
                yield wrap(item)
    finally:
        left.set()
        credit.release()


async def wait(session: Session, until: Until, timeout_s: float | None) -> None:
    """As `Session.wait`, by polling with growing pauses, so that nothing remains if it is cancelled."""
    pause_s = _FIRST_PAUSE_S
    try:
        async with asyncio.timeout(timeout_s):
            await call(session.refresh)
            while not (session.ended or (until == "running" and session.running)):
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)
                await call(session.refresh)
    except TimeoutError:
        raise CarrelError(
            "client.wait_timeout",
            f"{session.name} is still {session.state} after {timeout_s:g} seconds.",
            status=504,
        ) from None
    if until == "running":
        require_running(session)
