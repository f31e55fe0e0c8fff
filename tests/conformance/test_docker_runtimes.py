"""Containers with another runtime than the usual one of their Docker daemon."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import aiodocker
import pytest
from conformance.test_docker_attachments import Vendor, small
from own_dockerd import OwnDockerd
from tiny_image import docker_url, ensure_tiny_image

from carrel.accelerators.port import Attachment
from carrel.engines import runtimes
from carrel.engines.conformance_kit import ProgressLog, run
from carrel.engines.docker import DockerEngine
from carrel.engines.port import EngineError


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that the runtime `second` writes, which is runc."""
    return tmp_path_factory.mktemp("runtime") / "used"


@pytest.fixture(scope="module", autouse=True)
def daemon(used: Path) -> Iterator[OwnDockerd]:
    program = used.with_name("second")
    program.write_text(f'#!/bin/sh\necho "$@" >>{used}\nexec runc "$@"\n')
    program.chmod(0o755)
    with (
        OwnDockerd(settings={"runtimes": {"second": {"path": str(program)}}}) as daemon,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("DOCKER_HOST", daemon.url)
        yield daemon


async def test_a_container_runs_with_the_runtime_of_its_group(
    docker_engine: DockerEngine, docker: aiodocker.Docker, installation: str, used: Path
) -> None:
    image = await ensure_tiny_image()
    (node,) = await docker_engine.nodes()
    assert {"runc", "second"} <= set(runtimes.names(node.capabilities))
    usual, other = small(image), replace(small(image), runtime="second")
    for spec in (usual, other):
        await docker_engine.ensure(spec, ProgressLog())
        assert (await run(docker_engine, spec.id, "echo", "there")).stdout == b"there\n"
        inspected = await docker.containers.container(f"carrel-{installation}-{spec.id}").show()
        assert inspected["HostConfig"]["Runtime"] == (spec.runtime or "runc")
        assert used.exists() == bool(spec.runtime)


async def test_accelerators_with_another_runtime_are_refused(installation: str) -> None:
    vendor = Vendor(Attachment(runtime="second"))
    engine = DockerEngine(docker_url(), installation, accelerators=[vendor])
    spec = replace(small(await ensure_tiny_image()), devices={"one": 1000})
    try:
        await engine.ensure(replace(spec, runtime="second"), ProgressLog())
        await engine.remove(spec.id, grace_s=0)
        with pytest.raises(
            EngineError, match="need the runtime second, and sessions of the resource group"
        ) as refused:
            await engine.ensure(replace(spec, runtime="runc"), ProgressLog())
        assert not refused.value.retriable
    finally:
        await engine.purge()
        await engine.close()
