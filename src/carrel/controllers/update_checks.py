"""Check the tags of watched images, offer what is new, and take updates.

All that is known is in rows. A check is one request for a digest; one that was cut off is due again.
"""

from collections.abc import Sequence
from functools import partial
from itertools import groupby

import structlog
from sqlalchemy.exc import DBAPIError

from carrel.controllers.active_tasks import ActiveTasks
from carrel.controllers.loop import Tools, beside
from carrel.core.ids import ImageId, RegistryId
from carrel.db.encryption import SecretUnreadable
from carrel.images import watched_images
from carrel.images.image_updates import announcing, due_checks, taking
from carrel.images.image_updates.due_checks import DueCheck
from carrel.images.registries import service as registries
from carrel.images.registries.client import RegistryClient, connected
from carrel.images.registries.manifests import ManifestReader
from carrel.images.registries.registry_errors import ENDS_ALL, RegistryError
from carrel.nodes.architectures import machine_architectures
from carrel.tables.images import WATCH_TOPIC
from carrel.tables.registries import ImageRegistry

log = structlog.get_logger()

_MISSING = "registry.missing"
_UNEXPECTED = "Something unexpected happened; see the log of the server."


class UpdateChecks:
    """One registry at a time, each at its own pace."""

    name = "update_checks"
    topics: Sequence[str] = (WATCH_TOPIC,)
    tick_s = 60.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._active = ActiveTasks[RegistryId]()

    async def step(self) -> None:
        """Begin what is due, and announce what is new once nothing runs."""
        now = self._tools.clock.now()
        async with self._tools.transaction() as tx:
            due = await due_checks.due(tx, now)
            if not due and not self._active:
                await announcing.announce(tx, self._tools.seal, self._tools.public_url, now)
        for registry, of_one in groupby(due, key=lambda one: one.registry):
            self._active.begin(registry, partial(self._work, registry, tuple(of_one)))

    async def drain(self) -> None:
        """Wait until nothing is being checked."""
        await self._active.drain()

    async def close(self) -> None:
        """Cancel all checks; the next leader makes them."""
        await self._active.close()

    async def _work(self, registry: RegistryId, due: Sequence[DueCheck]) -> None:
        await beside("check of images", partial(self._check, registry, due), registry=registry)

    async def _check(self, registry_id: RegistryId, due: Sequence[DueCheck]) -> None:
        """All of one registry, until it fails as a whole."""
        left = {one.image for one in due}
        try:
            async with self._tools.transaction() as tx:
                registry = await tx.get(ImageRegistry, registry_id)
                if registry is None:
                    return
                connection = await registries.connection(tx, self._tools.seal, registry)
                architectures = await machine_architectures(tx)
            async with connected(connection) as client:
                for one in due:
                    await self._one(client, one, architectures)
                    left.discard(one.image)
        except (RegistryError, SecretUnreadable) as error:
            log.warning("update_checks.failed", registry=registry_id, code=error.code, images=len(left))
            await self._failed(left, error.message)

    async def _one(self, client: RegistryClient, one: DueCheck, architectures: Sequence[str]) -> None:
        """Check a tag, or take its update. Raises: RegistryError if the registry as a whole does not work."""
        reader = ManifestReader(client, one.repository, architectures)
        try:
            digest = one.take
            if digest is None:
                digest = await reader.digest(one.tag)
                async with self._tools.transaction() as tx:
                    to_take = await watched_images.checked(tx, one.image, digest, self._tools.clock.now())
                if not (to_take and one.automatic):
                    return
            await self._take(reader, one, digest)
        except RegistryError as error:
            if error.code in ENDS_ALL:
                raise
            await self._failed({one.image}, error.message, missing=error.code == _MISSING)
        except (DBAPIError, ValueError, ArithmeticError, RecursionError):
            # What the registry sent cannot be stored.
            log.exception("update_checks.not_stored", image=one.image)
            await self._failed({one.image}, _UNEXPECTED)

    async def _take(self, reader: ManifestReader, one: DueCheck, digest: str) -> None:
        try:
            described = await reader.described(digest)
        except RegistryError as error:
            if error.code != _MISSING:
                raise
            async with self._tools.transaction() as tx:
                await due_checks.not_taken(tx, one.image, digest, error.message, self._tools.clock.now())
            return
        async with self._tools.transaction() as tx:
            done = await taking.taken(tx, self._tools.clock, one.image, described)
        if done:
            log.info("update_checks.taken", image=one.image, digest=digest)

    async def _failed(self, images: set[ImageId], problem: str, *, missing: bool = False) -> None:
        async with self._tools.transaction() as tx:
            now = self._tools.clock.now()
            await due_checks.not_checked(tx, images, problem, now, missing=missing)
