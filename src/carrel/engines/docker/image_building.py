"""The daemon's images: `optional.ImageBuilding`, and images created from containers."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import IO, Any

import aiodocker

from carrel.engines.docker.api import START_S, DockerApi, disk_full, sentences
from carrel.engines.docker.container_config import (
    LABEL_EPOCH,
    LABEL_ID,
    LABEL_INSTALLATION,
    LABEL_NETWORK,
    LABEL_USER,
)
from carrel.engines.docker.pull import Pulls
from carrel.engines.optional import BuildOutput, BuildSink, ImageInfo, StoredImage
from carrel.engines.port import EngineError, ImageUnusable, ProgressSink

_STEP = re.compile(r"^step (\d+)/(\d+)", re.IGNORECASE)
_BUILD_SHARES = "128"
"""Of a contended CPU; a session has 1024 for each of its own."""
_UNNAMED = "<none>:<none>"


class DockerImages:
    """Image operations of the engine."""

    def __init__(self, api: DockerApi, pulls: Pulls) -> None:
        self._api = api
        self._pulls = pulls

    async def image(self, reference: str) -> ImageInfo:
        with sentences():
            return _info(await self._inspected(reference))

    async def pull_image(self, reference: str, progress: ProgressSink) -> ImageInfo:
        with sentences():
            await self._pulls.pull(reference, progress)
            return _info(await self._inspected(reference))

    async def remove_image(self, reference: str) -> None:
        with sentences():
            try:
                await self._api.call("DELETE", f"images/{reference}")
            except aiodocker.DockerError as error:
                if error.status == 409:
                    raise EngineError(
                        f"The image {reference} is in use by a container.",
                        retriable=True,
                        code="image_in_use",
                    ) from error
                if error.status != 404:
                    raise

    async def images(self) -> Sequence[StoredImage]:
        with sentences():
            rows = await self._api.call("GET", "images/json")
        return tuple(_stored(row) for row in rows)

    async def build_image(
        self, context: IO[bytes], reference: str, *, arguments: Mapping[str, str], output: BuildSink
    ) -> ImageInfo:
        params = {
            "t": reference,
            "buildargs": json.dumps(dict(arguments)),
            "rm": "1",
            "forcerm": "1",
            # Builds give way to sessions.
            "cpushares": _BUILD_SHARES,
        }
        with sentences():
            try:
                async with self._api.stream("POST", "build", params=params, body=context) as lines:
                    async for line in lines:
                        _report(reference, json.loads(line), output)
            except aiodocker.DockerError as error:
                raise _build_error(reference, error.message) from error
            return _info(await self._inspected(reference))

    async def tag_image(self, reference: str, new: str) -> None:
        repository, _, tag = new.rpartition(":")
        with sentences():
            try:
                await self._api.call(
                    "POST", f"images/{reference}/tag", params={"repo": repository, "tag": tag}
                )
            except aiodocker.DockerError as error:
                if error.status == 404:
                    raise _unusable(reference) from error
                raise

    async def committed(self, name: str, reference: str) -> ImageInfo:
        """Implements `optional.Committing.commit`. name: the daemon's name of the container. Raises: DockerError."""
        there = await self._api.call("GET", f"containers/{name}/json")
        below = (await self._inspected(there["Image"]))["Config"].get("Env") or []
        repository, _, tag = reference.rpartition(":")
        await self._api.call(
            "POST",
            "commit",
            params={"container": name, "repo": repository, "tag": tag},
            # Overrides the container's values, which are inherited otherwise. Labels and variables cannot be removed,
            # only emptied; with our labels, containers of derived images would be mistaken for ours.
            body={
                "Labels": {
                    **dict.fromkeys((LABEL_INSTALLATION, LABEL_ID, LABEL_EPOCH, LABEL_NETWORK), ""),
                    LABEL_USER: "work",
                },
                "Env": [*below, *_emptied(there["Config"].get("Env") or [], below)],
            },
            timeout_s=START_S,
        )
        return _info(await self._inspected(reference))

    async def _inspected(self, reference: str) -> Any:
        try:
            return await self._api.call("GET", f"images/{reference}/json")
        except aiodocker.DockerError as error:
            if error.status == 404:
                raise _unusable(reference) from error
            raise


def _unusable(reference: str) -> ImageUnusable:
    return ImageUnusable(f"The container engine has no image {reference}.")


def _stored(row: Any) -> StoredImage:
    references = tuple(tag for tag in row.get("RepoTags") or () if tag != _UNNAMED)
    return StoredImage(row["Id"], references, row["Size"], row.get("Labels") or {})


def _report(reference: str, line: Any, output: BuildSink) -> None:
    if error := line.get("error"):
        raise _build_error(reference, str(error))
    if text := str(line.get("stream", "")).strip():
        step = _STEP.match(text)
        output(BuildOutput(text, int(step[1]), int(step[2])) if step else BuildOutput(text))


def _build_error(reference: str, text: str) -> EngineError:
    message = f"The image {reference} could not be built: {text.rstrip('.')}."
    return disk_full(text) or EngineError(message, retriable=False, code="build_failed")


def _info(inspected: Any) -> ImageInfo:
    return ImageInfo(
        inspected["Id"], inspected["Size"], inspected["Architecture"], inspected["Config"].get("Labels") or {}
    )


def _emptied(variables: list[str], below: list[str]) -> list[str]:
    """The variables that the container adds to its base image, with empty values."""
    kept = {one.partition("=")[0] for one in below}
    names = dict.fromkeys(one.partition("=")[0] for one in variables)
    return [f"{name}=" for name in names if name not in kept]
