"""Images of containers of a real daemon: nothing that is left out is in any layer, and everything else is."""

import io
import tarfile
from collections.abc import AsyncIterator
from dataclasses import replace

import aiodocker
import pytest
from tiny_image import docker_url, ensure_tiny_image

from carrel.core.ids import new_id
from carrel.engines.conformance_kit import ProgressLog, refused, run
from carrel.engines.docker import DockerEngine
from carrel.engines.docker.api import filters
from carrel.engines.port import IDLE, WORK_HOME, ContainerSpec, ImageUnusable, InitialFile

_SECRET = b"hunter2-in-the-session"
_LEFT_OUT = ("/tmp", f"{WORK_HOME}/.cache", f"{WORK_HOME}/.ssh")
_SCRIPT = f"""
set -e
umask 077
printf %s "$SECRET" | tee /tmp/token > {WORK_HOME}/.cache/token
mkdir .ssh && cp /tmp/token .ssh/id
echo package > .cache/package && mkdir lib && ln .cache/package lib/package && ln -s lib/package link
touch -d '2001-02-03 04:05:06' lib/package && chmod 751 lib
echo changed > /etc/greeting
rm -rf /etc/dropped /etc/dropped.d
mkdir /etc/again.d && echo new > /etc/again.d/new
"""


@pytest.fixture
async def base(docker: aiodocker.Docker) -> AsyncIterator[str]:
    """An image with files that a session changes and deletes."""
    reference = f"carrel-test-commit-{new_id()}:1"
    lines = (
        f"FROM {await ensure_tiny_image()}",
        "USER root",
        "RUN mkdir -p /etc/dropped.d /etc/again.d && echo 1 > /etc/dropped && echo 2 > /etc/dropped.d/one"
        " && echo 3 > /etc/again.d/old && echo 4 > /etc/greeting"
        f" && mkdir {WORK_HOME}/.cache && chmod 777 /etc && chown -R 1000:1000 /etc/dropped* /etc/again.d /etc/greeting"
        f" {WORK_HOME}/.cache",
        "USER nobody",
        'CMD ["sh"]',
    )
    with io.BytesIO() as context:
        with tarfile.open(fileobj=context, mode="w:gz") as archive:
            text = "\n".join(lines).encode()
            entry = tarfile.TarInfo("Dockerfile")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
        context.seek(0)
        await docker.images.build(fileobj=context, encoding="gzip", tag=reference, rm=True)
    yield reference
    await docker.images.delete(reference, force=True)


async def layers(docker: aiodocker.Docker, reference: str) -> bytes:
    """Everything that the daemon exports of the image: all layers and configurations, of archives in an archive."""
    async with docker.images.export_image(reference) as content:
        return await content.read()


async def test_no_layer_has_what_is_left_out_and_the_last_one_has_all_else(
    docker_engine: DockerEngine, docker: aiodocker.Docker, base: str
) -> None:
    given = InitialFile(f"{WORK_HOME}/.given", _SECRET, private=True)
    container = ContainerSpec(new_id(), base, {"cpu": 500, "mem": 64 << 20}, command=IDLE)
    container = replace(container, env={"SECRET": _SECRET.decode()}, files=(given,))
    await docker_engine.ensure(container, ProgressLog())
    ran = await run(docker_engine, container.id, "sh", "-c", f"rm -rf /etc/again.d\n{_SCRIPT}")
    assert ran.exit_code == 0, ran
    reference, key = f"localhost/carrel/environments/{new_id()}:1", new_id()
    for _ in range(2):
        made = await docker_engine.commit(
            container.id, reference, key, left_out=_LEFT_OUT, progress=ProgressLog()
        )
    exported = await layers(docker, reference)
    assert b"changed\n" in exported
    assert _SECRET not in exported
    below, image = await docker.images.inspect(base), await docker.images.inspect(reference)
    assert image["RootFS"]["Layers"][:-1] == below["RootFS"]["Layers"]
    for name in ("Env", "Cmd", "Entrypoint", "User"):
        assert image["Config"].get(name) == below["Config"].get(name), name
    assert made.added_bytes < 10_000
    assert made.image.labels["carrel.commit"] == key

    # Nothing unfinished is left, and a session of the image has the files.
    scratch = await docker.containers.list(all=True, filters={"label": [f"carrel.commit={key}"]})
    assert scratch == []
    chosen = filters(label=[f"carrel.commit={key}"])
    assert len(await docker_engine._api.call("GET", "images/json", params=chosen)) == 1
    copy = ContainerSpec(new_id(), reference, {"cpu": 500, "mem": 64 << 20}, command=IDLE)
    await docker_engine.ensure(copy, ProgressLog())
    look = "cat link; stat -c '%a %u %Y' lib lib/package; cat /etc/greeting; ls /etc/again.d; ls -d /etc/dropped*"
    ran = await run(docker_engine, copy.id, "sh", "-c", look)
    lines = ran.stdout.decode().splitlines()
    assert lines[0] == "package"
    assert lines[1].startswith("751 1000 ")
    assert lines[2] == "600 1000 981173106"
    assert lines[3:] == ["changed", "new"]
    await docker_engine.remove(copy.id, grace_s=0)
    await docker_engine.discard_commit(key)
    assert not await docker_engine.commits()


