"""The home that every session has, in images that were not made for Carrel."""

from dataclasses import dataclass
from typing import Any

import aiodocker

from carrel.engines.docker.api import DockerApi
from carrel.engines.docker.spec import LABEL_USER, home_archive, plain_file


@dataclass(frozen=True, slots=True)
class _Known:
    image_id: str
    archive: bytes | None
    """What to unpack into a container of this image before it starts; None when it has all it needs."""


class Homes:
    """What each image lacks, learned from the first container of it."""

    def __init__(self, api: DockerApi) -> None:
        self._api = api
        self._known: dict[str, _Known] = {}

    async def furnish(self, daemon_name: str, image: str) -> None:
        """Give the container its home and user, if the image has none. Twice: the same result."""
        known = self._known.get(image)
        if known is None:
            known = self._known[image] = await self._learn(daemon_name)
        if known.archive is not None:
            await self.unpack(daemon_name, known.archive)

    async def check(self, daemon_name: str, image: str, image_id: str) -> None:
        """Put right what `furnish` assumed, if the image's name has come to mean another image since."""
        known = self._known.get(image)
        if known is not None and known.image_id != image_id:
            del self._known[image]
            await self.furnish(daemon_name, image)

    async def _learn(self, daemon_name: str) -> _Known:
        inspected: Any = await self._api.call("GET", f"containers/{daemon_name}/json")
        if inspected["Config"]["Labels"].get(LABEL_USER) == "work":
            return _Known(inspected["Image"], None)
        passwd = await self._read(daemon_name, "/etc/passwd")
        group = await self._read(daemon_name, "/etc/group")
        return _Known(inspected["Image"], home_archive(passwd, group))

    async def _read(self, daemon_name: str, path: str) -> bytes | None:
        """Content of a file of the image; b"" when there is none, None when it is not a plain file."""
        try:
            async with self._api.stream(
                "GET", f"containers/{daemon_name}/archive", params={"path": path}
            ) as content:
                return plain_file(await content.read())
        except aiodocker.DockerError as error:
            if error.status != 404:
                raise
            return b""

    async def unpack(self, daemon_name: str, archive: bytes) -> None:
        """Add what is in the archive to the container's root; a directory is never replaced by anything else."""
        path = f"containers/{daemon_name}/archive"
        params = {"path": "/", "noOverwriteDirNonDir": "true"}
        async with self._api.stream("PUT", path, params=params, body=archive) as content:
            await content.read()
