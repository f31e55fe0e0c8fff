"""One loop for every controller.

A controller's `step` is load -> decide -> apply and may run at any time, any number of times. It runs on
notifications of relevant commits, and periodically in any case: a lost notification delays work but never loses it.
"""

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

import psycopg
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.builds.building import BuildRules
from carrel.controllers import metrics
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, NotFound, Unavailable
from carrel.core.ids import EngineId
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.db.leader import Leader, LeadershipLost, lead
from carrel.db.listener import Listener
from carrel.engines.optional import ImageBuilding
from carrel.engines.port import Engine, EngineError, EngineUnavailable
from carrel.folders.hosts.storages import Storages
from carrel.nodes.engines.connections import Engines
from carrel.scanners.scanner import Scanner
from carrel.sessions.logs.store import LogStore
from carrel.storage.port import StorageError
from carrel.tables.engines import TOPIC

log = structlog.get_logger()

ENGINE_TOPIC = "engine"
_HINT_PAUSE_S = 0.25
_PAUSE_S = 1.0
_LOOK_AGAIN_S = 10.0
_FIRST_STEPS_AT_ONCE = 2
"""Each opens a database connection of its own if the others are in use, and all of them stay open."""
_FIRST_STEP_S = 1.0
"""What a first step may take before it no longer counts: one that waits for a server elsewhere delays no other."""


class LayerRecipe(Protocol):
    """How the image of the app layer is made."""

    @property
    def reference(self) -> str:
        """Of the image, with its version; the first call reads files."""
        ...

    async def build(self, engine: ImageBuilding, say: Callable[[str], None]) -> None:
        """Make the image in the engine. Twice: no-op. say: shows a step. Raises: EngineError, Unavailable."""
        ...


@dataclass(frozen=True)
class Tools:
    """Shared tools of controllers. placing: lock around placements and around blocking them. public_url: where links in
    mails and webhooks lead. app_layer: None if sessions are not to have any. key: the installation's. scanner: of
    images; None: none is set up. builds: rules of builds of environments.
    """

    database: Database
    engines: Engines
    clock: Clock
    leader: Leader
    seal: SecretBox
    storages: Storages
    logs: LogStore
    placing: asyncio.Lock = field(default_factory=asyncio.Lock)
    public_url: str = ""
    app_layer: LayerRecipe | None = None
    key: bytes = b""
    scanner: Scanner | None = None
    builds: BuildRules = field(default_factory=BuildRules)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """A transaction that commits only while we lead. Raises: LeadershipLost, Unavailable."""
        async with self.database.transaction() as tx:
            await self.leader.require(tx)
            yield tx

    async def confirm(self) -> None:
        """Check leadership before an irreversible action. Raises: LeadershipLost, Unavailable."""
        async with self.transaction():
            pass


class Controller(Protocol):
    """topics: notifications that wake it. tick_s: period of the fallback. close: stop its background tasks.

    A controller that is not latency-critical may have a calm_s: it steps this long after a notification, once for all
    that arrive meanwhile.
    """

    @property
    def name(self) -> str: ...

    @property
    def topics(self) -> Sequence[str]: ...

    @property
    def tick_s(self) -> float: ...

    async def step(self) -> None: ...

    async def close(self) -> None: ...


def pause_s(tick_s: float, failures: int) -> float:
    """Time to wait for a notification before stepping anyway; shorter after a failure."""
    return min(tick_s, 2.0 ** min(failures, 10) / 2) if failures else tick_s


async def run(controller: Controller, listener: Listener, first: asyncio.Semaphore | None = None) -> None:
    """Step now, on every notification, and every tick. first: limits the first steps. Raises: LeadershipLost."""
    wake = asyncio.Event()
    with contextlib.ExitStack() as stack:
        for topic in controller.topics:
            stack.enter_context(listener.subscribed(topic, wake.set))
        await _run(controller, wake, first)


async def _run(controller: Controller, wake: asyncio.Event, first: asyncio.Semaphore | None) -> None:
    failures = 0
    limited = _briefly(first) if first else contextlib.nullcontext()
    calm_s: float = getattr(controller, "calm_s", 0.0)
    task = asyncio.current_task()
    assert task
    while True:
        try:
            async with limited:
                limited = contextlib.nullcontext()
                with metrics.STEP_SECONDS.labels(controller.name).time():
                    await controller.step()
            metrics.succeeded(controller.name)
            failures = 0
        except LeadershipLost:
            raise
        except (Unavailable, EngineUnavailable) as error:
            failures += 1
            metrics.FAILURES.labels(controller.name).inc()
            log.warning("controller.unavailable", controller=controller.name, error=str(error))
        except Exception:
            failures += 1
            metrics.FAILURES.labels(controller.name).inc()
            log.exception("controller.failed", controller=controller.name)
        if task.cancelling():  # a library made an error of its own of that
            return
        try:
            async with asyncio.timeout(pause_s(controller.tick_s, failures)):
                await wake.wait()
        except TimeoutError:
            pass
        else:
            await asyncio.sleep(calm_s)
        if failures:
            await asyncio.sleep(0.2)
        wake.clear()


