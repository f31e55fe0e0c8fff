"""The daemon's images: `optional.ImageStore`, and images made of containers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiodocker

from carrel.engines.docker.api import START_S, DockerApi, sentences
from carrel.engines.docker.pull import Pulls
from carrel.engines.docker.spec import LABEL_EPOCH, LABEL_ID, LABEL_INSTALLATION, LABEL_USER
from carrel.engines.optional import ImageInfo
from carrel.engines.port import EngineError, ImageUnusable, ProgressSink


class DockerImages:
    """An `optional.ImageStore`, for whoever needs no containers."""

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

    async def committed(self, name: str, reference: str) -> ImageInfo:
        """What `optional.Committing.commit` makes. name: the daemon's, of the container. Raises: DockerError."""
        there = await self._api.call("GET", f"containers/{name}/json")
        below = (await self._inspected(there["Image"]))["Config"].get("Env") or []
        repository, _, tag = reference.rpartition(":")
        await self._api.call(
            "POST",
            "commit",
            params={"container": name, "repo": repository, "tag": tag},
            # Over the container's own, which it would else inherit. Labels and variables cannot be taken away, only
            # emptied; with ours, what is made of the image elsewhere would be taken for a container of ours.
            body={
                "Labels": {LABEL_INSTALLATION: "", LABEL_ID: "", LABEL_EPOCH: "", LABEL_USER: "work"},
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
                raise ImageUnusable(f"The container engine has no image {reference}.") from error
            raise


@asynccontextmanager
async def images_at(url: str) -> AsyncIterator[DockerImages]:
    """The images of the daemon at this address."""
    api = DockerApi(url)
    try:
        yield DockerImages(api, Pulls(api))
    finally:
        await api.close()


def _info(inspected: Any) -> ImageInfo:
    return ImageInfo(
        inspected["Id"], inspected["Size"], inspected["Architecture"], inspected["Config"].get("Labels") or {}
    )


def _emptied(variables: list[str], below: list[str]) -> list[str]:
    """Those of the container that the image below it has not, without their values."""
    kept = {one.partition("=")[0] for one in below}
    names = dict.fromkeys(one.partition("=")[0] for one in variables)
    return [f"{name}=" for name in names if name not in kept]
