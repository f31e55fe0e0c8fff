"""Check the accelerators of nodes: when somebody asks for it, and before a device that was out of order is put back.

A check is a row, which has its devices and the ids of its containers before they exist. After a crash the next leader
removes those containers and begins it again; until it has ended no session gets its devices.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import structlog

from carrel.controllers.active_tasks import ActiveTasks
from carrel.controllers.loop import Tools, beside
from carrel.core.errors import NotFound
from carrel.core.ids import AcceleratorCheckId
from carrel.db.database import notify
from carrel.db.encryption import SecretUnreadable
from carrel.engines.port import ContainerSpec, Engine, EngineError, EngineUnavailable
from carrel.engines.references import LOCAL, registry_of
from carrel.images.registries import pulls
from carrel.images.registries.pulls import PullSource
from carrel.nodes import device_conditions
from carrel.nodes.accelerator_checks import check_containers, check_devices, service
from carrel.nodes.accelerator_checks.check_devices import OpenCheck
from carrel.nodes.accelerator_checks.schemas import DeviceResult
from carrel.nodes.engines.connections import in_time
from carrel.nodes.engines.probes import probe_id
from carrel.tables import nodes
from carrel.tables.accelerator_checks import TOPIC, CheckedOutcome, CheckState

log = structlog.get_logger()

_SLOTS = {"cpu": 500, "mem": 1 << 30}
_START_S, _STOP_S = 600.0, 60.0
_PAUSE_S = 5.0
_LONGEST = timedelta(hours=1)
_AT_ONCE = 4
_REQUESTED = 20
"""Most in one step."""
_GONE = "The node is gone."
_HELD = "Sessions hold its accelerators."
_NONE_ASIDE = "None of its accelerators waits for a check any more."
_NO_IMAGE = "The catalogue has no image to check with; name one."
_NOT_KNOWN = PullSource("")
_CANCELLED = "Its containers are being removed."


class _StoppedError(Exception):
    """The check has ended or is to be cancelled."""


class AcceleratorChecks:
    """One check at a time on each node, and a few at once."""

    name = "accelerator_checks"
    topics = (TOPIC,)
    tick_s = 10.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._active = ActiveTasks[AcceleratorCheckId]()
        self._given: defaultdict[AcceleratorCheckId, dict[str, Collection[str]]] = defaultdict(dict)

    async def step(self) -> None:
        """Request checks of devices that may be put back, begin the open ones, and stop those that were cancelled."""
        async with self._tools.transaction() as tx:
            now = self._tools.clock.now()
            for node, device in (await check_devices.to_put_back(tx, now))[:_REQUESTED]:
                await service.add(tx, self._tools.clock, node, device=device)
            due = await check_devices.due(tx)
        for one in due:
            if one.cancel and self._active.about(one.id) != _CANCELLED:
                await self._active.stop(one.id)
            if not one.cancel and self._running() >= _AT_ONCE:
                continue
            work, about = (self._cancel, _CANCELLED) if one.cancel else (self._work, "")
            what = partial(beside, "check of accelerators", partial(work, one), check=one.id)
            self._active.begin(one.id, what, about)

    async def drain(self) -> None:
        """Wait until no check is running."""
        await self._active.drain()

    async def close(self) -> None:
        """Stop all checks; the next leader begins them again."""
        await self._active.close()

    def _running(self) -> int:
        return sum(self._active.about(check) != _CANCELLED for check in self._active)

    async def _cancel(self, one: OpenCheck) -> None:
        await self._carefully(one, self._end(one, CheckState.CANCELLED))

    async def _work(self, one: OpenCheck) -> None:
        await self._carefully(one, self._check(one))

    async def _carefully(self, one: OpenCheck, work: Coroutine[None, None, None]) -> None:
        """Do the work; what stops it is the check's problem."""
        try:
            await work
        except _StoppedError:
            pass
        except EngineUnavailable as error:
            await self._hindered(one, error.message)
        except EngineError as error:
            try:
                await self._end(one, CheckState.FAILED, error.message)
            except EngineError as again:
                await self._hindered(one, again.message)

    async def _check(self, one: OpenCheck) -> None:
        tools = self._tools
        containers = await self._containers(one)
        if containers is None:
            await self._finish(one, CheckState.FAILED, _GONE)
            return
        # 1. what a former leader left, or could not be removed
        await self._clear(one, containers)
        if one.measured:
            await self._finish(one, CheckState.DONE)
            return
        # 2. the devices: no session is placed meanwhile
        async with tools.placing, tools.transaction() as tx:
            devices = await check_devices.take(tx, one.id, tools.clock.now())
            row = await check_devices.locked(tx, one.id)
            if devices is None or row is None:
                return
            await service.publish(tx, row)
            image = row.image
            unenforced = await check_devices.unenforced(tx, row)
        if not devices and row.requested_by is None:
            await self._finish(one, CheckState.CANCELLED, _NONE_ASIDE)
            return
        if not devices or not image:
            await self._finish(one, CheckState.FAILED, _NO_IMAGE if devices else _HELD)
            return
        # 3. the containers
        containers.image = await self._source(image)
        results = await check_containers.run(containers, devices, unenforced=unenforced)
        await self._keep(one, results)
        await self._clear(one, containers)
        await self._finish(one, CheckState.DONE)

    async def _end(self, one: OpenCheck, state: CheckState, problem: str = "") -> None:
        """Remove its containers, and end it. Raises: EngineError; then it stays open, and its devices are taken."""
        if containers := await self._containers(one):
            await self._clear(one, containers)
        await self._finish(one, state, problem)

    async def _clear(self, one: OpenCheck, containers: "_RecordedContainers") -> None:
        """Remove its containers. If some are left, as those of a device that hangs, it keeps only their devices.

        Raises: EngineUnavailable.
        """
        problem = await containers.clear()
        if not problem:
            return
        async with self._tools.transaction() as tx:
            row = await check_devices.locked(tx, one.id)
            if row and containers.given.keys() >= set(row.containers):
                row.taken = [device for device in row.taken if device in containers.left()]
                await tx.flush()
                await service.publish(tx, row)
                await notify(tx, nodes.TOPIC)
        raise EngineUnavailable(problem)

    async def _keep(self, one: OpenCheck, results: Sequence[DeviceResult]) -> None:
        """Store the results; devices that passed and were set aside are put back."""
        passed = [result.device for result in results if result.outcome is CheckedOutcome.PASSED]
        async with self._tools.transaction() as tx:
            row = await check_devices.locked(tx, one.id)
            if row is None:
                return
            row.results = [result.model_dump(mode="json") for result in results]
            await device_conditions.put_back(tx, row.node_id, passed)

    async def _containers(self, one: OpenCheck) -> "_RecordedContainers | None":
        """None: the node is gone."""
        try:
            engine = await self._tools.engines.of(one.engine) if one.engine else None
        except NotFound:
            return None
        return _RecordedContainers(self._tools, one, engine, self._given[one.id]) if engine else None

    async def _source(self, image: str) -> PullSource:
        """Where it is pulled from. Raises: EngineError."""
        if registry_of(image) == LOCAL:
            return PullSource(image)
        try:
            async with self._tools.transaction() as tx:
                return await pulls.source(tx, self._tools.seal, image, project=None)
        except SecretUnreadable as error:
            raise EngineError(error.message, retriable=True) from error

    async def _finish(self, one: OpenCheck, state: CheckState, problem: str = "") -> None:
        """End it: sessions may get its devices."""
        self._given.pop(one.id, None)
        async with self._tools.transaction() as tx:
            row = await check_devices.locked(tx, one.id)
            if row is None:
                return
            row.state, row.problem, row.ended_at = state, problem, self._tools.clock.now()
            row.step, row.containers = "", []
            if state is CheckState.DONE:
                row.progress = 1.0
            outcomes = {result["device"]: result["outcome"] for result in row.results}
            await tx.flush()
            await service.publish(tx, row)
            await notify(tx, nodes.TOPIC)
        log.info("accelerator_checks.ended", check=one.id, node=one.node, state=state, outcomes=outcomes)

    async def _hindered(self, one: OpenCheck, problem: str) -> None:
        """A later step begins it again; after a while it is given up, which removes its containers first."""
        async with self._tools.transaction() as tx:
            row = await check_devices.locked(tx, one.id)
            if row is None:
                return
            row.problem = problem
            row.cancel = row.cancel or self._tools.clock.now() - row.created_at > _LONGEST
            await tx.flush()
            await service.publish(tx, row)
        await asyncio.sleep(_PAUSE_S)