@asynccontextmanager
async def _briefly(limit: asyncio.Semaphore) -> AsyncIterator[None]:
    await limit.acquire()
    release = functools.cache(limit.release)  # once
    timer = asyncio.get_running_loop().call_later(_FIRST_STEP_S, release)
    try:
        yield
    finally:
        timer.cancel()
        release()


async def beside(what: str, work: Callable[[], Awaitable[None]], **about: object) -> None:
    """Run background work of a controller. It is not awaited: errors are logged here, and a later step starts it
    again.

    work: a function, because a coroutine would stay unawaited if the task is cancelled before its first step.
    """
    try:
        await work()
    except (CarrelError, StorageError, LeadershipLost) as error:
        log.warning("controller.not_done", work=what, error=str(error), **about)
    except Exception:
        log.exception("controller.work_failed", work=what, **about)
        await asyncio.sleep(_PAUSE_S)


async def end(task: "asyncio.Task[None]", writing: asyncio.Lock) -> None:
    """Cancel a task, but not while it writes: aborting a transaction costs its connection."""
    try:
        async with writing:
            pass
    finally:
        task.cancel()
        await asyncio.wait([task])


async def watch_all(engines: Engines, listener: Listener) -> None:
    """Turn the events of all engines into notifications, as engines are added, changed and removed. Until cancelled."""
    changed = asyncio.Event()
    watching: dict[EngineId, tuple[Engine, asyncio.Task[None]]] = {}
    with listener.subscribed(TOPIC, changed.set):
        try:
            while True:
                changed.clear()
                with contextlib.suppress(Unavailable):
                    await _follow(engines, watching, listener)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK_AGAIN_S):
                        await changed.wait()
        finally:
            for _, task in watching.values():
                task.cancel()


async def _follow(
    engines: Engines, watching: "dict[EngineId, tuple[Engine, asyncio.Task[None]]]", listener: Listener
) -> None:
    """Watch exactly the current engines. Raises: Unavailable."""
    current: dict[EngineId, Engine] = {}
    for known in await engines.ids():
        # An engine with unusable settings has no events.
        with contextlib.suppress(EngineUnavailable, NotFound):
            current[known] = await engines.of(known)
    for known, (engine, task) in list(watching.items()):
        if current.get(known) is not engine:
            task.cancel()
            del watching[known]
    for known in current.keys() - watching.keys():
        watching[known] = current[known], asyncio.create_task(pass_on_hints(current[known], listener))


async def pass_on_hints(engine: Engine, listener: Listener) -> None:
    """Turn the engine's events into notifications, at most two per burst. Until cancelled."""
    hinted = asyncio.Event()
    announcing = asyncio.create_task(_announce(hinted, listener))
    try:
        while True:
            try:
                async for _ in engine.watch():
                    hinted.set()
            except EngineError as error:
                log.warning("engine.watch_lost", error=error.message)
            except Exception:
                log.exception("engine.watch_failed")
            hinted.set()
            await asyncio.sleep(_PAUSE_S)
    finally:
        announcing.cancel()


async def _announce(hinted: asyncio.Event, listener: Listener) -> None:
    while True:
        await hinted.wait()
        hinted.clear()
        listener.announce(ENGINE_TOPIC)
        await asyncio.sleep(_HINT_PAUSE_S)


async def lead_forever(
    url: str, listener: Listener, engines: Engines, make: Callable[[Leader], Sequence[Controller]]
) -> None:
    """Acquire leadership, run the controllers, and repeat whenever leadership is lost."""
    while True:
        try:
            leader = await lead(url)
        except psycopg.Error as error:
            log.warning("leader.database_unavailable", error=str(error).strip())
            await asyncio.sleep(1)
            continue
        log.info("leader.elected", epoch=leader.epoch)
        controllers = make(leader)
        intervals_s = {controller.name: controller.tick_s for controller in controllers}
        try:
            with metrics.leading(leader.epoch, intervals_s):
                await _run_all(leader, controllers, listener, engines)
        except* LeadershipLost:
            pass
        except* Exception:
            # An unexpected error must not stop the loop, or the controllers would never run again.
            log.exception("leader.failed", epoch=leader.epoch)
            await asyncio.sleep(_PAUSE_S)
        finally:
            for controller in controllers:
                await controller.close()
            await leader.resign()
        log.warning("leader.lost", epoch=leader.epoch)


async def _run_all(
    leader: Leader, controllers: Sequence[Controller], listener: Listener, engines: Engines
) -> None:
    """Run the controllers until leadership is lost."""
    async with asyncio.TaskGroup() as group:
        first = asyncio.Semaphore(_FIRST_STEPS_AT_ONCE)
        tasks = [group.create_task(run(controller, listener, first)) for controller in controllers]
        tasks.append(group.create_task(watch_all(engines, listener)))
        await leader.until_lost()
        for task in tasks:
            task.cancel()
