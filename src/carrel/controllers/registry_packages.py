"""Reads the package databases of the images that a scan has put into the catalogue, layer by layer.

Each layer is downloaded once, whichever images and registries have it, and goes through memory only. What is left after
a crash is what the catalogue does not know yet.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

import aiohttp
import structlog
from sqlalchemy.exc import DBAPIError

from carrel.controllers.active_tasks import side_by_side
from carrel.controllers.loop import Tools
from carrel.core.ids import ScanId
from carrel.images import layer_packages
from carrel.images.registries import layer_reading, scans
from carrel.images.registries.client import RegistryClient
from carrel.images.registries.layer_reading import (
    MOST_DATABASES,
    LayerDatabases,
    LayerUnreadable,
    LayerUnsupported,
    OtherDigest,
)
from carrel.images.registries.manifests import Layer, ManifestReader
from carrel.images.registries.package_databases import Packages, contents_of
from carrel.images.registries.registry_errors import ENDS_ALL, RegistryError, broken
from carrel.images.registries.repositories import pull
from carrel.tables.registries import ImageRegistry

log = structlog.get_logger()

UNEXPECTED = "Something unexpected happened; see the log of the server."
IMAGES_AT_ONCE, _IMAGES_OF_A_SCAN = 4, 2
_LONGEST_S = 3600.0
_LEAST_BYTES_PER_S, _SLACK_S = 100 << 10, 60.0
_MOST_LAYERS = 512
"""Of an image; engines have fewer."""
_MOST_BYTES = 16 << 30
"""Of the layers of an image that are still to be downloaded."""


class PackageReader:
    """Reads what one scan has found. slots: for an image each, of all scans."""

    def __init__(
        self,
        tools: Tools,
        scan: ScanId,
        client: RegistryClient,
        registry: ImageRegistry,
        slots: asyncio.Semaphore,
    ) -> None:
        self._tools = tools
        self._scan = scan
        self._client = client
        self._registry = registry
        self._slots = slots
        self._locks: dict[str, asyncio.Lock] = {}

    async def read(self, preferred: Sequence[str]) -> None:
        """Read what is not known, as far as time suffices. Raises: RegistryError if the registry as a whole fails."""
        async with self._tools.transaction() as tx:
            await layer_packages.forget(tx, self._tools.clock.now())
            unread = await layer_packages.unread(tx, self._registry.id)
        images = iter(unread)

        async def work() -> None:
            for repository, digest in images:
                async with self._slots:
                    await self._image(repository, digest, preferred)

        try:
            async with asyncio.timeout(_LONGEST_S):
                await side_by_side(work() for _ in range(_IMAGES_OF_A_SCAN))
        except TimeoutError:
            hours = f"{_LONGEST_S / 3600:.0f} h"
            await self._note(f"Packages of some images are not read after {hours}; the next scan continues.")

    async def _image(self, repository: str, digest: str, preferred: Sequence[str]) -> None:
        try:
            layers = await ManifestReader(self._client, repository, preferred).layers(digest)
            problem = await self._layers(repository, digest, layers)
        except RegistryError as error:
            if error.code in ENDS_ALL:
                raise
            # Another scan tries it again.
            problem = error.message
        except DBAPIError:
            # What the layers have cannot be stored.
            log.exception("registry.packages_not_stored", scan=self._scan, repository=repository)
            problem = UNEXPECTED
        if problem:
            await self._note(f"{repository}: {problem}")

    async def _note(self, problem: str) -> None:
        async with self._tools.transaction() as tx:
            await scans.note_problem(tx, self._scan, problem)

    async def _layers(self, repository: str, digest: str, layers: Sequence[Layer]) -> str | None:
        """Read and describe an image; the problem if not all of it could be read. Raises: RegistryError."""
        if len(layers) > _MOST_LAYERS:
            excess = f"Packages are not read: it has more than {_MOST_LAYERS} layers."
            return await self._describe(repository, digest, {}, excess)
        digests = [layer.digest for layer in layers]
        known = await self._known(digests)
        missing = {layer.digest: layer.size_bytes for layer in layers if layer.digest not in known}
        if sum(missing.values()) > _MOST_BYTES:
            gib = _MOST_BYTES >> 30
            excess = f"Packages are not read: layers of more than {gib} GiB would have to be downloaded."
            return await self._describe(repository, digest, {}, excess)
        unsupported: dict[str, str] = {}
        for layer, size_bytes in missing.items():
            try:
                # Images that are read side by side may share it.
                async with self._locks.setdefault(layer, asyncio.Lock()):
                    if not await self._known([layer]):
                        await self._layer(repository, layer, size_bytes)
            except LayerUnsupported as error:
                unsupported[layer] = str(error)
        databases, problem = await self._combined(digests, unsupported)
        contents = await asyncio.to_thread(contents_of, databases)
        return await self._describe(repository, digest, contents, problem, again=bool(unsupported))

    async def _known(self, layers: Sequence[str]) -> set[str]:
        async with self._tools.transaction() as tx:
            return await layer_packages.known(tx, layers, self._tools.clock.now())

    async def _combined(
        self, layers: Sequence[str], unsupported: Mapping[str, str]
    ) -> tuple[Mapping[str, Packages], str | None]:
        """The databases of an image from its layers, the lowest first; the problem if some are not read."""
        databases: dict[str, Packages] = {}
        problem = None
        # One at a time, in a thread: each of them may have much.
        for layer in layers:
            async with self._tools.transaction() as tx:
                stored = await layer_packages.stored(tx, layer)
            read, unreadable = stored or (LayerDatabases(), unsupported.get(layer, "it is not known"))
            databases = await asyncio.to_thread(read.over, databases)
            if len(databases) > MOST_DATABASES:
                return {}, f"Packages are not read: it has more than {MOST_DATABASES} package databases."
            if unreadable:
                problem = f"Layer {layer[:19]} is not read: {unreadable}."
        return databases, problem

    async def _describe(
        self,
        repository: str,
        digest: str,
        contents: Mapping[str, Sequence[str]],
        problem: str | None,
        *,
        again: bool = False,
    ) -> str | None:
        async with self._tools.transaction() as tx:
            image = self._registry.id, repository, digest
            await layer_packages.describe(tx, image, contents, problem, again=again)
        return problem

    async def _layer(self, repository: str, digest: str, size_bytes: int) -> None:
        download = _Download(digest, size_bytes, self._client.host)
        path = f"v2/{repository}/blobs/{digest}"
        try:
            async with asyncio.timeout(size_bytes / _LEAST_BYTES_PER_S + _SLACK_S):
                await self._client.get(path, accept="*/*", scope=pull(repository), take=download.take)
        except TimeoutError:
            raise broken(self._client.host, "a layer too slowly") from None
        async with self._tools.transaction() as tx:
            now = self._tools.clock.now()
            await layer_packages.keep(tx, digest, download.layer, download.problem, now)
            await scans.count_layer(tx, self._scan, download.size)


class _Download:
    """A layer as it comes: read in a thread, since it is inflated there."""

    def __init__(self, digest: str, size_bytes: int, host: str) -> None:
        self.layer = LayerDatabases()
        self.problem: str | None = None
        self.size = 0
        self._digest = digest
        self._most = size_bytes
        self._host = host

    async def take(self, body: aiohttp.StreamReader) -> None:
        """Raises: RegistryError if it is another layer, or longer."""
        more = partial(self._more, body, asyncio.get_running_loop())
        try:
            self.layer = await asyncio.to_thread(layer_reading.read_layer, self._digest, more)
        except LayerUnreadable as error:
            self.problem = str(error)
        except OtherDigest:
            raise broken(self._host, "a layer with another digest") from None

    def _more(self, body: aiohttp.StreamReader, loop: asyncio.AbstractEventLoop) -> bytes:
        piece = asyncio.run_coroutine_threadsafe(body.readany(), loop).result()
        self.size += len(piece)
        if self.size > self._most:
            raise RegistryError("broken", f"{self._host} sent more of a layer than its manifest says.")
        return piece
