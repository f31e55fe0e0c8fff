"""The daemon's images: `optional.ImageBuilding`."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

import aiodocker

from carrel.engines.docker.api import DockerApi, disk_full, sentences
from carrel.engines.docker.pull import Pulls
from carrel.engines.docker.push import push
from carrel.engines.docker.push_names import PushNames
from carrel.engines.optional import BuildOutput, BuildSink, ImageInfo, StoredImage
from carrel.engines.port import EngineError, ImageUnusable, ProgressSink, PullCredentials

_STEP = re.compile(r"^step (\d+)/(\d+)", re.IGNORECASE)
_BUILD_SHARES = "128"
"""Of a contended CPU; a session has 1024 for each of its own."""
UNNAMED, _NO_DIGEST = "<none>:<none>", "<none>@<none>"


class DockerImages:
    """Image operations of the engine."""

    def __init__(self, api: DockerApi) -> None:
        self._api = api
        self._push_names = PushNames(api)
        self._pulls = Pulls(api, self._push_names)

    async def image(self, reference: str) -> ImageInfo:
        with sentences():
            return _info(await self._inspected(reference))

    async def pull_image(
        self, reference: str, progress: ProgressSink, credentials: PullCredentials | None = None
    ) -> ImageInfo:
        with sentences():
            await self._pulls.pull(reference, progress, credentials)
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

    async def images_by_node(self) -> Mapping[str, Sequence[StoredImage]]:
        """Of the daemon's machine."""
        with sentences():
            name = (await self._api.call("GET", "info"))["Name"]
        return {name: await self.images()}

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
        with build_errors(reference):
            async with self._api.stream("POST", "build", params=params, body=context) as lines:
                async for line in lines:
                    report_build(reference, json.loads(line), output)
        with sentences():
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

    async def push_image(
        self,
        reference: str,
        target: str,
        progress: ProgressSink,
        credentials: PullCredentials | None = None,
    ) -> str:
        """Implements `ImagePushing.push_image`."""
        with sentences():
            async with self._push_names.give(reference, target) as take_away:
                return await push(self._api, target, progress, credentials, begun=take_away)

    async def discard_push(self, reference: str, target: str) -> None:
        """Implements `ImagePushing.discard_push`."""
        with sentences():
            await self._push_names.discard(target)

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
    references = tuple(tag for tag in row.get("RepoTags") or () if tag != UNNAMED)
    digests = tuple(name for name in row.get("RepoDigests") or () if name != _NO_DIGEST)
    return StoredImage(row["Id"], references, row["Size"], row.get("Labels") or {}, digests)


@contextmanager
def build_errors(reference: str) -> Iterator[None]:
    """Translate the daemon's refusal of a build to an `EngineError`."""
    try:
        yield
    except aiodocker.DockerError as error:
        raise _build_error(reference, error.message) from error


def report_build(reference: str, line: Any, output: BuildSink) -> None:
    """Pass on a line of the daemon's answer to a build. Raises: EngineError (build_failed)."""
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
