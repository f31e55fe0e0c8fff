"""Builds of files that users wrote: `optional.LimitedBuilding`.

The daemon ends a build whose request ends, so that nothing outlives the process that asked for it but cached steps.
Every stage is marked (`marks`): containers of its steps and cached steps are found by their labels after any crash.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
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
from carrel.engines.docker.image_building import UNNAMED, report_build
from carrel.engines.docker.network import Networks
from carrel.engines.docker.pull import Pulls
from carrel.engines.docker.push_names import PushNames
from carrel.engines.optional import BuildLimits, BuildMarks, BuildOutput, BuildSink, CommittedImage, ImageInfo
from carrel.engines.port import EngineError, EngineUnavailable, Progress, PullCredentials

LABEL_BUILD = "carrel.build"
"""Of cached steps and the containers of steps: the group."""
LABEL_BUILD_OF = "carrel.build.of"
"""Of the same: the installation."""

_PERIOD_US = 100_000
_MEASURE_EVERY_S = 10.0
_AFTER_STEP_S = 1.0
"""So long after a step has begun, those before it are measured."""
_PROCESSES = 4096


class Builds:
    """Limited builds of one installation."""

    def __init__(self, api: DockerApi, names: Names, pulls: Pulls, push_names: PushNames) -> None:
        self._api = api
        self._names = names
        self._pulls = pulls
        self._push_names = push_names
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
            stepped = asyncio.Event()
            building = asyncio.create_task(self._run(context, params, _noting(output, stepped)))
            watching = asyncio.create_task(self._watch(group, reference, limits, stepped))
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
                # What is kept of it counts in the next one.
                await self.discard(group)
                watching.result()
            building.result()
        try:
            await self._require_small(group, reference, limits)
        except EngineError:
            await self.discard(group)
            raise
        return await self._made(reference)

    async def pull(
        self, image: str, credentials: PullCredentials | None, output: BuildSink, *, always: bool
    ) -> int:
        """Implements `LimitedBuilding.build_base`. Raises: DockerError."""
        async with self._push_names.use(image):
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

    async def _watch(self, group: str, reference: str, limits: BuildLimits, stepped: asyncio.Event) -> None:
        """Until cancelled. Raises: EngineError once its steps have written too much."""
        chosen = {**self._marked(group), "size": "true"}
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(stepped.wait(), _MEASURE_EVERY_S)
                await asyncio.sleep(_AFTER_STEP_S)
            stepped.clear()
            with suppress(EngineUnavailable, aiodocker.DockerError):
                rows = await self._api.call("GET", "containers/json", params=chosen, timeout_s=START_S)
                running = sum(row.get("SizeRw", 0) for row in rows)
                await self._require_small(group, reference, limits, running=running)

    async def _require_small(
        self, group: str, reference: str, limits: BuildLimits, *, running: int = 0
    ) -> None:
        """Check what the steps of the group have written of which there is no other image. running: bytes of one that
        runs.

        The daemon copies files of stages and of the context without a container, so they are seen in its steps only.
        """
        rows = await self._api.call("GET", "images/json", params={**self._marked(group), "all": "true"})
        if written(rows, reference) + running > limits.disk_bytes:
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


def written(steps: Sequence[Any], reference: str) -> int:
    """The bytes of these images of the daemon, without steps of images with another reference. Pure."""
    by_id = {one["Id"]: one for one in steps}
    kept = set[str]()
    for one in steps:
        step = one["Id"] if set(one["RepoTags"] or ()) - {UNNAMED, reference} else ""
        while step in by_id and step not in kept:
            kept.add(step)
            step = by_id[step]["ParentId"]
    sizes = {key: one["Size"] for key, one in by_id.items()}
    return sum(
        one["Size"] - sizes.get(one["ParentId"], one["Size"]) for one in steps if one["Id"] not in kept
    )


def too_large(limits: BuildLimits) -> EngineError:
    """The error for steps that write too much."""
    size = f"{limits.disk_bytes / (1 << 30):.0f} GiB"
    return EngineError(f"The build wrote more than {size}.", retriable=False, code="build_failed")


def _noting(output: BuildSink, stepped: asyncio.Event) -> BuildSink:
    """An output that tells of each step."""

    def noted(line: BuildOutput) -> None:
        if line.step:
            stepped.set()
        output(line)

    return noted


def _line(labels: Mapping[str, str]) -> str:
    return "LABEL " + " ".join(f'{name}="{value}"' for name, value in labels.items())


def _ignored(_: Progress) -> None: ...
