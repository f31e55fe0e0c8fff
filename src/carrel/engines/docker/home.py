"""The session home, for images that were not built for Carrel."""

from dataclasses import dataclass
from typing import Any

import aiodocker

from carrel.core.host_names import architecture
from carrel.engines.docker.api import DockerApi
from carrel.engines.docker.container_config import LABEL_USER, OF_LAYER, home_archive, plain_file
from carrel.engines.port import ContainerSpec, ImageUnusable


@dataclass(frozen=True, slots=True)
class _Known:
    image_id: str
    archive: bytes | None
    """The archive to unpack into a container of this image before its start; None if nothing is missing."""


_Kind = tuple[str, bool, bool]


def _kind(spec: ContainerSpec) -> _Kind:
    """What decides what is missing."""
    return spec.image, spec.root, bool(spec.layer)


class Homes:
    """The missing files of each image, determined with its first container."""

    def __init__(self, api: DockerApi) -> None:
        self._api = api
        self._known: dict[_Kind, _Known] = {}

    async def furnish(self, daemon_name: str, spec: ContainerSpec) -> None:
        """Add home and user to the container if the image has none, the user's way to root, and what its app layer
        makes up for. Twice: the same result. Raises: DockerError, ImageUnusable.
        """
        kind = _kind(spec)
        known = self._known.get(kind)
        if known is None:
            known = self._known[kind] = await self._learn(daemon_name, spec)
        if known.archive is not None:
            await self.unpack(daemon_name, known.archive)

    async def check(self, daemon_name: str, spec: ContainerSpec, image_id: str) -> None:
        """Correct the assumption of `furnish` if the image's name refers to another image since."""
        known = self._known.get(_kind(spec))
        if known is not None and known.image_id != image_id:
            del self._known[_kind(spec)]
            await self.furnish(daemon_name, spec)

    async def _learn(self, daemon_name: str, spec: ContainerSpec) -> _Known:
        inspected: Any = await self._api.call("GET", f"containers/{daemon_name}/json")
        missing = [path for path in OF_LAYER if spec.layer and not await self._has(daemon_name, path)]
        if "/bin/sh" in missing:
            await self._require_architecture(spec.image, inspected["Image"])
        has_user = inspected["Config"]["Labels"].get(LABEL_USER) == "work"
        if has_user and not spec.root and not missing:
            return _Known(inspected["Image"], None)
        passwd = await self._read(daemon_name, "/etc/passwd")
        group = await self._read(daemon_name, "/etc/group")
        return _Known(inspected["Image"], home_archive(passwd, group, root=spec.root, missing=missing))

    async def _require_architecture(self, image: str, image_id: str) -> None:
        """Of an image without a shell, the layer's would start whatever its own programs are made for.

        Raises: ImageUnusable.
        """
        own = architecture((await self._api.call("GET", f"images/{image_id}/json"))["Architecture"])
        ours = architecture((await self._api.call("GET", "info"))["Architecture"])
        if own and ours and own != ours:
            raise ImageUnusable(f"The image {image} is for {own}, and this machine is {ours}.")

    async def _has(self, daemon_name: str, path: str) -> bool:
        try:
            async with self._api.stream(
                "HEAD", f"containers/{daemon_name}/archive", params={"path": path}
            ) as nothing:
                await nothing.read()
        except ValueError:
            return False  # an error, whose text the client expects in the body that it does not have
        except aiodocker.DockerError as error:
            if error.status != 404:
                raise
            return False
        return True

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
