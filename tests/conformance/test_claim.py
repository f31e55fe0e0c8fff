"""What the claim of a label has in a daemon."""

import asyncio
from collections.abc import AsyncIterator

import aiodocker
import pytest
from tiny_image import docker_url, ensure_tiny_image

from carrel.core.ids import new_id
from carrel.engines.conformance_claim import ORIGINAL
from carrel.engines.conformance_kit import ProgressLog, run
from carrel.engines.docker import DockerEngine
from carrel.engines.port import ContainerSpec


@pytest.fixture
async def engine(installation: str) -> AsyncIterator[DockerEngine]:
    """Over the machine's daemon, as the original."""
    engine = DockerEngine(docker_url(), installation, claimant=ORIGINAL)
    yield engine
    await engine.purge()
    await engine.close()


async def test_a_claim_that_somebody_deleted_is_made_again(
    engine: DockerEngine, docker: aiodocker.Docker, installation: str
) -> None:
    await engine.nodes()
    await (await docker.volumes.get(f"carrel-{installation}-claim")).delete()
    await engine.nodes()
    assert await engine.claim.holder() == ORIGINAL


async def test_an_idle_installation_leaves_only_its_claim(
    engine: DockerEngine, docker: aiodocker.Docker, installation: str
) -> None:
    await engine.nodes()
    spec = ContainerSpec(new_id(), await ensure_tiny_image(), {"cpu": 100, "mem": 64 << 20})
    session = (await engine.ensure(spec, ProgressLog())).id
    mine = {"label": [f"carrel.installation={installation}"]}
    rules = await _rules(engine)
    assert rules
    assert await engine.release_if_idle() == 1
    assert await _rules(engine) == rules
    assert len(await docker.networks.list(filters=mine)) == 1
    assert (await run(engine, session, "echo", "alive")).stdout == b"alive\n"
    await engine.remove(session, grace_s=0)
    assert await engine.release_if_idle() == 0
    assert await docker.networks.list(filters=mine) == []
    assert await _rules(engine) == []


async def _rules(engine: DockerEngine) -> list[str]:
    process = await asyncio.create_subprocess_exec(
        "iptables", "-w", "10", "-t", "mangle", "-S", stdout=asyncio.subprocess.PIPE
    )
    listed, _ = await process.communicate()
    return [rule for rule in listed.decode().splitlines() if engine._names.bridge in rule]
