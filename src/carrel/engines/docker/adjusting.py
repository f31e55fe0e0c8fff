"""The optional capabilities (`engines.optional`) of Docker."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO

import aiodocker

from carrel.engines.docker import answers, host
from carrel.engines.docker.api import DockerApi, sentences
from carrel.engines.docker.committing import Commits
from carrel.engines.docker.container_config import Names, limits
from carrel.engines.docker.image_building import DockerImages, build_errors
from carrel.engines.docker.layers import LayerVolumes
from carrel.engines.docker.limited_builds import Builds
from carrel.engines.label_claim import LabelClaim
from carrel.engines.optional import (
    BuildLimits,
    BuildMarks,
    BuildSink,
    CommittedImage,
    HostUsage,
    limits_below_use,
)
from carrel.engines.port import ContainerGone, EngineError, ProgressSink, PullCredentials


class Adjusting(DockerImages):
    """Images, app layers, commits, live limits, pauses and the machine's usage; the base class of the engine."""

    def __init__(self, api: DockerApi, names: Names, claim: LabelClaim) -> None:
        super().__init__(api)
        self._names = names
        self._layers = LayerVolumes(api)
        self._commits = Commits(api, names)
        self._builds = Builds(api, names, self._pulls, self._push_names)
        self.claim = claim

    async def prepare_layer(self, reference: str) -> None:
        self._layers.forget()
        with sentences():
            await self._layers.content(reference)

    async def remove_layers(self, repository: str, *, kept: str = "") -> None:
        with sentences():
            await self._layers.remove(repository, kept=kept)

    async def commit(
        self, container: str, reference: str, key: str, *, left_out: Collection[str], progress: ProgressSink
    ) -> CommittedImage:
        with sentences(), _there(container):
            await self.claim.require()
            name = self._names.container(container)
            return await self._commits.commit(name, reference, key, left_out, progress)

    async def commits(self) -> Collection[str]:
        with sentences():
            await self.claim.require()
            return await self._commits.commits()

    async def discard_commit(self, key: str) -> None:
        with sentences():
            await self.claim.require()
            await self._commits.discard(key)

    def build_marks(self, group: str, key: str) -> BuildMarks:
        return self._builds.marks(group, key)

    async def build_base(
        self, image: str, credentials: PullCredentials | None, output: BuildSink, *, always: bool = False
    ) -> int:
        with sentences():
            await self.claim.require()
            return await self._builds.pull(image, credentials, output, always=always)

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
        with build_errors(reference):
            await self.claim.require()
            return await self._builds.build(
                context, reference, key, group=group, arguments=arguments, limits=limits, output=output
            )

    async def builds(self) -> Collection[str]:
        with sentences():
            await self.claim.require()
            return await self._builds.groups()

    async def discard_builds(self, group: str) -> None:
        with sentences():
            await self.claim.require()
            await self._builds.discard(group)

    async def set_limits(self, container: str, slots: Mapping[str, int]) -> None:
        with sentences(), _there(container):
            await self.claim.require()
            if "mem" in slots:
                await self._require_unused(container, slots["mem"])
            path = f"containers/{self._names.container(container)}/update"
            try:
                await self._api.call("POST", path, body=limits(slots))
            except aiodocker.DockerError as error:
                if error.status == 404:
                    raise
                raise EngineError(
                    f"The container's limits cannot be changed: {error.message.rstrip('.')}.",
                    retriable=False,
                    code="limits_refused",
                ) from error

    async def _require_unused(self, container: str, mem_bytes: int) -> None:
        """With version 2 of cgroups, a limit below its use would have the kernel kill processes."""
        path = f"containers/{self._names.container(container)}/stats"
        stats = await self._api.call("GET", path, params={"stream": "false", "one-shot": "true"})
        usage = answers.usage(container, stats)
        if usage and usage.mem_bytes > mem_bytes:
            raise limits_below_use(usage.mem_bytes)

    async def pause(self, container: str) -> None:
        await self._set_paused(container, "pause", unless="already paused")

    async def resume(self, container: str) -> None:
        await self._set_paused(container, "unpause", unless="is not paused")

    async def host_usage(self) -> Sequence[HostUsage]:
        with sentences():
            await self.claim.require()
            usage = await host.read(self._api, self._names)
        return () if usage is None else (usage,)

    async def _set_paused(self, container: str, verb: str, *, unless: str) -> None:
        with sentences(), _there(container):
            await self.claim.require()
            try:
                await self._api.call("POST", f"containers/{self._names.container(container)}/{verb}")
            except aiodocker.DockerError as error:
                if unless not in error.message:
                    raise


@contextmanager
def _there(container: str) -> Iterator[None]:
    """Translate the daemon's errors about containers that are missing or not running."""
    try:
        yield
    except aiodocker.DockerError as error:
        if error.status == 404 or "is not running" in error.message:
            raise ContainerGone(f"There is no running container {container}.") from error
        raise
