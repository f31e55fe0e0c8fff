"""Engines over real daemons, with everything they made taken away afterwards."""

import uuid
from collections.abc import AsyncIterator

import aiodocker
import pytest
from tiny_image import docker_url

from carrel.engines.docker import DockerEngine

pytest.register_assert_rewrite("carrel.engines.conformance", "carrel.engines.conformance_kit")


@pytest.fixture
def installation() -> str:
    """A name that no other test run uses in the same daemon."""
    return f"test-{uuid.uuid4().hex[:8]}"


@pytest.fixture
async def docker_engine(installation: str) -> AsyncIterator[DockerEngine]:
    """An engine over the machine's daemon. There is no skipping: without a daemon this is an error."""
    engine = DockerEngine(docker_url(), installation)
    await engine.nodes()
    yield engine
    await engine.purge()
    await engine.close()


@pytest.fixture
async def docker() -> AsyncIterator[aiodocker.Docker]:
    """The daemon itself, to look behind the engine's back."""
    async with aiodocker.Docker(url=docker_url()) as client:
        yield client
