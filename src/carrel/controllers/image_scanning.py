"""Scan images for packages and known vulnerabilities, when they are new and from time to time.

A scan's row is the task; after a crash it begins again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

import structlog

from carrel.controllers.active_tasks import ActiveTasks
from carrel.controllers.loop import Tools, beside
from carrel.core.errors import NotFound
from carrel.core.ids import EngineId, ImageScanId
from carrel.engines.optional import ImageListing
from carrel.engines.port import EngineError
from carrel.engines.tool_environment import variables_of
from carrel.image_scans import catalogue_digests, scan_tasks
from carrel.image_scans.scan_targets import ScanTarget, StoredImages
from carrel.image_scans.stored_reports import TooLargeToKeep, documents
from carrel.nodes.engines.connections import in_time
from carrel.scanners.scanner import Scanner, ScannerFailed
from carrel.tables.image_scans import TOPIC, ImageScan
from carrel.tables.registries import ScanState

log = structlog.get_logger()

_BEGUN = 2
"""One runs, and the next begins at once when it ends."""
_NO_SCANNER = "No scanner is set up: set CARREL_IMAGE_SCANNER of the server."
_TOO_LARGE = "What the scanner found is too large to be kept."
_UNEXPECTED = "Something unexpected happened; see the log of the server."


class ImageScanning:
    """One scan at a time."""

    name = "image_scans"
    topics: Sequence[str] = (TOPIC,)
    tick_s = 60.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._active = ActiveTasks[ImageScanId]()
        self._one = asyncio.Lock()

    async def step(self) -> None:
        """Stop scans that were cancelled, and start the oldest that is open."""
        there: Mapping[str, EngineId] = {}
        targets: Mapping[str, ScanTarget] = {}
        if self._tools.scanner:
            async with self._tools.transaction() as tx:
                there = await scan_tasks.present(tx)
                catalogue = await catalogue_digests.read(tx, there)
            stored = await self._stored(set(there.values()))
            targets = {
                reference: stored[engine_id].target(reference, catalogue.get(reference))
                for reference, engine_id in there.items()
                if engine_id in stored
            }
        async with self._tools.transaction() as tx:
            opened = await scan_tasks.due(tx, there, targets, self._tools.clock.now())
        for scan in opened:
            if scan.cancel:
                await self._active.stop(scan.id)
                await self._give_up(scan.id, ScanState.CANCELLED, None)
            elif self._tools.scanner is None:
                await self._give_up(scan.id, ScanState.FAILED, _NO_SCANNER)
        if scanner := self._tools.scanner:
            for scan in [one for one in opened if not one.cancel][:_BEGUN]:
                task = partial(self._scan, scanner, scan, there.get(scan.reference))
                self._active.begin(scan.id, partial(beside, "scan of an image", task, scan=scan.id))

    async def drain(self) -> None:
        """Wait until no scan is running."""
        await self._active.drain()

    async def close(self) -> None:
        """Cancel the running scan; the next leader begins it again."""
        await self._active.close()

    async def _stored(self, engines: set[EngineId]) -> dict[EngineId, StoredImages]:
        """What engines that list their images have; without those that do not respond."""
        stored: dict[EngineId, StoredImages] = {}
        for engine_id in engines:
            with suppress(EngineError, NotFound):
                engine = await self._tools.engines.of(engine_id)
                if isinstance(engine, ImageListing):
                    by_node = await in_time(engine.images_by_node())
                    stored[engine_id] = StoredImages(one for images in by_node.values() for one in images)
        return stored

    async def _scan(self, scanner: Scanner, scan: ImageScan, engine_id: EngineId | None) -> None:
        async with self._one:
            # It may have changed while others were scanned.
            stored = await self._stored({engine_id} if engine_id else set())
            images = stored.get(engine_id, StoredImages()) if engine_id else StoredImages()
            async with self._tools.transaction() as tx:
                now = self._tools.clock.now()
                catalogue = await catalogue_digests.read(tx, [scan.reference])
                target = images.target(scan.reference, catalogue.get(scan.reference))
                if await scan_tasks.reuse(tx, scan.id, target, now):
                    return
                begun = await scan_tasks.begin(tx, scan.id, engine_id)
            if begun is None:
                return
            log.info("image.scan_begun", scan=scan.id, image=begun.reference, target=target.reference)
            try:
                report = await scanner.scan(target.reference, variables_of(begun.engine_url))
                today = self._tools.clock.now().date()
                kept = await asyncio.to_thread(documents, report, begun.before, today)
            except ScannerFailed as error:
                await self._give_up(scan.id, ScanState.FAILED, str(error))
            except TooLargeToKeep:
                await self._give_up(scan.id, ScanState.FAILED, _TOO_LARGE)
            except (LookupError, RecursionError, TypeError, ValueError):
                # Anybody may have written what is in an image, and so in the output.
                log.exception("image.scan_broken", scan=scan.id)
                await self._give_up(scan.id, ScanState.FAILED, _UNEXPECTED)
            else:
                async with self._tools.transaction() as tx:
                    await scan_tasks.complete(tx, scan.id, target, kept, self._tools.clock.now())
                log.info("image.scanned", scan=scan.id, image=begun.reference)

    async def _give_up(self, scan: ImageScanId, state: ScanState, problem: str | None) -> None:
        async with self._tools.transaction() as tx:
            await scan_tasks.give_up(tx, scan, state, self._tools.clock.now(), problem)
        log.info("image.not_scanned", scan=scan, state=state, problem=problem)
