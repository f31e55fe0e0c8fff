"""Builds of files that users wrote: `optional.LimitedBuilding`.

The daemon ends a build whose request ends, so that nothing outlives the process that asked for it but cached steps.
Every stage is marked (`marks`): containers of its steps and cached steps are found by their labels after any crash.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from typing import IO, Any

import aiodocker

from carrel.engines.docker.api import ANSWER_S, START_S, DockerApi, filters
from carrel.engines.docker.container_config import (
    LABEL_COMMIT,
    LABEL_COMMIT_OF,
    LABEL_SCRATCH,
    Names,
)
from carrel.engines.docker.image_building import report_build
from carrel.engines.docker.network import Networks
from carrel.engines.docker.pull import Pulls
from carrel.engines.optional import BuildLimits, BuildMarks, BuildOutput, BuildSink, CommittedImage, ImageInfo
from carrel.engines.port import EngineError, EngineUnavailable, Progress, PullCredentials

LABEL_BUILD = "carrel.build"
"""Of cached steps and the containers of steps: the group."""
LABEL_BUILD_OF = "carrel.build.of"
"""Of the same: the installation."""

_PERIOD_US = 100_000
_MEASURE_EVERY_S = 10.0
_PROCESSES = 4096


class Builds:
    """Limited builds of one installation."""

    def __init__(self, api: DockerApi, names: Names, pulls: Pulls) -> None:
        self._api = api
        self._names = names
        self._pulls = pulls
        self.networks: Networks | None = None

    def marks(self, group: str, key: str) -> BuildMarks:
        """Implements `LimitedBuilding.build_marks`."""
        labels = {LABEL_BUILD: group, LABEL_BUILD_OF: self._names.installation}
        # Not those of the image below, by which its own are found.
        labels |= dict.fromkeys((LABEL_COMMIT, LABEL_COMMIT_OF, LABEL_SCRATCH), "")
        # Never cached, so one line: for each label of a request, the daemon has a step.
        own = {LABEL_COMMIT: key, LABEL_COMMIT_OF: self._names.installation, LABEL_SCRATCH: ""}
        return BuildMarks(_line(labels), _line(own))

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
        """Implements `LimitedBuilding.build`. Raises: DockerError."""
        async with self._network(key) as network:
            params = {
                "t": reference,
                "buildargs": json.dumps(dict(arguments)),
                "rm": "1",
                "forcerm": "1",
                "networkmode": network,
                "cpuperiod": str(_PERIOD_US),
                "cpuquota": str(limits.cpu_millis * _PERIOD_US // 1000),
                "memory": str(limits.mem_bytes),
                "memswap": str(limits.mem_bytes),
                "ulimits": json.dumps([{"Name": "nproc", "Soft": _PROCESSES, "Hard": _PROCESSES}]),
            }
            building = asyncio.create_task(self._run(context, params, output))
            watching = asyncio.create_task(self._watch(group, limits))
            try:
                async with asyncio.timeout(limits.time_s):
                    await asyncio.wait([building, watching], return_when=asyncio.FIRST_COMPLETED)
            except TimeoutError as error:
                message = f"It took longer than {limits.time_s // 60} minutes."
                raise EngineError(message, retriable=False, code="build_failed") from error
            finally:
                for task in (building, watching):
                    task.cancel()
                await asyncio.wait([building, watching])
            if not watching.cancelled():
                watching.result()
            building.result()
        return await self._made(reference)

    async def pull(
        self, image: str, credentials: PullCredentials | None, output: BuildSink, *, always: bool
    ) -> int:
        """Implements `LimitedBuilding.build_base`. Raises: DockerError."""
        inspected = None if always else await self._image(image)
        if inspected is None:
            output(BuildOutput(f"Pulling {image}"))
            await self._pulls.pull(image, _ignored, credentials)
            inspected = await self._api.call("GET", f"images/{image}/json")
        for what, named in (("OnBuild", "ONBUILD instructions"), ("Volumes", "volumes")):
            if (inspected["Config"] or {}).get(what):
                raise EngineError(
                    f"The image {image} has {named}, so nothing can be built on it.",
                    retriable=False,
                    code="build_failed",
                )
        return int(inspected["Size"])

    async def _image(self, image: str) -> Any:
        """None if it is missing."""
        try:
            return await self._api.call("GET", f"images/{image}/json")
        except aiodocker.DockerError as error:
            if error.status != 404:
                raise
            return None

    async def groups(self) -> Collection[str]:
        """Implements `LimitedBuilding.builds`."""
        chosen = self._marked()
        images = await self._api.call("GET", "images/json", params={**chosen, "all": "true"})
        containers = await self._api.call("GET", "containers/json", params={**chosen, "all": "true"})
        named = (row["Labels"].get(LABEL_BUILD) for row in (*images, *containers))
        return {group for group in named if group}

    async def discard(self, group: str) -> None:
        """Implements `LimitedBuilding.discard_builds`. Raises: DockerError."""
        chosen = self._marked(group)
        for container in await self._api.call("GET", "containers/json", params={**chosen, "all": "true"}):
            await self._remove(f"containers/{container['Id']}")
        # Each with all steps below it that nothing else needs.
        dangling = {"filters": json.dumps({**json.loads(chosen["filters"]), "dangling": ["true"]})}
        for image in await self._api.call("GET", "images/json", params=dangling):
            await self._remove(f"images/{image['Id']}")

    async def _run(self, context: IO[bytes], params: Mapping[str, str], output: BuildSink) -> None:
        async with self._api.stream("POST", "build", params=params, body=context) as lines:
            async for line in lines:
                report_build(params["t"], json.loads(line), output)

    async def _watch(self, group: str, limits: BuildLimits) -> None:
        """Until cancelled. Raises: EngineError once its steps have written too much."""
        chosen = {**self._marked(group), "size": "true"}
        while True:
            await asyncio.sleep(_MEASURE_EVERY_S)
            with suppress(EngineUnavailable, aiodocker.DockerError):
                rows = await self._api.call("GET", "containers/json", params=chosen, timeout_s=START_S)
                if sum(row.get("SizeRw", 0) for row in rows) > limits.disk_bytes:
                    raise too_large(limits)

    async def _made(self, reference: str) -> CommittedImage:
        made = await self._api.call("GET", f"images/{reference}/json")
        info = ImageInfo(made["Id"], made["Size"], made["Architecture"], made["Config"].get("Labels") or {})
        return CommittedImage(info, made["Size"])

    @asynccontextmanager
    async def _network(self, key: str) -> AsyncIterator[str]:
        """A network with what a session's has."""
        assert self.networks
        try:
            yield await self.networks.join(key)
        finally:
            with suppress(EngineUnavailable, aiodocker.DockerError):
                await self.networks.leave(key, None)

    def _marked(self, group: str = "") -> Mapping[str, str]:
        labels = [f"{LABEL_BUILD_OF}={self._names.installation}"]
        return filters(label=[*labels, *([f"{LABEL_BUILD}={group}"] if group else [])])

    async def _remove(self, path: str) -> None:
        params = {"force": "true"} if path.startswith("containers/") else {}
        try:
            await self._api.call("DELETE", path, params=params, timeout_s=max(START_S, ANSWER_S))
        except aiodocker.DockerError as error:
            # 409: a build needs it, or it is being removed already.
            if error.status not in (404, 409):
                raise


def too_large(limits: BuildLimits) -> EngineError:
    """The error for a step that writes too much."""
    size = f"{limits.disk_bytes / (1 << 30):.0f} GiB"
    return EngineError(f"A step wrote more than {size}.", retriable=False, code="build_failed")


def _line(labels: Mapping[str, str]) -> str:
    return "LABEL " + " ".join(f'{name}="{value}"' for name, value in labels.items())


def _ignored(_: Progress) -> None: ...
