"""Pushes to a registry with tokens, and what is left of them in the daemon."""

from collections.abc import Iterator

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


async def test_a_push_without_the_right_says_what_the_registry_said(
    docker_engine: DockerEngine, registry: OwnRegistry, installation: str
) -> None:
    image, target = await ensure_tiny_image("layer"), f"{registry.host}/{installation}/app-layer:1"
    with pytest.raises(EngineError, match="could not be pushed"):
        await docker_engine.push_image(image, target, lambda step: None)
    assert target not in [name for one in await docker_engine.images() for name in one.references]
