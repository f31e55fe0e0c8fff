"""The optional capabilities (`engines.optional`) of the fake engine: images, builds, commits, pushes, limits, pauses,
usage of the machines, reports."""

import asyncio
import hashlib
import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import IO, TypeVar

from carrel.engines import fake_build
from carrel.engines.fake_world import FakeContainer, FakeWorld
from carrel.engines.optional import (
    BuildLimits,
    BuildMarks,
    BuildOutput,
    BuildSink,
    CommittedImage,
    DiskSpace,
    HostUsage,
    ImageInfo,
    StoredImage,
    limits_below_use,
)
from carrel.engines.port import (
    ContainerGone,
    EngineError,
    ImageUnusable,
    Progress,
    ProgressSink,
    PullCredentials,
    require_pullable,
)

T = TypeVar("T")
_SIZE = 64 << 20
_PULL_PARTS = 4


class FakeAdjusting:
    """Base class of the engine."""

    def __init__(self, world: FakeWorld) -> None:
        self.world = world

    async def connect_port(self, container: str, port: int) -> socket.socket:
        """To a port of this machine."""
        self.world.require_answer("connect_port")
        if not self.find(container).running:
            raise ContainerGone(f"The container {container} is not running.")
        end = socket.socket()
        end.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(end, ("127.0.0.1", port))
        except OSError as error:
            end.close()
            raise EngineError("Nothing listens there.", retriable=True) from error
        return end

    async def reachable(self) -> bool | None:
        return None

    async def image(self, reference: str) -> ImageInfo:
        return await self.step("image", lambda: self._image(reference))

    async def pull_image(
        self, reference: str, progress: ProgressSink, credentials: PullCredentials | None = None
    ) -> ImageInfo:
        self.world.pulled_with[reference] = credentials
        await self.fetch(reference, progress, step="pull_image")
        return await self.image(reference)

    async def fetch(self, reference: str, progress: ProgressSink, *, step: str) -> None:
        """Pull the image. Raises: ImageUnusable."""
        if reference in self.world.unknown_images:
            raise ImageUnusable(f"There is no image named {reference}.")
        require_pullable(reference)
        for part in range(_PULL_PARTS):
            progress(Progress("pull", part / _PULL_PARTS, f"Downloading {reference}"))
            if self.world.pull_s:
                await self.world.sleep(self.world.pull_s / _PULL_PARTS)
        progress(Progress("pull", 1.0, f"Downloaded {reference}"))
        await self.step(step, lambda: self.world.local_images.add(reference))

    async def remove_image(self, reference: str) -> None:
        await self.step("remove_image", lambda: self._remove_image(reference))

    async def images(self) -> Sequence[StoredImage]:
        return await self.step("images", self._images)

    async def images_by_node(self) -> Mapping[str, Sequence[StoredImage]]:
        """All machines have the same."""
        return await self.step(
            "images_by_node", lambda: {one.name: self._images() for one in self.world.nodes}
        )

    async def build_image(
        self, context: IO[bytes], reference: str, *, arguments: Mapping[str, str], output: BuildSink
    ) -> ImageInfo:
        def build() -> ImageInfo:
            built = fake_build.build(context, arguments, output, self.world.local_images)
            self.world.image_labels[reference] = built.labels
            self.world.image_ids[reference] = built.id
            self.world.local_images.add(reference)
            return self._image(reference)

        return await self.step("build_image", build)

    async def tag_image(self, reference: str, new: str) -> None:
        await self.step("tag_image", lambda: self._tag_image(reference, new))

    async def push_image(
        self,
        reference: str,
        target: str,
        progress: ProgressSink,
        credentials: PullCredentials | None = None,
    ) -> str:
        image = await self.image(reference)
        for part in range(_PULL_PARTS):
            progress(Progress("push", part / _PULL_PARTS))
            if self.world.push_s:
                await self.world.sleep(self.world.push_s / _PULL_PARTS)
        digest = f"sha256:{hashlib.sha256(image.id.encode()).hexdigest()}"
        await self.step("push_image", lambda: self.world.pushed.update({target: (digest, credentials)}))
        progress(Progress("push", 1.0))
        return digest

    async def discard_push(self, reference: str, target: str) -> None:
        await self.step("discard_push", lambda: None)

    async def commit(
        self, container: str, reference: str, key: str, *, left_out: Collection[str], progress: ProgressSink
    ) -> CommittedImage:
        progress(Progress("copy"))
        known = await self.step("commit.copy", lambda: self.find(container))
        if self.world.commit_s:
            await self.world.sleep(self.world.commit_s)
        progress(Progress("commit", 1.0))
        return await self.step("commit", lambda: self._commit(known, reference, key, left_out))

    async def commits(self) -> Collection[str]:
        return await self.step("commits", lambda: set(self.world.commits))

    async def discard_commit(self, key: str) -> None:
        def discard() -> None:
            if key in self.world.commits:
                self._remove_image(self.world.commits[key])
                del self.world.commits[key]

        await self.step("discard_commit", discard)

    def build_marks(self, group: str, key: str) -> BuildMarks:
        return BuildMarks(f"LABEL carrel.build={group}", f"LABEL carrel.commit={key}")

    async def build_base(
        self, image: str, credentials: PullCredentials | None, output: BuildSink, *, always: bool = False
    ) -> int:
        if always or image not in self.world.local_images:
            output(BuildOutput(f"Pulling {image}"))
            await self.fetch(image, lambda _: None, step="build_base")
        return _SIZE

    async def build(
        self,
        context: IO[bytes],
        reference: str,
        key: str,
        *,
        group: str,
        arguments: Mapping[str, str],
        limits: BuildLimits,
        output: BuildSink,
    ) -> CommittedImage:
        self.world.builds.add(group)
        output(BuildOutput("building"))
        if self.world.build_s:
            await self.world.sleep(self.world.build_s)
        image = await self.build_image(context, reference, arguments=arguments, output=output)
        self.world.commits[key] = reference
        return CommittedImage(image, _SIZE + self.world.build_adds_bytes)

    async def builds(self) -> Collection[str]:
        return await self.step("builds", lambda: set(self.world.builds))

    async def discard_builds(self, group: str) -> None:
        await self.step("discard_builds", lambda: self.world.builds.discard(group))

    async def set_limits(self, container: str, slots: Mapping[str, int]) -> None:
        await self.step("set_limits", lambda: self._set_limits(container, slots))

    async def pause(self, container: str) -> None:
        await self.step("pause", lambda: self.world.pause(self.find_running(container)))

    async def resume(self, container: str) -> None:
        await self.step("resume", lambda: self.world.resume(self.find_running(container)))

    async def host_usage(self) -> Sequence[HostUsage]:
        return await self.step("host_usage", lambda: tuple(self.world.hosts.values()))

    async def disk_space(self) -> Sequence[DiskSpace]:
        return await self.step("disk_space", lambda: tuple(self.world.disk_spaces))

    async def written(self) -> Mapping[str, int]:
        def measured() -> Mapping[str, int]:
            containers = self.world.containers.items()
            return {
                key: one.disk_bytes for key, one in containers if one.running and one.disk_bytes is not None
            }

        return await self.step("written", measured)

    async def reports(self, containers: Collection[str]) -> Mapping[str, Sequence[str]]:
        known = self.world.reports
        return await self.step("reports", lambda: {one: known[one] for one in containers if one in known})

    async def step(self, name: str, act: Callable[[], T]) -> T:
        """Perform one step between its hooks; yields to other tasks first, like a real engine."""
        self.world.before(name)
        await self.world.turn()
        self.world.require_answer(name)
        result = act()
        self.world.after(name)
        return result

    def find(self, container: str) -> FakeContainer:
        """The container. Raises: ContainerGone."""
        known = self.world.containers.get(container)
        if known is None or not self.world.on_a_node(known):
            raise ContainerGone(f"There is no container {container}.")
        return known

    def find_running(self, container: str) -> FakeContainer:
        """The container. Raises: ContainerGone."""
        known = self.find(container)
        if not known.running:
            raise ContainerGone(f"The container {container} is not running.")
        return known

    def _image(self, reference: str) -> ImageInfo:
        if reference not in self.world.local_images:
            raise ImageUnusable(f"The engine has no image {reference}.")
        labels = self.world.image_labels.get(reference, {})
        return ImageInfo(self._image_id(reference), _SIZE, "amd64", labels)

    def _image_id(self, reference: str) -> str:
        return self.world.image_ids.get(reference, f"fake:{reference}")

    def _images(self) -> Sequence[StoredImage]:
        by_id: dict[str, list[str]] = {}
        for reference in sorted(self.world.local_images):
            by_id.setdefault(self._image_id(reference), []).append(reference)
        return tuple(
            StoredImage(
                image,
                tuple(references),
                self.world.image_sizes.get(references[0], _SIZE),
                self.world.image_labels.get(references[0], {}),
                self.world.image_digests.get(image, ()),
            )
            for image, references in by_id.items()
        )

    def _tag_image(self, reference: str, new: str) -> None:
        image = self._image(reference)
        self.world.local_images.add(new)
        self.world.image_labels[new] = image.labels
        self.world.image_ids[new] = image.id

    def _commit(
        self, known: FakeContainer, reference: str, key: str, left_out: Collection[str]
    ) -> CommittedImage:
        without = {
            *left_out,
            *(one.path for one in known.spec.files),
            *(one.target for one in known.spec.mounts),
        }
        self.world.image_files[reference] = {
            path: content
            for path, content in known.files.items()
            if path not in without and not any(path.startswith(f"{one}/") for one in without)
        }
        self.world.commits[key] = reference
        self.world.local_images.add(reference)
        return CommittedImage(
            self._image(reference), sum(map(len, self.world.image_files[reference].values()))
        )

    def _remove_image(self, reference: str) -> None:
        reference = next(
            (one for one in self.world.local_images if self._image_id(one) == reference), reference
        )
        if any(one.spec.image == reference for one in self.world.containers.values()):
            raise EngineError(f"The image {reference} is in use.", retriable=True, code="image_in_use")
        self.world.local_images.discard(reference)
        self.world.image_ids.pop(reference, None)

    def _set_limits(self, container: str, slots: Mapping[str, int]) -> None:
        running = self.find_running(container)
        if slots.get("mem", running.mem_bytes) < running.mem_bytes:
            raise limits_below_use(running.mem_bytes)
        running.spec = replace(running.spec, slots={**running.spec.slots, **slots})
