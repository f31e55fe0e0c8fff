"""Names that images have while they are pushed: the daemon pushes an image by its name in the registry.

Sessions of others start from such names: one that is there stays as it is, and nobody starts from that of a push.
"""

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiodocker

from carrel.engines.docker.api import DockerApi
from carrel.engines.port import LOCAL_IMAGES, ImageUnusable
from carrel.engines.pushing import name_in_use
from carrel.engines.references import canonical, registry_of, repository_of


def mark(target: str) -> str:
    """A second name of what has this one by a push, by which that is known after a crash."""
    return f"{LOCAL_IMAGES}carrel-push:{hashlib.sha256(target.encode()).hexdigest()}"


class PushNames:
    """Of one daemon, in this process."""

    def __init__(self, api: DockerApi) -> None:
        self._api = api
        self._users = Counter[str]()
        self._pushed: set[str] = set()
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def use(self, reference: str) -> AsyncIterator[None]:
        """Wait until no push has the name; none gets it before the end."""
        name = canonical(reference)
        await self._when(lambda: name not in self._pushed)
        self._users[name] += 1
        try:
            yield
        finally:
            self._users[name] -= 1
            if not self._users[name]:
                del self._users[name]
            self._wake()

    @asynccontextmanager
    async def give(self, reference: str, target: str) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        """Give the image the name; yields what takes it away, at the end at the latest. One that it has stays.

        Raises: EngineError (push_name_in_use), ImageUnusable, DockerError.
        """
        name = canonical(target)
        await self._when(lambda: name not in self._users and name not in self._pushed)
        self._pushed.add(name)

        async def take_away() -> None:
            await self.discard(target)
            self._release(name)

        try:
            await self.discard(target)
            image, there = await self._inspected(reference), await self._inspected(target)
            if image is None:
                raise ImageUnusable(f"The container engine has no image {reference}.")
            if there and there["Id"] != image["Id"]:
                raise name_in_use(target)
            if not there:
                await self._tag(image["Id"], mark(target))
                await self._tag(image["Id"], target)
            yield take_away
            await self._forget_digest(image, target)
        finally:
            try:
                await take_away()
            finally:
                self._release(name)

    async def discard(self, target: str) -> None:
        """Take the name away if a push has given it. Twice: no-op. Raises: DockerError."""
        if marked := await self._inspected(mark(target)):
            there = await self._inspected(target)
            if there and there["Id"] == marked["Id"]:
                await self._untag(target)
            await self._untag(mark(target))

    async def _forget_digest(self, before: Any, target: str) -> None:
        """Remove what the daemon has kept as a name for its digest: the image would stay for it."""
        place = registry_of(target), repository_of(target)
        after = await self._inspected(before["Id"]) or {}
        for name in set(after.get("RepoDigests") or ()) - set(before.get("RepoDigests") or ()):
            if (registry_of(name), repository_of(name)) == place:
                await self._untag(name)

    def _release(self, name: str) -> None:
        self._pushed.discard(name)
        self._wake()

    async def _when(self, possible: Callable[[], bool]) -> None:
        while not possible():
            await self._changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _inspected(self, reference: str) -> Any:
        """None if it is missing."""
        return await self._unless_missing("GET", f"images/{reference}/json")

    async def _tag(self, image: str, name: str) -> None:
        repository, _, tag = name.rpartition(":")
        await self._api.call("POST", f"images/{image}/tag", params={"repo": repository, "tag": tag})

    async def _untag(self, name: str) -> None:
        """The image has another name, which it was pushed by."""
        await self._unless_missing("DELETE", f"images/{name}")

    async def _unless_missing(self, method: str, path: str) -> Any:
        try:
            return await self._api.call(method, path)
        except aiodocker.DockerError as error:
            if error.status != 404:
                raise
            return None
