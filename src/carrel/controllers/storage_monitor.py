"""Monitor every storage host: availability, folder sizes, and back-end quotas.

Each host has its own tasks, so a hung one delays only itself. The availability check is separate from other work, so
that a hang is detected.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

import structlog

from carrel.controllers.active_tasks import ActiveTasks, Work
from carrel.controllers.loop import Tools, beside
from carrel.core.ids import FolderId, StorageHostId
from carrel.folders import measuring, quotas
from carrel.folders.hosts import service
from carrel.folders.hosts.storages import HostStorage as HostStorage
from carrel.folders.service import place_of
from carrel.storage.port import (
    Capacity,
    FastUsage,
    FolderLocation,
    HardQuota,
    StorageError,
    StorageUnavailable,
)
from carrel.tables import limits
from carrel.tables import storage_hosts as hosts
from carrel.tables.folders import TOPIC as FILES_CHANGED
from carrel.tables.folders import VFolder
from carrel.tables.storage_hosts import HostState

log = structlog.get_logger()

PROBE_EVERY = timedelta(seconds=10)
_BATCH = 50
_REST = timedelta(seconds=5)
_REST_FACTOR = 10
"""A folder is not measured again for ten times as long as its measurement took, so measuring takes at most a tenth of
the time.
"""


class StorageMonitor:
    name = "storage"
    topics: Sequence[str] = (hosts.TOPIC, limits.TOPIC, FILES_CHANGED)
    tick_s = 5.0
    calm_s = 0.5

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._watches: dict[StorageHostId, _Watch] = {}

    async def step(self) -> None:
        """Start the due tasks of every host without waiting for them."""
        async with self._tools.database.transaction() as tx:
            known = await service.ids(tx)
        for host in self._watches.keys() - known:
            await self._watches.pop(host).close()
        for host in known:
            if host not in self._watches:
                self._watches[host] = _Watch(self._tools, host, await self._tools.storages.of(host))
            self._watches[host].step()

    async def drain(self) -> None:
        """Wait until no task is running."""
        for watch in self._watches.values():
            await watch.drain()

    async def close(self) -> None:
        for watch in self._watches.values():
            await watch.close()
        self._watches.clear()


class _Watch:
    """One host. applied: quotas set on the back end. rests: earliest time of the next measurement by folder."""

    def __init__(self, tools: Tools, host: StorageHostId, storage: HostStorage) -> None:
        self._tools = tools
        self._host = host
        self._storage = storage
        self._active = ActiveTasks[str]()
        self._probed: datetime | None = None
        self._answers = False
        self._applied: dict[str, int | None] = {}
        self._rests: dict[FolderId, datetime] = {}

    def step(self) -> None:
        """Start due tasks that are not running."""
        now = self._tools.clock.now()
        if self._probed is None or now - self._probed >= PROBE_EVERY:
            self._begin("probe", self._probe)
        if self._answers:
            self._begin("work", self._work)

    async def drain(self) -> None:
        await self._active.drain()

    async def close(self) -> None:
        await self._active.close()

    def _begin(self, what: str, work: Work) -> None:
        self._active.begin(what, partial(beside, what, work, host=self._storage.name))

    async def _probe(self) -> None:
        """Check the host and store the result."""
        state, problem, capacity = await self._seen()
        now = self._tools.clock.now()
        async with self._tools.transaction() as tx:
            changed = await service.observe(tx, self._host, state, now, capacity=capacity, problem=problem)
        self._probed, self._answers = now, state is HostState.OK
        if changed:
            say = log.info if self._answers else log.warning
            say("storage.state", host=self._storage.name, state=state, problem=problem)

    async def _seen(self) -> tuple[HostState, str | None, Capacity | None]:
        backend, call = self._storage.backend, self._storage.threads.call
        async with self._tools.database.transaction() as tx:
            known = [backend.files(place_of(folder)) for folder in await measuring.some(tx, self._host)]
        try:
            capacity = await call(backend.probe)
            await call(backend.recognise)
            # Any root is accepted until existing folders are missing from it.
            if known and not any([await call(files.is_dir) for files in known]):
                problem = f"The folders that were in {backend.root} are not there. Is the storage mounted?"
                return HostState.UNAVAILABLE, problem, None
            return HostState.OK, None, capacity
        except StorageUnavailable as error:
            return HostState.UNAVAILABLE, error.message, None
        except StorageError as error:
            return HostState.UNUSABLE, error.message, None
        except OSError as error:
            return HostState.UNUSABLE, f"{backend.root}: {error.strerror}.", None

    async def _work(self) -> None:
        await self._set_quotas()
        backend = self._storage.backend
        now = self._tools.clock.now()
        self._rests = {folder: until for folder, until in self._rests.items() if until > now}
        late = timedelta(seconds=backend.usage_late_s if isinstance(backend, FastUsage) else 0)
        async with self._tools.database.transaction() as tx:
            folders = await measuring.due(tx, self._host, now, limit=_BATCH + len(self._rests), late=late)
        for folder in folders:
            if folder.id not in self._rests:
                await self._measure(folder, late)

    async def _set_quotas(self) -> None:
        """Send changed quotas to a back end that enforces them."""
        backend = self._storage.backend
        if not isinstance(backend, HardQuota):
            return
        async with self._tools.database.transaction() as tx:
            limits = await quotas.limits_on(tx, self._host)
        for scope, most in limits.items():
            if scope not in self._applied or self._applied[scope] != most:
                await self._tools.confirm()
                await self._storage.threads.call(backend.set_quota, scope, most)
                self._applied[scope] = most
        self._applied = {scope: most for scope, most in self._applied.items() if scope in limits}

    async def _measure(self, folder: VFolder, late: timedelta) -> None:
        backend, clock = self._storage.backend, self._tools.clock
        began = clock.now()
        self._rests[folder.id] = began + _REST
        try:
            # Without a timeout, because only this host is affected.
            measured = await self._storage.threads.call(
                backend.measure, FolderLocation(folder.scope, folder.id), deadline_s=None
            )
        except (StorageError, OSError) as error:
            log.warning("storage.not_measured", folder=folder.id, error=str(error))
            self._rests[folder.id] = clock.now() + measuring.MOUNTED_EVERY
            return
        took = clock.now() - began
        self._rests[folder.id] = clock.now() + max(_REST, took * _REST_FACTOR)
        async with self._tools.transaction() as tx:
            await measuring.record(tx, folder, measured, as_of=began - late)
