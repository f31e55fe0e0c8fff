"""A control plane that can be struck down, or put to sleep, anywhere.

It passes a *point* before and after each commit and each engine call, where it may be killed,
and a *gate* before each transaction and in each engine call, where it may stall and be woken much later.
"""

import asyncio
import contextvars
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from simulation.inline_logs import LOGS
from simulation.virtual_time import LoopClock
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.controllers import runtime as plane
from carrel.controllers.app_layer import AppLayer
from carrel.controllers.audit_sealing import AuditSealing
from carrel.controllers.disk_limits import DiskLimits
from carrel.controllers.disk_space import DiskSpaceWatch
from carrel.controllers.due_deliveries import DueDeliveries
from carrel.controllers.environment_builds import EnvironmentBuilds
from carrel.controllers.environment_images import EnvironmentImages
from carrel.controllers.environment_pushes import EnvironmentPushes
from carrel.controllers.folder_tasks import FolderTasks
from carrel.controllers.housekeeping import Housekeeping
from carrel.controllers.idle import Idle
from carrel.controllers.image_inventory import ImageInventory
from carrel.controllers.image_pulls import ImagePulls
from carrel.controllers.image_scanning import ImageScanning
from carrel.controllers.loop import Controller, Tools
from carrel.controllers.notify import Notify
from carrel.controllers.registry_passwords import RegistryPasswords
from carrel.controllers.registry_scans import RegistryScans
from carrel.controllers.update_checks import UpdateChecks
from carrel.controllers.usage_packing import UsagePacking
from carrel.core.errors import Unavailable
from carrel.core.ids import EngineId
from carrel.db.database import Database
from carrel.db.encryption import SecretBox as Secrets
from carrel.db.leader import Leader, LeadershipLost, lead
from carrel.engines.fake import FakeEngine, FakeWorld
from carrel.engines.port import EngineError, Observed
from carrel.folders.hosts.storages import Storages
from carrel.nodes.engines.connections import Engines

T = TypeVar("T")

CALL_S = 0.1
START_S = 1.6
"""Virtual seconds of an engine's call, and of starting a container: long enough to be seen STARTING."""


class Killed(BaseException):
    """The process is gone. Not an Exception: nothing in it may catch this."""


@dataclass
class Fate:
    """When a control plane is killed (the n-th point) or stalls (the n-th gate); None: never."""

    kill_at: int | None = None
    stall_at: int | None = None
    points: int = 0
    gates: int = 0
    struck: asyncio.Event = field(default_factory=asyncio.Event)
    awake: asyncio.Event = field(default_factory=asyncio.Event)
    look_at_point: Callable[[int, str], None] = lambda number, name: None
    look_at_gate: Callable[[int, str], None] = lambda number, name: None

    def point(self, name: str) -> None:
        if not self.struck.is_set() or self.kill_at is None:
            self.points += 1
            self.look_at_point(self.points, name)
        if self.points == self.kill_at:
            # Whatever else this process is doing ends at its own next point.
            self.struck.set()
            raise Killed(name)

    async def gate(self, name: str) -> None:
        if not self.struck.is_set():
            self.gates += 1
            self.look_at_gate(self.gates, f"{name} {_place()}")
        if self.gates == self.stall_at:
            self.struck.set()
            await self.awake.wait()


def _place() -> str:
    """Where in the controllers, or else by which use case, the gate was reached."""
    frame = sys._getframe(2)
    place = ""
    while frame.f_back is not None:
        frame = frame.f_back
        file = Path(frame.f_code.co_filename)
        if file.parent.name == "controllers" and file.name != "loop.py":
            return f"{file.stem}:{frame.f_lineno}"
        if file.parent.name == "sessions":
            place = frame.f_code.co_name
    return place


class _Database(Database):
    """Passes a gate before each transaction."""

    def __init__(self, url: str, name: str, fate: Fate) -> None:
        named = f"{url}{'&' if '?' in url else '?'}application_name={name}"
        super().__init__(named, pool_size=8, commit_hook=lambda when: fate.point(f"{when} commit"))
        self._fate = fate

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        await self._fate.gate("transaction")
        async with super().transaction() as tx:
            yield tx


class _Engine(FakeEngine):
    """Calls take time, and may be made by a process that dies or stalls in them."""

    def __init__(self, world: FakeWorld, fate: Fate) -> None:
        super().__init__(world)
        self._fate = fate

    async def ensure(self, *arguments: Any) -> Observed:
        self._fate.point("before ensure")
        observed = await super().ensure(*arguments)
        self._fate.point("after ensure")
        return observed

    async def step(self, name: str, act: Callable[[], T]) -> T:
        self._fate.point(f"before {name}")
        await self.world.turn()
        await asyncio.sleep(START_S if name == "ensure.start" else CALL_S)
        await self._fate.gate(name)
        self.world.require_answer(name)
        result = act()
        self._fate.point(f"after {name}")
        return result


_owner: contextvars.ContextVar["ControlPlane | None"] = contextvars.ContextVar("owner", default=None)


def owned_task(
    loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T], **arguments: Any
) -> asyncio.Task[T]:
    task = asyncio.Task(work, loop=loop, **arguments)
    context = arguments.get("context")
    owner = context.get(_owner) if context else _owner.get()
    if owner:
        owner.tasks.add(task)
        task.add_done_callback(owner.tasks.discard)
    return task


def name_of(leader: Leader) -> str:
    """What the database knows a control plane's connections by."""
    return f"plane-{leader.epoch}"


class ControlPlane:
    """One process: a connection pool, an engine client, a leader, its controllers and all their tasks.

    left_out: controllers that a life has no need of.
    """

    left_out: tuple[type[Controller], ...] = (
        FolderTasks,
        Housekeeping,
        Idle,
        Notify,
        DueDeliveries,
        AuditSealing,
        DiskLimits,
        DiskSpaceWatch,
        EnvironmentImages,
        EnvironmentBuilds,
        EnvironmentPushes,
        RegistryScans,
        RegistryPasswords,
        UpdateChecks,
        ImageScanning,
        ImageInventory,
        ImagePulls,
        UsagePacking,
        AppLayer,
    )

    def __init__(self, database: Database, leader: Leader, engines: Engines, fate: Fate) -> None:
        self.database = database
        self.leader = leader
        self.fate = fate
        self.tasks: set[asyncio.Task[Any]] = set()
        tools = Tools(database, engines, LoopClock(), leader, Secrets(b"0" * 32), Storages(database), LOGS)
        self.controllers: list[Controller] = [
            c for c in plane.controllers(tools) if not isinstance(c, self.left_out)
        ]

    @classmethod
    async def start(cls, url: str, worlds: Mapping[EngineId, FakeWorld], fate: Fate) -> "ControlPlane":
        leader = await lead(url)
        database = _Database(url, name_of(leader), fate)
        return cls(database, leader, Engines(database, lambda row: _Engine(worlds[row.id], fate)), fate)

    def begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run something as a part of this process."""
        context = contextvars.copy_context()
        context.run(_owner.set, self)
        return asyncio.get_running_loop().create_task(work, context=context)

    async def round(self) -> None:
        """Step every controller once; what they start goes on beside."""
        for controller in self.controllers:
            try:
                await controller.step()
            except (EngineError, Unavailable, LeadershipLost):
                continue

    async def throw_away(self) -> None:
        while self.tasks:
            for task in list(self.tasks):
                task.cancel()
            await asyncio.wait(list(self.tasks))
        await self.leader.resign()
        await self.database.close()
