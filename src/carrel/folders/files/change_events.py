"""Publish file changes in batches."""

import asyncio
from collections import Counter

import structlog
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import Unavailable
from carrel.core.ids import FolderId
from carrel.db.database import Database, notify
from carrel.folders import recipients
from carrel.tables.folders import TOPIC, VFolder

log = structlog.get_logger()
_PUBLISH_EVERY_S = 0.5


class FileChanges:
    """Publishes file changes and triggers measuring of their folders.

    Changes that happen together are published once, not per file. Received bytes count towards the folder's size
    until it is measured, so that quotas hold meanwhile.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._noted: Counter[FolderId] = Counter()

    def note(self, folder: VFolder, more_bytes: int = 0) -> None:
        """Record a change in the folder."""
        self._noted[folder.id] += more_bytes

    async def run(self) -> None:
        """Publish periodically until cancelled."""
        try:
            while True:
                await asyncio.sleep(_PUBLISH_EVERY_S)
                await self.publish()
        finally:
            await self.publish()

    async def publish(self) -> None:
        """Publish the recorded changes; failed ones are retried next time."""
        for folder in sorted(self._noted):
            more_bytes = self._noted.pop(folder)
            try:
                async with self._database.transaction() as tx:
                    await self._publish(tx, folder, more_bytes)
            except Unavailable:
                self._noted[folder] += more_bytes
                log.warning("files.changes_not_told", folders=len(self._noted))
                return

    async def _publish(self, tx: AsyncSession, folder: FolderId, more_bytes: int) -> None:
        used = VFolder.used_bytes + more_bytes
        changed = update(VFolder).values(touched_at=self._clock.now(), used_bytes=used)
        row = (await tx.execute(changed.where(VFolder.id == folder).returning(VFolder))).scalar()
        if row is not None:
            await recipients.folder_changed(tx, "files.changed", row)
            await notify(tx, TOPIC)
