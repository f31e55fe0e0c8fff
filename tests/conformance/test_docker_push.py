"""Pushes to a registry with tokens, and what is left of them in the daemon."""

import asyncio
import io
import os
import tarfile
from collections.abc import AsyncIterator, Iterator

import aiodocker
import pytest
from own_registry import PASSWORD, USERNAME, OwnRegistry, own_registry
from tiny_image import ensure_tiny_image

from carrel.engines.docker import DockerEngine
from carrel.engines.port import EngineError, Progress, PullCredentials


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnRegistry]:
    with own_registry(tmp_path_factory.mktemp("registry") / "files") as running:
        yield running


async def test_an_image_is_pushed_under_another_name_which_the_daemon_does_not_keep(
    docker_engine: DockerEngine, docker: aiodocker.Docker, registry: OwnRegistry, installation: str
) -> None:
    image, target = await ensure_tiny_image("layer"), f"{registry.host}/{installation}/app-layer:1"
    seen: list[Progress] = []
    credentials = PullCredentials(registry.host, USERNAME, PASSWORD)
    digest = await docker_engine.push_image(image, target, seen.append, credentials)
    assert seen[-1].fraction == 1.0
    client = registry._client(f"{installation}/app-layer")
    accept = {"Accept": "application/vnd.docker.distribution.manifest.v2+json"}
    there = client.head(f"/v2/{installation}/app-layer/manifests/1", headers=accept)
    assert there.headers["docker-content-digest"] == digest
    assert target not in [name for one in await docker_engine.images() for name in one.references]
    assert await docker_engine.image(image)


async def names(engine: DockerEngine) -> set[str]:
    return {name for one in await engine.images() for name in one.references}


async def test_what_was_pushed_is_pulled_by_its_digest(
    docker_engine: DockerEngine, docker: aiodocker.Docker, registry: OwnRegistry, installation: str
) -> None:
    image, target = await ensure_tiny_image("layer"), f"{registry.host}/{installation}/twice:1"
    credentials = PullCredentials(registry.host, USERNAME, PASSWORD)
    digest = await docker_engine.push_image(image, target, lambda step: None, credentials)
    assert await docker_engine.push_image(image, target, lambda step: None, credentials) == digest
    pinned = f"{registry.host}/{installation}/twice@{digest}"
    pulled = await docker_engine.pull_image(pinned, lambda step: None, credentials)
    assert pulled.id == (await docker_engine.image(image)).id
    await docker_engine.remove_image(pinned)


@pytest.mark.parametrize("secret", ["wrong", ""])
async def test_a_wrong_password_is_no_reason_to_try_again(
    docker_engine: DockerEngine, registry: OwnRegistry, installation: str, secret: str
) -> None:
    image, target = await ensure_tiny_image("layer"), f"{registry.host}/{installation}/denied:1"
    credentials = PullCredentials(registry.host, USERNAME, secret) if secret else None
    with pytest.raises(EngineError) as refused:
        await docker_engine.push_image(image, target, lambda step: None, credentials)
    assert (refused.value.code, refused.value.retriable) == ("push_denied", False)
    assert target not in await names(docker_engine)


async def test_a_registry_that_nobody_reaches_is_tried_again(docker_engine: DockerEngine) -> None:
    image = await ensure_tiny_image("layer")
    with pytest.raises(EngineError) as refused:
        await docker_engine.push_image(image, "127.0.0.1:1/nobody/there:1", lambda step: None)
    assert (refused.value.code, refused.value.retriable) == ("registry_unavailable", True)


@pytest.fixture
async def large_image(docker: aiodocker.Docker, installation: str) -> AsyncIterator[str]:
    """An image with 64 MiB that cannot be compressed."""
    content, packed = os.urandom(64 << 20), io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as context:
        for name, text in (("Dockerfile", b"FROM scratch\nCOPY large /large\n"), ("large", content)):
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            context.addfile(entry, io.BytesIO(text))
    packed.seek(0)
    reference = f"localhost/{installation}/large:1"
    await docker.images.build(fileobj=packed, encoding="gzip", tag=reference, rm=True)
    yield reference
    await docker.images.delete(reference, force=True)


async def test_a_push_that_is_cancelled_leaves_no_tag_there_and_no_name_here(
    docker_engine: DockerEngine, registry: OwnRegistry, installation: str, large_image: str
) -> None:
    target, begun = f"{registry.host}/{installation}/large:1", asyncio.Event()
    credentials = PullCredentials(registry.host, USERNAME, PASSWORD)

    def show(step: Progress) -> None:
        if step.fraction and 0 < step.fraction < 0.9:
            begun.set()

    push = asyncio.create_task(docker_engine.push_image(large_image, target, show, credentials))
    await begun.wait()
    push.cancel()
    with pytest.raises(asyncio.CancelledError):
        await push
    assert target not in await names(docker_engine)
    client = registry._client(f"{installation}/large")
    assert client.head(f"/v2/{installation}/large/manifests/1").status_code == 404
    # As a process that was killed leaves it.
    await docker_engine.tag_image(large_image, target)
    for _ in range(2):
        await docker_engine.discard_push(large_image, target)
    assert target not in await names(docker_engine)
    assert large_image in await names(docker_engine)
    assert (await docker_engine.push_image(large_image, target, show, credentials)).startswith("sha256:")


async def test_the_name_of_another_image_is_not_discarded(
    docker_engine: DockerEngine, registry: OwnRegistry, installation: str, large_image: str
) -> None:
    other, target = await ensure_tiny_image("layer"), f"{registry.host}/{installation}/other:1"
    await docker_engine.tag_image(other, target)
    await docker_engine.discard_push(large_image, target)
    assert target in await names(docker_engine)
    await docker_engine.remove_image(target)


async def test_a_push_without_the_right_says_what_the_registry_said(
    docker_engine: DockerEngine, registry: OwnRegistry, installation: str
) -> None:
    image, target = await ensure_tiny_image("layer"), f"{registry.host}/{installation}/app-layer:1"
    with pytest.raises(EngineError, match="could not be pushed"):
        await docker_engine.push_image(image, target, lambda step: None)
    assert target not in [name for one in await docker_engine.images() for name in one.references]
