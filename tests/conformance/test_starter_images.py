"""Which starter images an engine keeps, against a real daemon, under names that only this test uses."""

import io
import tarfile
from collections.abc import AsyncIterator

import aiodocker
import pytest
from tiny_image import docker_url, ensure_tiny_image

from carrel.engines.docker import DockerEngine, claim_volumes
from carrel.engines.port import Claimant
from carrel.server.bootstrap import image_build, starter


class Shelf:
    """Images of one test run in the daemon."""

    def __init__(self, docker: aiodocker.Docker, mark: str) -> None:
        self.docker = docker
        self.installation = mark
        self.repository = f"localhost/{mark}/starter"
        self.former = f"{mark}/starter"
        self.engine = DockerEngine(docker_url(), mark)
        self.label = f"carrel.test={mark}"

    async def make(self, content: str, tag: str | None) -> str:
        """The id of an image that differs from others by its content."""
        lines = f"FROM {await ensure_tiny_image()}\nLABEL {self.label} content={content}\n".encode()
        with io.BytesIO() as context:
            with tarfile.open(fileobj=context, mode="w") as archive:
                entry = tarfile.TarInfo("Dockerfile")
                entry.size = len(lines)
                archive.addfile(entry, io.BytesIO(lines))
            context.seek(0)
            events = await self.docker.images.build(fileobj=context, encoding="identity", tag=tag)
        return next(line["aux"]["ID"] for line in events if "aux" in line)

    async def has(self, name: str) -> bool:
        try:
            await self.docker.images.inspect(name)
        except aiodocker.DockerError:
            return False
        return True


@pytest.fixture
async def shelf(
    docker: aiodocker.Docker, installation: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Shelf]:
    shelf = Shelf(docker, installation)
    monkeypatch.setattr(starter, "REPOSITORY", shelf.repository)
    monkeypatch.setattr(starter, "_FORMER_REPOSITORY", shelf.former)
    monkeypatch.setattr(starter, "_LABEL", shelf.label)
    # Claims of others on this machine do not count.
    monkeypatch.setattr(claim_volumes, "_FINGERPRINT", f"carrel.database.{installation}")
    yield shelf
    for image in await docker.images.list(filters={"label": [shelf.label]}):
        await docker.images.delete(image["Id"], force=True)
    await shelf.engine.close()


async def test_superseded_images_go_and_the_current_one_stays_under_all_its_names(shelf: Shelf) -> None:
    await shelf.make("old", f"{shelf.repository}:old")
    await shelf.make("older", f"{shelf.former}:older")
    nameless = await shelf.make("nameless", None)
    foreign = f"localhost/{shelf.former}-other:1"
    await shelf.make("foreign", foreign)
    current, former = f"{shelf.repository}:current", f"{shelf.former}:latest"
    await shelf.make("current", current)
    await shelf.docker.images.tag(current, repo=shelf.former, tag="latest")
    await starter.remove_superseded(shelf.engine, current=current)
    names = (f"{shelf.repository}:old", f"{shelf.former}:older", nameless, foreign, current, former)
    assert [await shelf.has(name) for name in names] == [False, False, False, True, True, True]


async def test_a_superseded_image_stays_while_a_container_uses_it(shelf: Shelf) -> None:
    old, current = f"{shelf.repository}:old", f"{shelf.repository}:current"
    await shelf.make("old", old)
    await shelf.make("current", current)
    container = await shelf.docker.containers.create({"Image": old, "Cmd": ["true"]})
    try:
        await starter.remove_superseded(shelf.engine, current=current)
        assert await shelf.has(old)
    finally:
        await container.delete(force=True)
    await starter.remove_superseded(shelf.engine, current=current)
    assert not await shelf.has(old)


async def test_superseded_images_stay_while_another_installation_is_in_the_engine(shelf: Shelf) -> None:
    old, current = f"{shelf.repository}:old", f"{shelf.repository}:current"
    await shelf.make("old", old)
    await shelf.make("current", current)
    other = DockerEngine(docker_url(), f"{shelf.installation}-b", claimant=Claimant("1", "/srv/b on alpha"))
    mine = DockerEngine(docker_url(), shelf.installation, claimant=Claimant("2", "/srv/a on alpha"))
    try:
        await mine.claim.require()
        assert await mine.claim.others() == []
        await other.claim.require()
        assert await mine.claim.others() == ["/srv/b on alpha"]
        await starter.remove_superseded(shelf.engine, current=current)
        assert await shelf.has(old)
        await other.claim.release()
        await starter.remove_superseded(shelf.engine, current=current)
        assert not await shelf.has(old)
    finally:
        for engine in (mine, other):
            await engine.claim.release()
            await engine.close()


async def test_an_image_under_its_former_name_gets_the_present_one(shelf: Shelf) -> None:
    made = await shelf.make("kept", f"{shelf.former}:tag")
    for tag, there in (("tag", True), ("other", False)):
        assert (
            await image_build.has_image(shelf.engine, shelf.repository, tag, formerly=shelf.former) is there
        )
    image = await shelf.docker.images.inspect(f"{shelf.repository}:tag")
    assert image["Id"] == made
