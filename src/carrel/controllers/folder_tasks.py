"""Run long folder operations, and finish interrupted ones.

A task is a row. A thread of its storage host works on it, reports progress and can be cancelled. A task keeps no
intermediate state, so after a crash it starts again. Its outcome is decided in one transaction (`folders.outcomes`),
and the remaining cleanup is stored in the row.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.controllers.active_tasks import ActiveTasks, Work
from carrel.controllers.loop import Tools, beside, end
from carrel.core.errors import CarrelError, Unavailable
from carrel.core.ids import FolderId, StorageHostId
from carrel.db.leader import LeadershipLost
from carrel.folders import outcomes, quotas, service
from carrel.folders.hosts.storages import HostStorage
from carrel.folders.service import place_of
from carrel.storage import tree, whole_folders
from carrel.storage.port import Advance, FolderLocation
from carrel.tables.folder_states import FolderState
from carrel.tables.folders import TASKS, FolderTask, TaskKind, TaskState, VFolder

log = structlog.get_logger()

_STORE_EVERY_S = 0.5
_PAUSE_S = 5.0
_CERTAIN_FOR = timedelta(seconds=5)
_AT_ONCE = 2
_COPIES = frozenset({TaskKind.CLONE, TaskKind.MOVE, TaskKind.COPY})


class _Cancelled(Exception):
    """The task was cancelled."""


class _Dropped(Exception):
    """This process may no longer work on the task."""


class _Gauge:
    """Progress of a thread, and the reason to stop it."""

    def __init__(self) -> None:
        self.latest: Advance | None = None
        self.ended: type[Exception] | None = None

    def tick(self, advance: Advance) -> None:
        self.latest = advance
        if self.ended is not None:
            raise self.ended


class FolderTasks:
    """Concurrency limits per storage host, and per pair of hosts for copies.

    So a hung host delays only tasks that use it.
    """

    name = "folders"
    topics = (TASKS,)
    tick_s = 5.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._active = ActiveTasks[Hashable]()
        self._rooms: dict[Hashable, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(_AT_ONCE))

    async def step(self) -> None:
        """Start every due task that is not running."""
        async with self._tools.transaction() as tx:
            half_made = await outcomes.half_made(tx, self._tools.clock.now())
            tasks = await outcomes.to_do(tx)
        for folder in half_made:
            self._take_up(folder.id, partial(self._finish, folder))
        for task in tasks:
            self._take_up(task.id, _Work(self._tools, self._rooms, task).do)

    def _take_up(self, key: Hashable, work: Work) -> None:
        self._active.begin(key, partial(beside, "folders", partial(_kept, work), key=str(key)))

    async def drain(self) -> None:
        """Wait until no task is running."""
        await self._active.drain()

    async def close(self) -> None:
        """Cancel all tasks. Threads end at their next tick; hung threads are not awaited."""
        await self._active.close()

    async def _finish(self, folder: VFolder) -> None:
        """Create the folder's directory for an interrupted creation."""
        storage = await self._tools.storages.of(folder.host_id)
        try:
            async with self._rooms[folder.host_id, "make"]:
                await storage.call(storage.backend.create, place_of(folder))
        except Unavailable as error:
            log.warning("folders.not_made", folder=folder.id, error=error.message)
            await asyncio.sleep(_PAUSE_S)
            return
        except CarrelError as error:
            async with self._tools.transaction() as tx:
                await service.settle(tx, folder.id, FolderState.FAILED, reason=error.message)
            return
        async with self._tools.transaction() as tx:
            await service.settle(tx, folder.id, FolderState.READY)


