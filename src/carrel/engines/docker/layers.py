"""App layers: `optional.LayerMounting` by volumes, which are filled once from an image.

A volume that is being filled cannot be told from a complete one, and a crash may leave it like that. So each attempt
fills a volume of its own, and once that is complete and on disk, creates a second, empty one under the name of the
version, whose label names the first. Creating a volume is atomic and returns an existing one unchanged: of several
attempts, also of several installations, the first counts.

    carrel-layer-VERSION            label carrel.layer.content=carrel-layer-VERSION-5f3a
    carrel-layer-VERSION-5f3a       the content
"""

import asyncio
import secrets
import time
from typing import Any

import aiodocker
import structlog

from carrel.engines.docker.api import DockerApi, Params, filters
from carrel.engines.port import APP_LAYER, EngineError, ImageUnusable

log = structlog.get_logger()

_PREFIX = "carrel-layer-"
_LABEL = "carrel.layer"
"""Of everything made here: the repository of the layer's image."""
_CONTENT = "carrel.layer.content"
_FILL_S = 1800.0
_LEFT_S = 2 * _FILL_S
"""Age from which a container that fills a volume was left by a crash."""
_PLACE = "/layer"
_FILL = f"cp -a {APP_LAYER}/. {_PLACE}/ && sync"


class LayerVolumes:
    """The volumes of app layers in a daemon, which its installations share."""

    def __init__(self, api: DockerApi) -> None:
        self._api = api
        self._ready: dict[str, str] = {}
        self._filling = asyncio.Lock()

    def mount(self, content: str) -> dict[str, object]:
        """The daemon's mount of a volume with content."""
        return {
            "Type": "volume",
            "Source": content,
            "Target": APP_LAYER,
            "ReadOnly": True,
            "VolumeOptions": {"NoCopy": True},
        }

    async def content(self, reference: str) -> str:
        """The name of the complete volume of the image, which is made if there is none.

        Raises: DockerError, EngineError.
        """
        if content := self._ready.get(reference):
            return content
        async with self._filling:
            name = _PREFIX + reference.rpartition(":")[2]
            content = await self._existing(name) or await self._filled(name, reference)
            self._ready[reference] = content
            return content

    def forget(self) -> None:
        """Look again whether volumes exist: somebody may have deleted them."""
        self._ready.clear()

    async def remove(self, repository: str, *, kept: str) -> None:
        """Implements `optional.LayerMounting.remove_layers`."""
        self._ready.clear()
        chosen = filters(label=[f"{_LABEL}={repository}"])
        current = _PREFIX + kept.rpartition(":")[2] if kept else ""
        await self._sweep(chosen)
        volumes = (await self._api.call("GET", "volumes", params=chosen))["Volumes"] or []
        marks = {volume["Name"]: _content_of(volume) for volume in volumes if _content_of(volume)}
        for volume in volumes:
            name = volume["Name"]
            # The content goes before its mark, which is deleted below: without it, nobody would find the rest.
            if name not in marks and name != marks.get(current):
                await self._delete(name)
        for mark, content in marks.items():
            if mark != current and await self._volume(content) is None:
                await self._delete(mark)

    async def _sweep(self, chosen: Params) -> None:
        """Delete the containers of attempts that were interrupted."""
        for row in await self._api.call("GET", "containers/json", params={**chosen, "all": "true"}):
            if time.time() - row["Created"] > _LEFT_S:
                await self._discard(row["Id"])

    async def _existing(self, name: str) -> str | None:
        mark = await self._volume(name)
        if mark is None:
            return None
        if await self._volume(_content_of(mark)):
            return _content_of(mark)
        await self._delete(name)
        return None

    async def _filled(self, name: str, reference: str) -> str:
        """Fill a volume. Raises: DockerError, ImageUnusable, EngineError."""
        own = f"{name}-{secrets.token_hex(4)}"
        labels = {_LABEL: reference.rpartition(":")[0]}
        body = {
            "Image": reference,
            "User": "0:0",
            "Entrypoint": [f"{APP_LAYER}/bin/sh", "-c", _FILL],
            "Cmd": [],
            "Env": [f"PATH={APP_LAYER}/busybox"],
            "Labels": labels,
            "HostConfig": {
                "NetworkMode": "none",
                "Mounts": [
                    {"Type": "volume", "Source": own, "Target": _PLACE, "VolumeOptions": {"NoCopy": True}}
                ],
            },
        }
        await self._create(own, labels)
        try:
            try:
                await self._api.call("POST", "containers/create", params={"name": own}, body=body)
            except aiodocker.DockerError as error:
                if error.status == 404:
                    raise ImageUnusable(f"The container engine has no image {reference}.") from error
                raise
            await self._api.call("POST", f"containers/{own}/start")
            ended = await self._api.call("POST", f"containers/{own}/wait", timeout_s=_FILL_S)
            if ended["StatusCode"] != 0:
                raise EngineError("The app layer could not be copied to a volume.", retriable=True)
            # While its container exists, `remove` of another process cannot delete the volume.
            mark = await self._create(name, {**labels, _CONTENT: own})
        finally:
            await self._discard(own)
        content = _content_of(mark)
        if content != own:
            await self._delete(own)
        return content

    async def _create(self, name: str, labels: dict[str, str]) -> Any:
        try:
            return await self._api.call("POST", "volumes/create", body={"Name": name, "Labels": labels})
        except aiodocker.DockerError:
            # Podman rejects an existing name.
            existing = await self._volume(name)
            if existing is None:
                raise
            return existing

    async def _volume(self, name: str) -> Any:
        try:
            return await self._api.call("GET", f"volumes/{name}")
        except aiodocker.DockerError as error:
            if error.status != 404:
                raise
            return None

    async def _discard(self, container: str) -> None:
        """Delete a container; if this is interrupted, its volume stays until the container is gone."""
        try:
            await self._api.call("DELETE", f"containers/{container}", params={"force": "true"})
        except (aiodocker.DockerError, EngineError) as error:
            log.info("layer.helper_stays", container=container, error=str(error))

    async def _delete(self, name: str) -> None:
        """Delete a volume, unless a container uses it."""
        try:
            await self._api.call("DELETE", f"volumes/{name}")
        except aiodocker.DockerError as error:
            if error.status not in (404, 409):
                raise


def _content_of(volume: Any) -> str:
    return str((volume.get("Labels") or {}).get(_CONTENT, ""))
