"""The fake engine does what every engine does."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from carrel.engines.conformance import EngineConformance, EngineFaultConformance
from carrel.engines.conformance_disk import DiskLimitConformance
from carrel.engines.conformance_kit import FaultyHarness
from carrel.engines.conformance_mounts import MountConformance
from carrel.engines.conformance_networks import BarrierConformance, NetworkConformance
from carrel.engines.conformance_optional import OptionalConformance
from carrel.engines.conformance_start import StartConformance
from carrel.engines.fake import FakeEngine, FakeWorld, VirtualClock
from carrel.engines.optional import HostUsage
from carrel.engines.port import DISK_LIMIT, Engine


class FakeHarness:
    image = "present:1"
    pullable_image = "elsewhere:1"
    unknown_image = "nowhere:1"
    shellless_image = "mute:1"
    measures_disk = True
    lacks = frozenset[str]()

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.world = FakeWorld(self.clock)
        self.world.local_images = {self.image, self.shellless_image}
        self.world.unknown_images = {self.unknown_image}
        self.world.shellless_images = {self.shellless_image}
        self.world.nodes = [
            replace(node, capabilities=node.capabilities | {DISK_LIMIT}) for node in self.world.nodes
        ]
        self.world.hosts = {"local": HostUsage("local", 1, 1, 1, 1, 1, 1, 1, 2)}
        self.engine: Engine = FakeEngine(self.world)

    def another(self) -> Engine:
        return FakeEngine(self.world)

    async def pass_time(self, seconds: float) -> None:
        await self.clock.advance(seconds)

    async def vanish(self, container: str) -> None:
        self.world.vanish(container)

    async def exhaust_memory(self, container: str) -> None:
        self.world.run_out_of_memory(container, main=False)

    async def transfer(self, container: str) -> None:
        self.world.containers[container].transfers = (1 << 20, 4 << 20, 100, 100)
        self.world.containers[container].disk_bytes = 4 << 20
        await self.pass_time(1)

    async def write(self, container: str, size_bytes: int) -> bool:
        return self.world.write_disk(container, size_bytes)

    async def delete_written(self, container: str) -> None:
        self.world.containers[container].disk_bytes = 0

    async def limits(self, container: str) -> Mapping[str, int]:
        return self.world.containers[container].spec.slots

    async def go_away(self) -> None:
        self.world.restart()
        self.world.go_away()

    async def come_back(self) -> None:
        self.world.come_back()


@pytest.fixture
def harness() -> FaultyHarness:
    return FakeHarness()


class TestFakeEngine(EngineConformance):
    pass


class TestFakeNetworks(NetworkConformance, BarrierConformance):
    pass


class TestFakeEngineOptional(OptionalConformance):
    pass


class TestFakeEngineMounts(MountConformance):
    pass


class TestFakeEngineStart(StartConformance):
    pass


class TestFakeEngineDisk(DiskLimitConformance):
    pass


class TestFakeEngineFaults(EngineFaultConformance):
    pass
