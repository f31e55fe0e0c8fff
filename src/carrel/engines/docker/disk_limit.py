"""Limits of what containers write to their root file systems, where the daemon's storage driver enforces them."""

from collections.abc import Mapping
from typing import Any

import aiodocker
import structlog

from carrel.engines.docker.api import DockerApi
from carrel.engines.docker.container_config import LABEL_INSTALLATION, Names
from carrel.engines.docker.helper import helper_image
from carrel.engines.port import ContainerSpec

log = structlog.get_logger()

_DRIVERS = frozenset({"btrfs", "overlay", "overlay2", "zfs"})
"""Drivers with sizes on some file systems: overlay on XFS with project quotas. Others may ignore a size silently, also
containerd's drivers of these names.
"""
_COUNTING_IMAGES = frozenset({"btrfs"})
"""Drivers whose size of a container includes that of its image."""
_TRIAL_BYTES = 1 << 40


class DiskLimit:
    """Which drivers can is known, but not on which file systems: the first look creates a container with a size."""

    def __init__(self, api: DockerApi, names: Names) -> None:
        self._api = api
        self._names = names
        self._works: bool | None = None
        self._counts_images = False

    def forget(self) -> None:
        """The daemon may have restarted with other options."""
        self._works = None

    async def works(self, info: Mapping[str, Any] | None = None) -> bool:
        """True if the daemon limits containers; info: of the daemon."""
        if self._works is None:
            info = info or await self._api.call("GET", "info")
            status = dict(row for row in info.get("DriverStatus") or () if len(row) == 2)
            if info.get("Driver") not in _DRIVERS or "containerd" in status.get("driver-type", ""):
                self._works = False
            else:
                self._counts_images = info["Driver"] in _COUNTING_IMAGES
                self._works = await self._tried()
        return self._works

    async def options(self, spec: ContainerSpec) -> Mapping[str, str]:
        """The daemon's storage options for the container. Raises: DockerError (404) if its image is missing."""
        if spec.disk_bytes is None or not await self.works():
            return {}
        image_bytes = 0
        if self._counts_images:
            image_bytes = (await self._api.call("GET", f"images/{spec.image}/json"))["Size"]
        return {"size": str(spec.disk_bytes + image_bytes)}

    def refused(self, error: aiodocker.DockerError) -> bool:
        """True if the daemon does not take a size after all; it is not requested again."""
        if "storage-opt" not in error.message.lower():
            return False
        log.warning("engine.disk_limit_refused", error=error.message)
        self._works = False
        return True

    async def _tried(self) -> bool:
        name = f"{self._names.network}-disk-limit"
        body: dict[str, Any] = {
            "Entrypoint": ["/bin/true"],
            "Labels": {f"{LABEL_INSTALLATION}.disk-limit": self._names.installation},
            "HostConfig": {"NetworkMode": "none", "StorageOpt": {"size": str(_TRIAL_BYTES)}},
        }
        try:
            body["Image"] = await helper_image(self._api)
            await self._api.call("POST", "containers/create", params={"name": name}, body=body)
        except aiodocker.DockerError as error:
            # 409: left behind by a trial that was interrupted.
            if error.status != 409:
                log.info("engine.no_disk_limit", error=error.message)
                return False
        try:
            await self._api.call("DELETE", f"containers/{name}", params={"force": "true"})
        except aiodocker.DockerError as error:
            if error.status not in (404, 409):
                raise
        return True
