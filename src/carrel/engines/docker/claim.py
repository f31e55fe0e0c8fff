"""Which database an installation's label stands for in a daemon, written in the daemon itself.

A copy of a database has the label of the original, so it takes the original's containers for its own. Both see the same
daemon: a volume there names the database that the label belongs to, and whoever finds another one keeps away. Creating
a volume is atomic in the daemon and gives an existing one back unchanged, so of two who claim at once one wins.

Whether the holder still runs is found out by a question: a second volume, which a running holder deletes.
"""

import asyncio
import json
from typing import Any

import aiodocker

from carrel.engines.docker.api import DockerApi, sentences
from carrel.engines.docker.spec import LABEL_INSTALLATION, Names
from carrel.engines.port import Claimant, ClaimedElsewhere

_FINGERPRINT = "carrel.database"
_PLACE = "carrel.place"
_LOOK_S = 0.5
ANSWERS_WITHIN_S = 30.0
"""Three rounds of a running holder, which looks for questions every ten seconds."""


class VolumeClaim:
    """The claim of one installation's label. claimant: who we are; None: whoever holds it is fine with us."""

    def __init__(self, api: DockerApi, names: Names, claimant: Claimant | None) -> None:
        self._api = api
        self._names = names
        self._claimant = claimant
        self._name = f"{names.network}-claim"
        self._question = f"{names.network}-question"

    async def require(self) -> None:
        """Return when the label is ours; a label that nobody holds becomes ours. Raises: ClaimedElsewhere."""
        if self._claimant is None:
            return
        with sentences():
            holder = await self.holder() or await self._create(self._claimant)
        if holder.fingerprint != self._claimant.fingerprint:
            raise ClaimedElsewhere(self._names.installation, holder.place)

    async def holder(self) -> Claimant | None:
        """Who holds the label; None when nobody does. Raises: EngineError."""
        with sentences():
            volume = await self._volume(self._name)
            return _claimant(volume) if volume else None

    async def others(self) -> list[str]:
        """Where the other installations are whose labels are claimed in this daemon. Raises: EngineError."""
        with sentences():
            found = await self._api.call(
                "GET", "volumes", params={"filters": json.dumps({"label": [_FINGERPRINT]})}
            )
        volumes = [volume for volume in found["Volumes"] or () if volume["Name"] != self._name]
        return sorted(_claimant(volume).place for volume in volumes)

    async def answer(self) -> None:
        """Tell whoever asks that the holder, which we are, runs."""
        if self._claimant is not None:
            await self._delete(self._question)

    async def holder_answers(self, *, within_s: float) -> bool:
        """Ask whether the holder runs, and wait that long for its answer. Raises: EngineError."""
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
        """Hold the label from now on, whoever held it. Raises: ClaimedElsewhere when somebody was faster."""
        with sentences():
            await self._delete(self._name)
        await self.require()

    async def release(self) -> None:
        """Let anybody hold the label. Twice: no-op."""
        await self._delete(self._question)
        await self._delete(self._name)

    async def _create(self, claimant: Claimant) -> Claimant:
        labels = {_FINGERPRINT: claimant.fingerprint, _PLACE: claimant.place}
        try:
            made = await self._api.call("POST", "volumes/create", body=self._body(self._name, labels))
        except aiodocker.DockerError:
            # Podman refuses a name that is taken.
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