@dataclass
class _RecordedContainers:
    """The containers of a check: recorded before they exist, and forgotten after they are removed. given: the devices
    of those that were started in this process.
    """

    tools: Tools
    check: OpenCheck
    engine: Engine
    given: dict[str, Collection[str]]
    image: PullSource = _NOT_KNOWN

    async def start(self, devices: Mapping[str, int]) -> str:
        container = probe_id(self.tools.clock.now())
        async with self.tools.transaction() as tx:
            row = await check_devices.locked(tx, self.check.id)
            if row is None or row.cancel:
                raise _StoppedError
            row.containers = [*row.containers, container]
        self.given[container] = devices.keys()
        spec = ContainerSpec(
            container,
            self.image.reference,
            _SLOTS,
            devices=devices,
            node=self.check.node,
            pull=self.image.credentials,
            helper=True,
            epoch=self.tools.leader.epoch,
        )
        await in_time(self.engine.ensure(spec, lambda progress: None, self.tools.confirm), _START_S)
        return container

    async def clear(self) -> str:
        async with self.tools.database.transaction() as tx:
            row = await check_devices.locked(tx, self.check.id)
            made = tuple(row.containers) if row else ()
        removed, problem = set(), ""
        for container in made:
            try:
                await in_time(self.engine.remove(container, grace_s=0), _STOP_S)
                removed.add(container)
                self.given.pop(container, None)
            except EngineError as error:
                # An engine that answers may still remove the others.
                await in_time(self.engine.list())
                problem = error.message
        if removed:
            async with self.tools.transaction() as tx:
                if row := await check_devices.locked(tx, self.check.id):
                    row.containers = [one for one in row.containers if one not in removed]
        return problem

    def left(self) -> Collection[str]:
        return frozenset(device for devices in self.given.values() for device in devices)

    async def advance(self, step: str, progress: float) -> None:
        async with self.tools.transaction() as tx:
            row = await check_devices.locked(tx, self.check.id)
            if row is None or row.cancel:
                raise _StoppedError
            row.step, row.progress = step[:200], progress
            await tx.flush()
            await service.publish(tx, row)