async def test_what_a_killed_commit_leaves_is_listed_and_discarded(
    docker_engine: DockerEngine, docker: aiodocker.Docker
) -> None:
    """As after a kill -9, at each of its requests to the daemon."""
    image = await ensure_tiny_image()
    container = ContainerSpec(new_id(), image, {"cpu": 500, "mem": 64 << 20}, command=IDLE)
    await docker_engine.ensure(container, ProgressLog())
    await run(docker_engine, container.id, "sh", "-c", "echo kept > file; rm -f /etc/none")
    reference, key = f"localhost/carrel/environments/{new_id()}:1", new_id()
    lefts = []
    for allowed in (6, 8, 9, 11):
        dying = Dying(docker_url(), docker_engine._names.installation, allowed)
        with pytest.raises(Killed):
            await dying.commit(container.id, reference, key, left_out=(), progress=ProgressLog())
        await dying.close()
        lefts.append(set(await docker_engine.commits()))
        await docker_engine.discard_commit(key)
        assert not await docker_engine.commits()
        await refused(ImageUnusable, docker_engine.image(reference))
    assert set() not in lefts[1:], lefts
    [seen] = await docker_engine.list()
    assert seen.id == container.id


async def test_labels_of_an_image_do_not_pass_for_those_of_its_containers(
    docker_engine: DockerEngine, docker: aiodocker.Docker
) -> None:
    installation = docker_engine._names.installation
    reference = f"carrel-test-labels-{new_id()}:1"
    labels = {"carrel.files": "x", "carrel.commit.of": installation, "carrel.commit.scratch": "y"}
    text = f"FROM {await ensure_tiny_image()}\n" + "".join(
        f"LABEL {name}={value}\n" for name, value in labels.items()
    )
    with io.BytesIO() as context:
        with tarfile.open(fileobj=context, mode="w:gz") as archive:
            entry = tarfile.TarInfo("Dockerfile")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
        context.seek(0)
        await docker.images.build(fileobj=context, encoding="gzip", tag=reference, rm=True)
    container = ContainerSpec(new_id(), reference, {"cpu": 500, "mem": 64 << 20}, command=IDLE)
    await docker_engine.ensure(container, ProgressLog())
    assert not await docker_engine.commits()
    made, key = f"localhost/carrel/environments/{new_id()}:1", new_id()
    await docker_engine.commit(container.id, made, key, left_out=(), progress=ProgressLog())
    assert set(await docker_engine.commits()) == {key}
    await docker_engine.discard_commit(key)
    await docker_engine.remove(container.id, grace_s=0)
    await docker.images.delete(reference, force=True)


class Killed(BaseException):
    pass


class Dying(DockerEngine):
    """Does only so many requests, then nothing any more, not even cleanup."""

    def __init__(self, url: str, installation: str, requests: int) -> None:
        super().__init__(url, installation)
        call, left = self._api.call, requests

        async def limited(*arguments: object, **options: object) -> object:
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return await call(*arguments, **options)  # type: ignore[arg-type]

        self._api.call = limited  # type: ignore[method-assign]
