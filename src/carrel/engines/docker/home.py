"""The session home, for images that were not built for Carrel."""

from dataclasses import dataclass
from typing import Any

import aiodocker

from carrel.engines.docker.api import DockerApi
from carrel.engines.docker.container_config import LABEL_USER, home_archive, plain_file


@dataclass(frozen=True, slots=True)
class _Known:
    image_id: str
    archive: bytes | None
    """The archive to unpack into a container of this image before its start; None if nothing is missing."""


class Homes:
    """The missing files of each image, determined with its first container."""

    def __init__(self, api: DockerApi) -> None:
        self._api = api
        self._known: dict[tuple[str, bool], _Known] = {}

    async def furnish(self, daemon_name: str, image: str, *, root: bool) -> None:
        """Add home and user to the container if the image has none, and the user's way to root. Twice: the same
        result.
        """
        known = self._known.get((image, root))
        if known is None:
            known = self._known[image, root] = await self._learn(daemon_name, root=root)
        if known.archive is not None:
            await self.unpack(daemon_name, known.archive)

    async def check(self, daemon_name: str, image: str, image_id: str, *, root: bool) -> None:
        """Correct the assumption of `furnish` if the image's name refers to another image since."""
        known = self._known.get((image, root))
        if known is not None and known.image_id != image_id:
            del self._known[image, root]
            await self.furnish(daemon_name, image, root=root)

    async def _learn(self, daemon_name: str, *, root: bool) -> _Known:
        inspected: Any = await self._api.call("GET", f"containers/{daemon_name}/json")
        if inspected["Config"]["Labels"].get(LABEL_USER) == "work" and not root:
            return _Known(inspected["Image"], None)
        passwd = await self._read(daemon_name, "/etc/passwd")
        group = await self._read(daemon_name, "/etc/group")
        return _Known(inspected["Image"], home_archive(passwd, group, root=root))

    async def _read(self, daemon_name: str, path: str) -> bytes | None:
        """Content of a file of the image; b"" if missing, None if it is not a regular file."""
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
        """Unpack the archive into the container's root; a directory is never replaced by another type."""
        path = f"containers/{daemon_name}/archive"
        params = {"path": "/", "noOverwriteDirNonDir": "true"}
        async with self._api.stream("PUT", path, params=params, body=archive) as content:
            await content.read()
