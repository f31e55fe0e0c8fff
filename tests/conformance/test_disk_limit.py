"""A Docker daemon on Btrfs limits what containers write."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import aiodocker
import pytest
from btrfs_disk import btrfs_disk
from conformance.test_docker import DockerHarness
from own_dockerd import OwnDockerd
from tiny_image import ensure_tiny_image

from carrel.engines.conformance_disk import LIMIT, DiskHarness, DiskLimitConformance
from carrel.engines.conformance_kit import MIB, ProgressLog, run, spec
from carrel.engines.docker import DockerEngine


@pytest.fixture(scope="module", autouse=True)
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnDockerd]:
    with (
        btrfs_disk(tmp_path_factory.mktemp("disk")) as disk,
        OwnDockerd(data=disk / "docker") as daemon,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("DOCKER_HOST", daemon.url)
        yield daemon


class BtrfsHarness(DockerHarness):
    files = 0

    async def write(self, container: str, size_bytes: int) -> bool:
        self.files += 1
        file = f"/home/work/written{self.files}"
        count = str(size_bytes // MIB)
        ran = await run(
            self.engine,
            container,
            "dd",
            "if=/dev/zero",
            f"of={file}",
            "bs=1M",
            f"count={count}",
            "conv=fsync",
        )
        return ran.exit_code == 0

    async def delete_written(self, container: str) -> None:
        await run(self.engine, container, "sh", "-c", "rm /home/work/written*; sync")


@pytest.fixture
async def harness(
    docker_engine: DockerEngine, installation: str, docker: aiodocker.Docker
) -> AsyncIterator[DiskHarness]:
    harness = BtrfsHarness(docker_engine, installation, docker)
    harness.image = await ensure_tiny_image()
    yield harness
    for engine in harness.others:
        await engine.close()
    await docker_engine.purge()


class TestDockerOnBtrfs(DiskLimitConformance):
    async def test_the_image_does_not_count(self, harness: DiskHarness, docker: aiodocker.Docker) -> None:
        big = "localhost/big:1"
        desired = replace(spec(harness), id="base")
        await harness.engine.ensure(desired, ProgressLog())
        assert await harness.write("base", 2 * LIMIT)
        assert isinstance(harness, DockerHarness)
        base = docker.containers.container(f"carrel-{harness.installation}-base")
        await base.commit(repository="localhost/big", tag="1")
        await harness.engine.remove("base", grace_s=0)
        desired = replace(spec(harness, image=big), disk_bytes=LIMIT)
        await harness.engine.ensure(desired, ProgressLog())
        assert await harness.write(desired.id, LIMIT // 2)
        assert not await harness.write(desired.id, LIMIT)


async def test_a_daemon_that_cannot_is_not_asked_to(
    harness: DockerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that was moved to another file system: it refuses, and the container runs without a limit."""
    assert isinstance(harness.engine, DockerEngine)
    call = harness.engine._api.call

    async def refusing(method: str, path: str, **options: object) -> object:
        body = options.get("body")
        if path == "containers/create" and isinstance(body, dict) and "StorageOpt" in body["HostConfig"]:
            raise aiodocker.DockerError(
                500, "--storage-opt is supported only for overlay over xfs with 'pquota' mount option"
            )
        return await call(method, path, **options)  # type: ignore[arg-type]

    await harness.engine.nodes()
    monkeypatch.setattr(harness.engine._api, "call", refusing)
    desired = replace(spec(harness), disk_bytes=LIMIT)
    await harness.engine.ensure(desired, ProgressLog())
    assert await harness.write(desired.id, LIMIT + MIB)
    [node] = await harness.engine.nodes()
    assert "disk-limit" not in node.capabilities
