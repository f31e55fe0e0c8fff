"""Checks of accelerators: what their containers are made of, and which of them stop the others."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest
from accelerator_kit import ScriptedDevices
from controller_kit import tools
from installation import only
from people import People, eventually

from carrel.accelerators.port import DeviceMetrics
from carrel.controllers import device_checks
from carrel.controllers.device_checks import AcceleratorChecks
from carrel.controllers.loop import Tools
from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.db.leader import lead
from carrel.engines.fake import FakeEngine
from carrel.engines.port import (
    ContainerSpec,
    EngineUnavailable,
    Observed,
    Permit,
    ProgressSink,
    PullCredentials,
)
from carrel.images import service as images
from carrel.images.registries import service as registries
from carrel.images.registries.schemas import RegistryCreate
from carrel.nodes import service as nodes
from carrel.nodes.accelerator_checks import service
from carrel.nodes.accelerator_checks.schemas import AcceleratorCheckCreate, AcceleratorCheckView

METRICS = DeviceMetrics(50, 10 << 30, 80 << 30, 60, 300, 0)


class RecordingEngine(FakeEngine):
    """Remembers what it was asked for. hung: a device whose containers it can neither start nor remove. waits: their
    start hangs.
    """

    def __init__(self) -> None:
        super().__init__()
        self.specs: list[ContainerSpec] = []
        self.hung, self.waits = "", False

    async def ensure(
        self, spec: ContainerSpec, progress: ProgressSink, permit: Permit | None = None
    ) -> Observed:
        self.specs.append(spec)
        if self.hung in spec.devices:
            if self.waits:
                await asyncio.Event().wait()
            raise EngineUnavailable("The engine has not responded.")
        return await super().ensure(spec, progress, permit)

    async def remove(self, container: str, *, grace_s: float, signal: str = "SIGTERM") -> None:
        if any(one.id == container and self.hung in one.devices for one in self.specs):
            raise EngineUnavailable("The engine has not removed it.")
        await super().remove(container, grace_s=grace_s, signal=signal)


@dataclass
class Checking:
    tools: Tools
    engine: RecordingEngine
    people: People

    async def add_image(self, reference: str, architecture: str, size_bytes: int) -> None:
        async with self.tools.database.transaction() as tx:
            await images.register(
                tx,
                name=reference.rpartition("/")[2].partition(":")[0],
                reference=reference,
                title=reference,
                description="",
                size_bytes=size_bytes,
                architecture=architecture,
                apps=[],
                min_slots={},
            )

    async def request(self, *, image: str | None = None) -> AcceleratorCheckView:
        clock = SystemClock()
        async with self.tools.database.transaction() as tx:
            await nodes.record(tx, await self.engine.nodes(), clock.now())
            body = AcceleratorCheckCreate(node="local", image=image)
            return await service.request(tx, clock, self.people.superadmin, body)

    async def step(self, controller: AcceleratorChecks, check: AcceleratorCheckView) -> AcceleratorCheckView:
        await controller.step()
        await controller.drain()
        async with self.tools.database.transaction() as tx:
            return await service.show(tx, self.people.superadmin, check.id)


@pytest.fixture
async def checking(database: Database, people: People) -> AsyncIterator[Checking]:
    leader, engine = await lead(database.url), RecordingEngine()
    engine.world.equip("local", ScriptedDevices(METRICS, METRICS))
    yield Checking(replace(tools(database, leader), engines=only(database, engine)), engine, people)
    await leader.resign()


async def test_containers_are_pulled_as_those_of_sessions_for_the_architecture_of_the_node(
    checking: Checking,
) -> None:
    await checking.add_image("private.example.org/tools/small:1", "arm64", 1)
    await checking.add_image("private.example.org/tools/large:1", "amd64", 2)
    body = RegistryCreate.model_validate(
        {
            "name": "ours",
            "url": "https://private.example.org",
            "mirror": "https://mirror.example.org",
            "username": "puller",
            "secret": "word",
        }
    )
    async with checking.tools.database.transaction() as tx:
        clock, superadmin = SystemClock(), checking.people.superadmin
        await registries.create(tx, checking.tools.seal, clock, superadmin, body)
    check = await checking.step(AcceleratorChecks(checking.tools), await checking.request())
    assert (check.state, check.problem, check.outcome) == ("done", "", "passed")
    assert check.image == "private.example.org/tools/large:1"
    assert {(one.image, one.pull) for one in checking.engine.specs} == {
        ("mirror.example.org/tools/large:1", PullCredentials("mirror.example.org", "puller", "word"))
    }


async def test_a_device_whose_container_cannot_be_removed_is_kept_alone(
    checking: Checking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_checks, "_PAUSE_S", 0)
    checking.engine.hung = "npu0"
    controller = AcceleratorChecks(checking.tools)
    check = await checking.step(controller, await checking.request(image="tiny"))
    assert (check.state, check.problem, check.taken) == (
        "running",
        "The engine has not removed it.",
        ["npu0"],
    )
    assert {one.device: one.outcome for one in check.results} == {"npu0": "failed", "npu1": "passed"}
    # Its results stay, and it ends as soon as the container can be removed.
    checking.engine.hung = ""
    started = len(checking.engine.specs)
    check = await checking.step(controller, check)
    assert (check.state, check.problem, len(check.results)) == ("done", "", 2)
    assert len(checking.engine.specs) == started


async def test_a_cancelled_check_keeps_only_what_cannot_be_removed(
    checking: Checking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_checks, "_PAUSE_S", 0)
    checking.engine.hung, checking.engine.waits = "npu1", True
    controller = AcceleratorChecks(checking.tools)
    check = await checking.request(image="tiny")
    await controller.step()

    async def hangs() -> bool:
        return any("npu1" in one.devices for one in checking.engine.specs)

    await eventually(hangs)
    async with checking.tools.database.transaction() as tx:
        await service.cancel(tx, checking.people.superadmin, check.id)
    check = await checking.step(controller, check)
    assert (check.state, check.taken) == ("running", ["npu1"])
    checking.engine.hung = ""
    assert (await checking.step(controller, check)).state == "cancelled"
