"""Scan registries: list repositories and tags, read what has changed, and write it to the catalogue.

A scan is a row with a row for each repository. A repository is written and marked as done in one transaction, so
after a crash a scan continues with the repositories that are left.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import structlog
from sqlalchemy.exc import DBAPIError

from carrel.controllers.active_tasks import ActiveTasks, side_by_side
from carrel.controllers.loop import Tools, beside
from carrel.controllers.registry_packages import IMAGES_AT_ONCE, UNEXPECTED, PackageReader
from carrel.core.errors import Unavailable
from carrel.core.ids import ScanId
from carrel.db.database import notify
from carrel.db.encryption import SecretUnreadable
from carrel.db.leader import LeadershipLost
from carrel.images import scanned
from carrel.images.registries import repositories, scans, service
from carrel.images.registries.client import RegistryClient, connected
from carrel.images.registries.manifests import ImageDescription, ManifestReader
from carrel.images.registries.registry_errors import ENDS_ALL, RegistryError
from carrel.images.registries.scans import Counts
from carrel.nodes.architectures import machine_architectures
from carrel.tables.registries import TOPIC, ImageRegistry, RegistryScan, ScanState

log = structlog.get_logger()

_SCANS_AT_ONCE = 2
_REPOSITORIES_AT_ONCE = 4
_REQUESTS_AT_ONCE = 8
_LONGEST_S = 6 * 3600.0


class RegistryScans:
    """At most two scans at once, each of another registry; those that have come to packages do not count."""

    name = "registry_scans"
    topics: Sequence[str] = (TOPIC,)
    tick_s = 60.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._active = ActiveTasks[ScanId]()
        self._reading = _PackageReading()

    async def step(self) -> None:
        """Start the open scans, and stop those that were cancelled."""
        async with self._tools.transaction() as tx:
            opened = await scans.open_scans(tx)
        for scan in opened:
            if scan.cancel:
                await self._active.stop(scan.id)
                async with self._tools.transaction() as tx:
                    await scans.finish(tx, scan.id, ScanState.CANCELLED, self._tools.clock.now(), requests=0)
        waiting = [one for one in opened if not one.cancel and one.id not in self._reading.scans]
        for scan in waiting[:_SCANS_AT_ONCE]:
            self._active.begin(scan.id, partial(self._work, scan))

    async def drain(self) -> None:
        """Wait until no scan is running."""
        await self._active.drain()

    async def close(self) -> None:
        """Cancel all running scans; the next leader continues them."""
        await self._active.close()

    async def _work(self, scan: RegistryScan) -> None:
        await beside(
            "scan of a registry", partial(_Scan(self._tools, scan.id, self._reading).run), scan=scan.id
        )


class _PackageReading:
    """The scans that have come to packages, and what they share."""

    def __init__(self) -> None:
        self.scans = set[ScanId]()
        self.slots = asyncio.Semaphore(IMAGES_AT_ONCE)


class _Scan:
    """One attempt at a scan."""

    def __init__(self, tools: Tools, scan: ScanId, reading: _PackageReading) -> None:
        self._tools = tools
        self._id = scan
        self._reading = reading
        self._sent = 0
        self._slots = asyncio.Semaphore(_REPOSITORIES_AT_ONCE)
        self._requests = asyncio.Semaphore(_REQUESTS_AT_ONCE)

    async def run(self) -> None:
        """Read what is left, and end the scan, whatever goes wrong: otherwise it would be continued for ever."""
        async with self._tools.transaction() as tx:
            registry = await scans.begin(tx, self._id, self._tools.clock.now())
        if registry is None:
            return
        problem = await self._problem(registry)
        async with self._tools.transaction() as tx:
            state = ScanState.FAILED if problem else ScanState.DONE
            now = self._tools.clock.now()
            await scans.finish(tx, self._id, state, now, requests=self._sent, problem=problem)

    async def _problem(self, registry: ImageRegistry) -> str | None:
        """Scan the registry; why that failed, None if it did not. Raises: LeadershipLost, Unavailable."""
        try:
            async with asyncio.timeout(_LONGEST_S):
                await self._scan(registry)
        except (RegistryError, SecretUnreadable) as error:
            log.warning("registry.scan_failed", scan=self._id, registry=registry.id, code=error.code)
            return error.message
        except (LeadershipLost, Unavailable):
            raise
        except TimeoutError:
            return f"It took more than {_LONGEST_S / 3600:.0f} hours."
        except Exception:
            log.exception("registry.scan_broken", scan=self._id, registry=registry.id)
            return UNEXPECTED
        return None

    async def _scan(self, registry: ImageRegistry) -> None:
        async with self._tools.transaction() as tx:
            connection = await service.connection(tx, self._tools.seal, registry)
            preferred = await machine_architectures(tx)
        async with connected(connection) as client:
            try:
                names = await self._listed(client, registry)
                await side_by_side(self._read(client, registry, name, preferred) for name in names)
                if registry.read_packages:
                    await self._read_packages(client, registry, preferred)
            finally:
                self._sent = client.requests

    async def _read_packages(
        self, client: RegistryClient, registry: ImageRegistry, preferred: Sequence[str]
    ) -> None:
        """Raises: RegistryError if the registry as a whole does not work."""
        self._reading.scans.add(self._id)
        try:
            async with self._tools.transaction() as tx:
                # The next scan can begin.
                await notify(tx, TOPIC)
            reader = PackageReader(self._tools, self._id, client, registry, self._reading.slots)
            await reader.read(preferred)
        finally:
            self._reading.scans.discard(self._id)

    async def _listed(self, client: RegistryClient, registry: ImageRegistry) -> list[str]:
        """The repositories that are left. Raises: RegistryError."""
        async with self._tools.transaction() as tx:
            left = await scans.left(tx, self._id)
        if left is not None:
            return left
        names = await repositories.names(client, registry.namespace, registry.repositories)
        async with self._tools.transaction() as tx:
            removed = await scanned.drop_others(tx, registry.id, names)
            await scans.list_repositories(tx, self._id, names, removed=removed)
        return names

    async def _read(
        self, client: RegistryClient, registry: ImageRegistry, repository: str, preferred: Sequence[str]
    ) -> None:
        """Read a repository and write it. Raises: RegistryError if the registry as a whole does not work."""
        async with self._slots:
            async with self._tools.transaction() as tx:
                known = await scanned.digests(tx, registry.id, repository)
            try:
                tags = await repositories.tags(client, repository, registry.tags)
                changed, problem = await self._changed(
                    ManifestReader(client, repository, preferred), tags, known
                )
            except RegistryError as error:
                if error.code in ENDS_ALL:
                    raise
                await self._give_up(repository, error.message)
                return
            try:
                async with self._tools.transaction() as tx:
                    now = self._tools.clock.now()
                    counts = await scanned.store(
                        tx, registry, repository, tags=tags, changed=changed, now=now
                    )
                    counts = replace(counts, problem=problem)
                    await scans.settle(tx, self._id, repository, counts)
            except (DBAPIError, ValueError, ArithmeticError, RecursionError):
                # What the registry sent cannot be stored.
                log.exception("registry.not_stored", scan=self._id, repository=repository)
                await self._give_up(repository, f"{repository}: {UNEXPECTED}")

    async def _give_up(self, repository: str, problem: str) -> None:
        async with self._tools.transaction() as tx:
            await scans.settle(tx, self._id, repository, Counts(problem=problem))

    async def _changed(
        self, reader: ManifestReader, tags: Sequence[str], known: Mapping[str, str]
    ) -> tuple[dict[str, ImageDescription], str | None]:
        """The images that are new or have another digest; and the problem of one that cannot be read."""
        problem: str | None = None

        async def one(tag: str) -> tuple[str, ImageDescription | None]:
            nonlocal problem
            async with self._requests:
                try:
                    return tag, await reader.changed(tag, known.get(tag))
                except RegistryError as error:
                    if error.code in ENDS_ALL:
                        raise
                    problem = f"{tag}: {error.message}"
                    return tag, None

        read = await side_by_side(one(tag) for tag in tags)
        return {tag: described for tag, described in read if described is not None}, problem
