"""Checks of accelerators: what their containers are made of, and which of them stop the others."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest
from accelerator_kit import ScriptedDevices
from controller_kit import tools
from installation import only
from people import People

from carrel.accelerators.port import DeviceMetrics
from carrel.controllers.device_checks import AcceleratorChecks
from carrel.controllers.loop import Tools
from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.db.leader import lead
from carrel.engines.fake import FakeEngine
from carrel.engines.port import ContainerSpec, Observed, Permit, ProgressSink, PullCredentials
from carrel.images import service as images
from carrel.images.registries import service as registries
from carrel.images.registries.schemas import RegistryCreate
from carrel.nodes import service as nodes
from carrel.nodes.accelerator_checks import service
from carrel.nodes.accelerator_checks.schemas import AcceleratorCheckCreate, AcceleratorCheckView

METRICS = DeviceMetrics(50, 10 << 30, 80 << 30, 60, 300, 0)


class RecordingEngine(FakeEngine):
    """Remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.specs: list[ContainerSpec] = []

    async def ensure(
        self, spec: ContainerSpec, progress: ProgressSink, permit: Permit | None = None
    ) -> Observed:
        self.specs.append(spec)
        return await super().ensure(spec, progress, permit)


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

    async def check(self) -> AcceleratorCheckView:
        clock = SystemClock()
        async with self.tools.database.transaction() as tx:
            await nodes.record(tx, await self.engine.nodes(), clock.now())
            body = AcceleratorCheckCreate(node="local")
            requested = await service.request(tx, clock, self.people.superadmin, body)
        controller = AcceleratorChecks(self.tools)
        await controller.step()
        await controller.drain()
        async with self.tools.database.transaction() as tx:
            return await service.show(tx, self.people.superadmin, requested.id)


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
    check = await checking.check()
    assert (check.state, check.problem, check.outcome) == ("done", "", "passed")
    assert check.image == "private.example.org/tools/large:1"
    assert {(one.image, one.pull) for one in checking.engine.specs} == {
        ("mirror.example.org/tools/large:1", PullCredentials("mirror.example.org", "puller", "word"))
    }
