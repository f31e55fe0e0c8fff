"""Which image a container really runs, whatever its name means meanwhile."""

from typing import Any

from carrel.engines.docker.api import DockerApi
from carrel.engines.port import LOCAL_IMAGES
from carrel.engines.references import registry_of, repository_of

_MOST_KNOWN = 1000


class ImageIdentities:
    """Digests of images by their ids, which are asked for once."""

    def __init__(self, api: DockerApi) -> None:
        self._api = api
        self._known: dict[tuple[str, str], str] = {}

    async def digest(self, image_id: str, reference: str) -> str:
        """The digest of the image in the registry of the reference; "" if it was not pulled from there."""
        if reference.startswith(LOCAL_IMAGES):
            return ""
        key = image_id, reference
        if key not in self._known:
            inspected = await self._api.call("GET", f"images/{image_id}/json")
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = digest_in(inspected, reference)
        return self._known[key]


def digest_in(inspected: Any, reference: str) -> str:
    """The digest from an inspection of the image."""
    place = registry_of(reference), repository_of(reference)
    for one in inspected.get("RepoDigests") or ():
        if (registry_of(one), repository_of(one)) == place:
            return str(one.partition("@")[2])
    return ""