class _Work:
    """Run one task until it ends or its next attempt is due."""

    def __init__(self, tools: Tools, rooms: dict[Hashable, asyncio.Semaphore], task: FolderTask) -> None:
        self._tools = tools
        self._rooms = rooms
        self._task = task
        self._attempt = f"task-{task.id}.{tools.leader.epoch}"
        self._advance: Advance | None = None

    async def do(self) -> None:
        """Advance the task as far as possible."""
        async with self._tools.database.transaction() as tx:
            folder = await self._folder(tx, self._task.folder_id)
            other = await self._other(tx)
        if folder is None:  # its folder is gone
            async with self._tools.transaction() as tx:
                await outcomes.done(tx, self._task.id, None, self._now())
            return
        async with self._rooms[self._touches(folder, other or folder), self._task.kind in _COPIES]:
            await self._begun(folder.id)

    def _touches(self, folder: VFolder, other: VFolder) -> frozenset[str]:
        """The storage hosts that the task reads from and writes to."""
        arguments = self._task.arguments
        if "clear" in arguments:
            return frozenset({arguments["clear"]["host"]})
        return frozenset({folder.host_id, other.host_id, arguments.get("host", folder.host_id)})

    async def _begun(self, folder_id: FolderId) -> None:
        # 1. reload the state, which may have changed while we waited
        async with self._tools.transaction() as tx:
            task = await outcomes.begin(tx, self._task.id, self._now())
            folder = await self._folder(tx, folder_id)
            if task is None or folder is None:
                return
            self._task = task
            other = await self._other(tx)
        # 2. run it
        try:
            if task.cancel and "outcome" not in task.arguments:
                raise _Cancelled
            await self._act(folder, other or folder)
        except _Cancelled:
            await self._give_up(TaskState.CANCELLED, None)
        except (CarrelError, OSError) as error:
            await self._hindered(folder, error)

    async def _act(self, folder: VFolder, other: VFolder) -> None:
        match TaskKind(self._task.kind):
            case TaskKind.CLONE:
                await self._clone(folder, other)
            case TaskKind.MOVE if "clear" in self._task.arguments:
                await self._clear(folder)
            case TaskKind.MOVE:
                await self._move(folder)
            case TaskKind.REMOVE:
                await self._remove(folder)
            case TaskKind.COPY:
                await self._copy(folder, other)
            case TaskKind.CLEAN:
                await self._clean(folder)

    async def _clone(self, folder: VFolder, source: VFolder) -> None:
        await self._bring(source, folder.host_id, place_of(folder))
        async with self._tools.transaction() as tx:
            await outcomes.copied(tx, self._task.id, self._advance, self._now())

    async def _move(self, folder: VFolder) -> None:
        host = StorageHostId(self._task.arguments["host"])
        place = FolderLocation(self._task.arguments["scope"], folder.id)
        if host == folder.host_id:
            storage = await self._tools.storages.of(host)
            await self._call(storage, whole_folders.rehome, storage.backend, place_of(folder), place)
        else:
            await self._bring(folder, host, place)
        async with self._tools.transaction() as tx:
            moved = await outcomes.moved(tx, self._task.id, host, place, self._now())
        if moved is not None:
            self._task = moved
            await self._clear(folder)

    async def _bring(self, source: VFolder, host: StorageHostId, place: FolderLocation) -> None:
        """Copy the source to this place and publish it atomically."""
        here = await self._tools.storages.of(host)
        there = await self._tools.storages.of(source.host_id)
        await self._between(
            there,
            here,
            whole_folders.fill,
            there.backend,
            place_of(source),
            here.backend,
            place,
            self._attempt,
        )
        await self._tools.confirm()
        await here.call(whole_folders.show, here.backend, place, self._attempt)

    async def _clear(self, folder: VFolder) -> None:
        """Remove leftovers at the old or intended place, then end the task."""
        arguments = self._task.arguments
        left = arguments["clear"]
        storage = await self._tools.storages.of(StorageHostId(left["host"]))
        shown, self._advance = self._advance, None
        await self._call(
            storage, storage.backend.remove, FolderLocation(left["scope"], folder.id), shown=False
        )
        async with self._tools.transaction() as tx:
            outcome = TaskState(arguments["outcome"])
            if outcome is TaskState.DONE:
                await outcomes.done(tx, self._task.id, shown, self._now())
            else:
                await outcomes.failed(tx, self._task.id, outcome, self._task.problem, self._now())

    async def _remove(self, folder: VFolder) -> None:
        storage = await self._tools.storages.of(folder.host_id)
        await self._call(storage, storage.backend.remove, place_of(folder))
        async with self._tools.transaction() as tx:
            await outcomes.removed(tx, self._task.id, self._advance, self._now())

    async def _copy(self, folder: VFolder, target: VFolder) -> None:
        here = await self._tools.storages.of(target.host_id)
        there = await self._tools.storages.of(folder.host_id)
        source = there.backend.files(place_of(folder))
        place, arguments = place_of(target), self._task.arguments
        files, stage = here.backend.files(place), here.backend.stage(place)
        entry, clash = f"task-{self._task.id}", tree.Clash(arguments["clash"])
        async with self._tools.database.transaction() as tx:
            room = await quotas.room_of(tx, target.scope)
        copy = partial(tree.copy, renamed=arguments.get("name"), room=room)
        await self._between(
            there, here, copy, source, arguments["paths"], files, stage, entry, arguments["to"], clash
        )
        async with self._tools.transaction() as tx:
            await outcomes.files_copied(tx, self._tools.clock, self._task.id, target, entry, self._advance)

    async def _clean(self, folder: VFolder) -> None:
        storage, place = await self._tools.storages.of(folder.host_id), place_of(folder)
        entry = self._task.arguments.get("entry")
        if entry is None:
            await self._call(storage, storage.backend.remove, place)
        else:
            await self._call(storage, tree.discard, storage.backend.stage(place), entry)
        async with self._tools.transaction() as tx:
            await outcomes.done(tx, self._task.id, self._advance, self._now())

    async def _hindered(self, folder: VFolder, error: CarrelError | OSError) -> None:
        """Schedule another attempt, or end a task that would fail again."""
        message = error.message if isinstance(error, CarrelError) else error.strerror or str(error)
        arguments = self._task.arguments
        must_happen = (
            self._task.kind in (TaskKind.REMOVE, TaskKind.CLEAN)
            or "clear" in arguments
            or (self._task.kind == TaskKind.MOVE and arguments["host"] == folder.host_id)
        )
        log.warning("folders.hindered", task=self._task.id, kind=self._task.kind, error=message)
        if must_happen or isinstance(error, Unavailable):
            async with self._tools.transaction() as tx:
                await outcomes.hindered(tx, self._task.id, message)
            await asyncio.sleep(_PAUSE_S)
        else:
            await self._give_up(TaskState.FAILED, message)

    async def _give_up(self, state: TaskState, problem: str | None) -> None:
        task, clock = self._task, self._tools.clock
        async with self._tools.transaction() as tx:
            match TaskKind(task.kind):
                case TaskKind.CLONE:
                    await outcomes.not_copied(tx, clock, task.id, state, problem)
                case TaskKind.MOVE:
                    await outcomes.not_moved(tx, task.id, state, problem)
                case TaskKind.COPY:
                    await outcomes.files_not_copied(tx, clock, task.id, f"task-{task.id}", state, problem)
                case _:
                    await outcomes.failed(tx, task.id, state, problem, self._now())

    async def _between(
        self, there: HostStorage, here: HostStorage, work: Callable[..., Any], *arguments: object
    ) -> None:
        """Copy between storages; errors name the unresponsive one."""
        try:
            await self._call(here, work, *arguments)
        except Unavailable:
            await there.call(there.backend.recognise)
            raise

    async def _call(
        self, storage: HostStorage, work: Callable[..., Any], *arguments: object, shown: bool = True
    ) -> None:
        """Run long work in the storage and report progress. shown: its progress counts for the task."""
        # Check leadership again right before the start: this process may have been suspended meanwhile.
        await self._tools.confirm()
        certain = self._now()

        def soon(*given: object) -> object:
            if self._now() - certain > _CERTAIN_FOR:
                raise _Dropped
            return work(*given)

        gauge = _Gauge()
        storing = asyncio.Lock()
        reporter = asyncio.create_task(self._store_progress(gauge, storing, shown=shown))
        try:
            await storage.call(soon, *arguments, gauge.tick, deadline_s=None)
        finally:
            gauge.ended = gauge.ended or _Dropped
            await end(reporter, storing)
        if shown:
            self._advance = gauge.latest

    async def _store_progress(self, gauge: _Gauge, storing: asyncio.Lock, *, shown: bool) -> None:
        """Store the progress twice a second. An error here stops the work."""
        published: Advance | None = None
        try:
            while True:
                latest = gauge.latest if shown else None
                async with storing, self._tools.transaction() as tx:
                    news = latest if latest != published else None
                    unwanted = await outcomes.advanced(tx, self._task.id, news)
                published = latest
                if unwanted and shown:
                    gauge.ended = _Cancelled
                await asyncio.sleep(_STORE_EVERY_S)
        except (Unavailable, LeadershipLost) as error:
            log.warning("folders.not_told", task=self._task.id, error=str(error))
        finally:
            gauge.ended = gauge.ended or _Dropped

    async def _other(self, tx: AsyncSession) -> VFolder | None:
        """The other folder of a copy, if it is not the task's own."""
        arguments = self._task.arguments
        return await self._folder(tx, arguments.get("source") or arguments.get("folder"))

    async def _folder(self, tx: AsyncSession, folder: str | None) -> VFolder | None:
        return await tx.get(VFolder, folder) if folder else None

    def _now(self) -> datetime:
        return self._tools.clock.now()


async def _kept(work: Callable[[], Awaitable[None]]) -> None:
    """Run it; a later step retries after errors or a lost race."""
    try:
        await work()
    except _Dropped:
        log.warning("folders.dropped")
