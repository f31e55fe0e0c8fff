"""App layers in a real daemon: how volumes are filled, and what they make of images that have next to nothing."""

import asyncio
import hashlib
import io
import json
import tarfile
from collections.abc import AsyncIterator
from dataclasses import replace

import aiodocker
import pytest
from tiny_image import docker_url, ensure_tiny_image

from carrel.core.host_names import architecture
from carrel.core.ids import new_id
from carrel.engines.conformance_kit import ProgressLog, refused, run
from carrel.engines.docker import DockerEngine
from carrel.engines.port import ContainerSpec, ImageUnusable, ObservedState, run_once


@pytest.fixture
async def layer(
    docker: aiodocker.Docker, docker_engine: DockerEngine, installation: str
) -> AsyncIterator[str]:
    """An app layer with only a shell, as a version that only this test has."""
    image = await ensure_tiny_image("layer")
    repository = f"localhost/{installation}/layer"
    await docker.images.tag(image, repo=repository, tag=installation)
    yield f"{repository}:{installation}"
    await docker_engine.purge()
    await docker.images.delete(f"{repository}:{installation}", force=True)
    await _delete_volumes(docker, installation)


async def _delete_volumes(docker: aiodocker.Docker, version: str) -> None:
    for name in await volumes(docker, version):
        await (await docker.volumes.get(name)).delete()


async def volumes(docker: aiodocker.Docker, version: str) -> list[str]:
    listed = await docker.volumes.list(filters={"name": [f"carrel-layer-{version}"]})
    return sorted(volume["Name"] for volume in listed["Volumes"] or ())


def with_layer(image: str, layer: str) -> ContainerSpec:
    return ContainerSpec(new_id(), image, {"cpu": 500, "mem": 64 << 20}, layer=layer)


@pytest.mark.parametrize("flavour", ["work", "bare", "shellless", "scratch"])
async def test_any_image_has_the_layers_programs(
    docker_engine: DockerEngine, layer: str, flavour: str
) -> None:
    spec = with_layer(await ensure_tiny_image(flavour), layer)
    observed = await docker_engine.ensure(spec, ProgressLog())
    assert observed.state == ObservedState.RUNNING
    script = (
        'echo "$(/opt/carrel/busybox/id -u) $HOME"; : > /tmp/x && : > ~/y && echo writable; '
        "(: > /opt/carrel/bin/z) 2>/dev/null || echo read-only"
    )
    ran = await run(docker_engine, spec.id, "sh", "-c", script)
    assert ran.stdout == b"1000 /home/work\nwritable\nread-only\n", ran


async def test_an_image_keeps_a_shell_of_its_own(docker_engine: DockerEngine, layer: str) -> None:
    spec = with_layer(await ensure_tiny_image("bare"), layer)
    await docker_engine.ensure(spec, ProgressLog())
    ran = await run(docker_engine, spec.id, "readlink", "-f", "/bin/sh")
    assert ran.stdout == b"/bin/busybox\n"


async def test_a_command_runs_in_an_image_that_is_one_program(
    docker_engine: DockerEngine, layer: str
) -> None:
    spec = with_layer(await ensure_tiny_image("scratch"), layer)
    spec = replace(spec, command=run_once(spec.id, ("/true",)), once=True)
    observed = await docker_engine.ensure(spec, ProgressLog())
    while observed.state != ObservedState.EXITED:
        [observed] = await docker_engine.list()
    assert observed.exit_code == 0


async def test_without_a_layer_an_image_without_a_shell_is_refused(docker_engine: DockerEngine) -> None:
    spec = with_layer(await ensure_tiny_image("scratch"), "")
    error = await refused(ImageUnusable, docker_engine.ensure(spec, ProgressLog()))
    assert "app layer" in error.message


async def test_user_entry_point_and_directory_of_an_image_do_not_matter(
    docker_engine: DockerEngine, docker: aiodocker.Docker, layer: str, installation: str
) -> None:
    lines = (
        f"FROM {await ensure_tiny_image('scratch')}\n"
        'USER 4321:4321\nWORKDIR /srv/data\nENTRYPOINT ["/true"]\nCMD ["--serve"]\nENV PYTHONHOME=/nowhere\n'
    ).encode()
    own = f"localhost/{installation}/own:1"
    with io.BytesIO() as context:
        with tarfile.open(fileobj=context, mode="w") as archive:
            _add(archive, "Dockerfile", lines)
        context.seek(0)
        await docker.images.build(fileobj=context, encoding="identity", tag=own)
    try:
        spec = with_layer(own, layer)
        await docker_engine.ensure(spec, ProgressLog())
        ran = await run(docker_engine, spec.id, "sh", "-c", "/opt/carrel/busybox/id -u; pwd")
        assert ran.stdout == b"1000\n/home/work\n"
        await docker_engine.remove(spec.id, grace_s=0)
    finally:
        await docker.images.delete(own, force=True)


