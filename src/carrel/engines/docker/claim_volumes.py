"""The objects of a label's claim: volumes, whose labels name the claimant. See `label_claim`.

Creating a volume is atomic and returns an existing one unchanged.
"""

import json
from collections.abc import Mapping
from typing import Any

import aiodocker

from carrel.engines.docker.api import DockerApi, sentences
from carrel.engines.docker.container_config import LABEL_INSTALLATION, Names
from carrel.engines.port import Claimant

_FINGERPRINT = "carrel.database"
_PLACE = "carrel.place"


class ClaimVolumes:
    """A `ClaimStore` in a daemon."""

    def __init__(self, api: DockerApi, names: Names) -> None:
        self._api = api
        self._names = names

    async def read(self, name: str) -> Claimant | None:
        with sentences():
            volume = await self._volume(name)
        return _claimant(volume) if volume else None

    async def create(self, name: str, claimant: Claimant | None) -> Claimant | None:
        labels = {_FINGERPRINT: claimant.fingerprint, _PLACE: claimant.place} if claimant else {}
        body = {"Name": name, "Labels": {LABEL_INSTALLATION: self._names.installation, **labels}}
        with sentences():
            try:
                made = await self._api.call("POST", "volumes/create", body=body)
            except aiodocker.DockerError:
                # Podman rejects an existing name.
                made = await self._volume(name)
                if made is None:
                    raise
        return _claimant(made)

    async def delete(self, name: str) -> None:
        with sentences():
            try:
                await self._api.call("DELETE", f"volumes/{name}")
            except aiodocker.DockerError as error:
                if error.status != 404:
                    raise

    async def claims(self) -> Mapping[str, Claimant]:
        chosen = {"filters": json.dumps({"label": [_FINGERPRINT]})}
        with sentences():
            answer = await self._api.call("GET", "volumes", params=chosen)
        return {volume["Name"]: _claimant(volume) for volume in answer["Volumes"] or ()}

    async def _volume(self, name: str) -> Any:
        try:
            return await self._api.call("GET", f"volumes/{name}")
        except aiodocker.DockerError as error:
            if error.status != 404:
                raise
            return None


def _claimant(volume: Any) -> Claimant:
    labels = volume.get("Labels") or {}
    return Claimant(labels.get(_FINGERPRINT, ""), labels.get(_PLACE, "another installation"))
