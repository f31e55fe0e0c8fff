"""The Docker engine does what every engine does, against a real daemon."""

import asyncio
from collections.abc import AsyncIterator

import aiodocker
import pytest
from tiny_image import docker_url, ensure_tiny_image
from tiny_registry import TinyRegistry

from carrel.engines.conformance import EngineConformance
from carrel.engines.conformance_kit import Harness, eventually, run, running
from carrel.engines.docker import DockerEngine
from carrel.engines.port import Engine


class DockerHarness:
    def __init__(self, engine: DockerEngine, installation: str, docker: aiodocker.Docker) -> None:
        self.engine: Engine = engine
        self.installation = installation
        self.docker = docker
        self.image = self.shellless_image = self.pullable_image = self.unknown_image = ""
        self.others: list[DockerEngine] = []

    def another(self) -> Engine:
        self.others.append(DockerEngine(docker_url(), self.installation))
        return self.others[-1]

    async def pass_time(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def vanish(self, container: str) -> None:
        await self.docker.containers.container(f"carrel-{self.installation}-{container}").delete(force=True)

    async def exhaust_memory(self, container: str) -> None:
        # tail keeps its input in memory until it knows how much of it is wanted
        await run(self.engine, container, "sh", "-c", "head -c 99999999 /dev/zero | tail -c 99999998 | wc -c")


@pytest.fixture
async def harness(
    docker_engine: DockerEngine, installation: str, docker: aiodocker.Docker
) -> AsyncIterator[Harness]:
    harness = DockerHarness(docker_engine, installation, docker)
    harness.image = await ensure_tiny_image()
    harness.shellless_image = await ensure_tiny_image("shellless")
    async with TinyRegistry() as registry:
        harness.pullable_image = registry.add("pullable")
        harness.unknown_image = f"{registry.address}/nowhere:1"
        yield harness
        for engine in harness.others:
            await engine.close()
        await docker_engine.purge()
        await _forget_image(docker, harness.pullable_image)


async def _forget_image(docker: aiodocker.Docker, reference: str) -> None:
    try:
        await docker.images.delete(reference, force=True)
    except aiodocker.DockerError as error:
        if error.status != 404:
            raise


class TestDockerEngine(EngineConformance):
    async def test_a_process_that_is_left_alone_is_hung_up_on(self, harness: Harness) -> None:
        container = await running(harness)
        script = "sleep 4321 & echo up; while true; do :; done"
        async with harness.engine.exec(container, ("sh", "-c", script), env={}, terminal=None) as process:
            assert await anext(process.output()) == (1, b"up\n")

        async def gone() -> bool:
            return b"4321" not in (await run(harness.engine, container, "ps")).stdout

        await eventually(harness, gone, "both processes ended")

    async def test_what_a_finished_command_leaves_behind_stays(self, harness: Harness) -> None:
        container = await running(harness)
        await run(harness.engine, container, "sh", "-c", "sleep 4321 >/dev/null 2>&1 & true")
        assert b"4321" in (await run(harness.engine, container, "ps")).stdout