async def test_an_image_without_a_shell_for_another_architecture_is_refused(
    docker_engine: DockerEngine, docker: aiodocker.Docker, layer: str, installation: str
) -> None:
    other = "arm64" if (await docker.version())["Arch"] == "amd64" else "amd64"
    foreign = f"localhost/{installation}/foreign:1"
    await docker.images.import_image(data=_image_of(foreign, other))
    try:
        spec = with_layer(foreign, layer)
        error = await refused(ImageUnusable, docker_engine.ensure(spec, ProgressLog()))
        assert architecture(other) in error.message
        await docker_engine.remove(spec.id, grace_s=0)
    finally:
        await docker.images.delete(foreign, force=True)


def _image_of(reference: str, architecture: str) -> bytes:
    """An empty image for an architecture, as `docker load` takes it."""
    with io.BytesIO() as layer:
        with tarfile.open(fileobj=layer, mode="w") as archive:
            _add(archive, "true", b"")
        content = layer.getvalue()
    digest = hashlib.sha256(content).hexdigest()
    rootfs = {"type": "layers", "diff_ids": [f"sha256:{digest}"]}
    config = {"architecture": architecture, "os": "linux", "config": {}, "rootfs": rootfs}
    manifest = [{"Config": "config.json", "RepoTags": [reference], "Layers": ["layer.tar"]}]
    with io.BytesIO() as image:
        with tarfile.open(fileobj=image, mode="w") as archive:
            _add(archive, "layer.tar", content)
            _add(archive, "config.json", json.dumps(config).encode())
            _add(archive, "manifest.json", json.dumps(manifest).encode())
        return image.getvalue()


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


async def test_what_an_interrupted_copy_left_is_never_mounted_and_goes_later(
    docker_engine: DockerEngine, docker: aiodocker.Docker, layer: str, installation: str
) -> None:
    name = f"carrel-layer-{installation}"
    await docker.volumes.create(
        {"Name": f"{name}-half", "Labels": {"carrel.layer": layer.rpartition(":")[0]}}
    )
    await docker_engine.prepare_layer(layer)
    spec = with_layer(await ensure_tiny_image("scratch"), layer)
    await docker_engine.ensure(spec, ProgressLog())
    assert (await run(docker_engine, spec.id, "sh", "-c", "echo complete")).stdout == b"complete\n"
    mark, *contents = await volumes(docker, installation)
    assert mark == name
    assert len(contents) == 2
    await docker_engine.remove_layers(layer.rpartition(":")[0], kept=layer)
    [mark, content] = await volumes(docker, installation)
    assert (mark, content) != (name, f"{name}-half")


async def test_several_control_planes_share_one_copy(
    docker_engine: DockerEngine, docker: aiodocker.Docker, layer: str, installation: str
) -> None:
    other = DockerEngine(docker_url(), f"{installation}-b")
    try:
        await asyncio.gather(docker_engine.prepare_layer(layer), other.prepare_layer(layer))
    finally:
        await other.close()
    assert len(await volumes(docker, installation)) == 2


async def test_a_layer_in_use_stays_and_goes_afterwards(
    docker_engine: DockerEngine, docker: aiodocker.Docker, layer: str, installation: str
) -> None:
    spec = with_layer(await ensure_tiny_image("scratch"), layer)
    await docker_engine.ensure(spec, ProgressLog())
    repository = layer.rpartition(":")[0]
    await docker_engine.remove_layers(repository, kept=f"{repository}:newer")
    assert len(await volumes(docker, installation)) == 2
    await docker_engine.remove(spec.id, grace_s=0)
    await docker_engine.remove_layers(repository, kept=f"{repository}:newer")
    assert await volumes(docker, installation) == []


async def test_what_others_deleted_is_made_again(
    docker_engine: DockerEngine, docker: aiodocker.Docker, layer: str, installation: str
) -> None:
    await docker_engine.prepare_layer(layer)
    [mark, content] = await volumes(docker, installation)
    await (await docker.volumes.get(content)).delete()
    await docker_engine.prepare_layer(layer)
    [same, other] = await volumes(docker, installation)
    assert same == mark
    assert other != content


async def test_a_layer_without_an_image_cannot_be_prepared(
    docker_engine: DockerEngine, installation: str
) -> None:
    missing = f"localhost/{installation}/layer:{installation}"
    error = await refused(ImageUnusable, docker_engine.prepare_layer(missing))
    assert missing in error.message
