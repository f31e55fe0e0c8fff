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

from carrel.core.ids import new_id
from carrel.engines.docker import DockerEngine
from carrel.engines.docker.push_names import mark
from carrel.engines.port import ContainerSpec, EngineError, Progress, PullCredentials


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
    # Sessions do not wait until it has ended.
    async with asyncio.timeout(1.0), docker_engine._push_names.use(target):
        assert not {mark(target), target} & await names(docker_engine)
    push.cancel()
    with pytest.raises(asyncio.CancelledError):
        await push
    assert target not in await names(docker_engine)
    client = registry._client(f"{installation}/large")
    assert client.head(f"/v2/{installation}/large/manifests/1").status_code == 404
    # As a process that was killed leaves it.
    for name in (mark(target), target):
        await docker_engine.tag_image(large_image, name)
    for _ in range(2):
        await docker_engine.discard_push(large_image, target)
    assert not {mark(target), target} & await names(docker_engine)
    assert large_image in await names(docker_engine)
    assert (await docker_engine.push_image(large_image, target, show, credentials)).startswith("sha256:")


async def test_the_name_of_another_image_stays_its_own(
    docker_engine: DockerEngine, registry: OwnRegistry, installation: str, large_image: str
) -> None:
    other, target = await ensure_tiny_image("layer"), f"{registry.host}/{installation}/other:1"
    credentials = PullCredentials(registry.host, USERNAME, PASSWORD)
    await docker_engine.tag_image(other, target)
    with pytest.raises(EngineError) as refused:
        await docker_engine.push_image(large_image, target, lambda step: None, credentials)
    assert (refused.value.code, refused.value.retriable) == ("push_name_in_use", False)
    await docker_engine.discard_push(large_image, target)
    assert (await docker_engine.image(target)).id == (await docker_engine.image(other)).id
    await docker_engine.remove_image(target)


async def test_a_name_that_the_image_had_before_stays(
    docker_engine: DockerEngine, registry: OwnRegistry, installation: str
) -> None:
    image, target = await ensure_tiny_image("layer"), f"{registry.host}/{installation}/had:1"
    credentials = PullCredentials(registry.host, USERNAME, PASSWORD)
    await docker_engine.tag_image(image, target)
    await docker_engine.push_image(image, target, lambda step: None, credentials)
    await docker_engine.discard_push(image, target)
    assert target in await names(docker_engine)
    await docker_engine.remove_image(target)


async def test_a_digest_of_a_push_does_not_keep_the_image(
    docker_engine: DockerEngine, registry: OwnRegistry, installation: str, large_image: str
) -> None:
    target = f"{registry.host}/{installation}/digest:1"
    credentials = PullCredentials(registry.host, USERNAME, PASSWORD)
    await docker_engine.push_image(large_image, target, lambda step: None, credentials)
    [stored] = [one for one in await docker_engine.images() if large_image in one.references]
    assert stored.digests == ()


async def test_no_session_starts_from_the_name_of_a_push(
    docker_engine: DockerEngine, docker: aiodocker.Docker, installation: str
) -> None:
    """The registry does not answer, so the name stays."""
    image, connected = await ensure_tiny_image(), asyncio.Event()
    server = await asyncio.start_server(lambda *streams: connected.set(), "127.0.0.1", 0)
    target = f"127.0.0.1:{server.sockets[0].getsockname()[1]}/{installation}/hidden:1"
    push = asyncio.create_task(docker_engine.push_image(image, target, lambda step: None))
    await connected.wait()
    assert target in await names(docker_engine)
    spec = ContainerSpec(new_id(), target, {"cpu": 500, "mem": 64 << 20})
    start = asyncio.create_task(docker_engine.ensure(spec, lambda step: None))
    pull = asyncio.create_task(docker_engine.pull_image(target, lambda step: None))
    assert not (await asyncio.wait([start, pull], timeout=2.0))[0]
    server.close()
    push.cancel()
    for task, reason in ((push, asyncio.CancelledError), (start, EngineError), (pull, EngineError)):
        with pytest.raises(reason):
            await task
    assert spec.id not in [one.id for one in await docker_engine.list()]


async def test_a_push_without_the_right_says_what_the_registry_said(
    docker_engine: DockerEngine, registry: OwnRegistry, installation: str
) -> None:
    image, target = await ensure_tiny_image("layer"), f"{registry.host}/{installation}/app-layer:1"
    with pytest.raises(EngineError, match="could not be pushed"):
        await docker_engine.push_image(image, target, lambda step: None)
    assert target not in [name for one in await docker_engine.images() for name in one.references]
