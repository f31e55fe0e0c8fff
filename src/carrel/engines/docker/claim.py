"""The binding of an installation's label to its database, stored in the daemon.

A copy of a database has the label of the original, so it would treat the original's containers as its own. Both use the
same daemon: a volume there names the database that owns the label, and installations with another database keep away.
Creating a volume is atomic and returns an existing one unchanged, so exactly one of two concurrent claims wins.

A second volume asks whether the holder is running: a running holder deletes it.
"""

import asyncio
import json
from typing import Any

import aiodocker

from carrel.engines.docker.api import DockerApi, sentences
from carrel.engines.docker.container_config import LABEL_INSTALLATION, Names
from carrel.engines.port import Claimant, ClaimedElsewhere

_FINGERPRINT = "carrel.database"
_PLACE = "carrel.place"
_LOOK_S = 0.5
ANSWERS_WITHIN_S = 30.0
"""Three rounds of a running holder, which checks for questions every ten seconds."""


class VolumeClaim:
    """The claim of an installation's label. claimant: this installation; None: accept any holder."""

    def __init__(self, api: DockerApi, names: Names, claimant: Claimant | None) -> None:
        self._api = api
        self._names = names
        self._claimant = claimant
        self._name = f"{names.network}-claim"
        self._question = f"{names.network}-question"

    async def require(self) -> None:
        """Check that the label is ours; bind it if it is free. Raises: ClaimedElsewhere."""
        if self._claimant is None:
            return
        with sentences():
            holder = await self.holder() or await self._create(self._claimant)
        if holder.fingerprint != self._claimant.fingerprint:
            raise ClaimedElsewhere(self._names.installation, holder.place)

    async def holder(self) -> Claimant | None:
        """The holder of the label; None if it is free. Raises: EngineError."""
        with sentences():
            volume = await self._volume(self._name)
            return _claimant(volume) if volume else None

    async def others(self) -> list[str]:
        """Locations of the other installations with a label in this daemon. Raises: EngineError."""
        with sentences():
            answer = await self._api.call(
                "GET", "volumes", params={"filters": json.dumps({"label": [_FINGERPRINT]})}
            )
        volumes = [volume for volume in answer["Volumes"] or () if volume["Name"] != self._name]
        return sorted(_claimant(volume).place for volume in volumes)

    async def answer(self) -> None:
        """Confirm as the holder that this installation is running."""
        if self._claimant is not None:
            await self._delete(self._question)

    async def holder_answers(self, *, within_s: float) -> bool:
        """True if the holder responds within this time, so it is running. Raises: EngineError."""
        with sentences():
            await self._api.call("POST", "volumes/create", body=self._body(self._question, {}))
            try:
                async with asyncio.timeout(within_s):
                    await self._until_answered()
                    return True
            except TimeoutError:
                return False
            finally:
                await self._delete(self._question)

    async def _until_answered(self) -> None:
        while True:
            if await self._volume(self._question) is None:
                return
            await asyncio.sleep(_LOOK_S)

    async def take_over(self) -> None:
        """Bind the label to us, whoever holds it. Raises: ClaimedElsewhere if another installation was faster."""
        with sentences():
            await self._delete(self._name)
        await self.require()

    async def release(self) -> None:
        """Release the label. Twice: no-op."""
        await self._delete(self._question)
        await self._delete(self._name)

    async def _create(self, claimant: Claimant) -> Claimant:
        labels = {_FINGERPRINT: claimant.fingerprint, _PLACE: claimant.place}
        try:
            made = await self._api.call("POST", "volumes/create", body=self._body(self._name, labels))
        except aiodocker.DockerError:
            # Podman rejects an existing name.
            made = await self._volume(self._name)
            if made is None:
                raise
        return _claimant(made)

    def _body(self, name: str, labels: dict[str, str]) -> dict[str, object]:
        return {"Name": name, "Labels": {LABEL_INSTALLATION: self._names.installation, **labels}}

    async def _volume(self, name: str) -> Any:
        try:
            return await self._api.call("GET", f"volumes/{name}")
        except aiodocker.DockerError as error:
            if error.status != 404:
                raise
            return None

    async def _delete(self, name: str) -> None:
        try:
            await self._api.call("DELETE", f"volumes/{name}")
        except aiodocker.DockerError as error:
            if error.status != 404:
                raise


def _claimant(volume: Any) -> Claimant:
    labels = volume.get("Labels") or {}
    return Claimant(labels.get(_FINGERPRINT, ""), labels.get(_PLACE, "another installation"))
