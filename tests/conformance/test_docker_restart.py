"""The Docker engine when its daemon is killed and comes back; with a daemon of the test's own."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from own_dockerd import OwnDockerd
from tiny_image import ensure_tiny_image

from carrel.engines.conformance import EngineFaultConformance
from carrel.engines.conformance_kit import FaultyHarness
from carrel.engines.docker import DockerEngine
from carrel.engines.port import Engine


class KilledDaemonHarness:
    pullable_image = unknown_image = shellless_image = ""

    def __init__(self, daemon: OwnDockerd, installation: str, image: str) -> None:
        self.daemon = daemon
        self.image = image
        self.engine: Engine = DockerEngine(daemon.url, installation)

    def another(self) -> Engine:
        raise AssertionError("these tests need only one")

    async def pass_time(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def vanish(self, container: str) -> None:
        raise AssertionError("these tests do not delete behind the engine's back")

    async def exhaust_memory(self, container: str) -> None:
        raise AssertionError("these tests do not run out of memory")

    async def go_away(self) -> None:
        await asyncio.to_thread(self.daemon.kill)

    async def come_back(self) -> None:
        await asyncio.to_thread(self.daemon.start)


@pytest.fixture(scope="module")
def daemon() -> Iterator[OwnDockerd]:
    with OwnDockerd() as daemon:
        yield daemon


@pytest.fixture
async def harness(daemon: OwnDockerd, installation: str) -> AsyncIterator[FaultyHarness]:
    harness = KilledDaemonHarness(daemon, installation, await ensure_tiny_image(url=daemon.url))
    yield harness
    assert isinstance(harness.engine, DockerEngine)
    await harness.engine.purge()
    await harness.engine.close()


class TestKilledDaemon(EngineFaultConformance):
    pass
