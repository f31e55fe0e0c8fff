"""Audit entries of file operations, with concurrent ones batched into one transaction."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import CarrelError, Conflict
from carrel.db.database import Database
from carrel.folders.files.folder_access import OpenedFolder, left, note, places
from carrel.folders.hosts.storages import HostStorage
from carrel.storage.intents import Intent, end_all

_MOST_AT_ONCE = 200


@dataclass(frozen=True)
class _Waiting:
    """in_place: the operation counts only if the folder is still in the same location."""

    opened: OpenedFolder
    action: str
    paths: Sequence[str]
    in_place: bool
    details: Mapping[str, object]
    intent: Intent | None
    written: asyncio.Future[None]

    def end(self, error: BaseException | None = None) -> None:
        if error is not None and self.intent and not isinstance(error, Conflict):
            self.intent.close()
        if self.written.done():  # its request is gone
            return
        if error is None:
            self.written.set_result(None)
        else:
            self.written.set_exception(error)


class FileNotes:
    """Writes to the audit trail for many requests at once.

    Each request waits until its operation is committed, as with its own transaction; during a commit the next batch
    collects.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[_Waiting] = []
        self._writing: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()

    async def write(
        self,
        opened: OpenedFolder,
        action: str,
        paths: Sequence[str],
        *,
        in_place: bool,
        intent: Intent | None = None,
        **details: object,
    ) -> None:
        """Return when the entry is committed.

        in_place: files were changed; if the folder has moved since, raise Conflict and write nothing.
        intent: of the change; deleted soon after. Raises: Conflict, Unavailable.
        """
        written = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(opened, action, paths, in_place, details, intent, written))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        await written

    async def _write(self) -> None:
        while self._waiting:
            now, self._waiting = self._waiting[:_MOST_AT_ONCE], self._waiting[_MOST_AT_ONCE:]
            try:
                gone = await self._commit(now)
            except BaseException as error:
                for each in now:
                    each.end(error)
                if not isinstance(error, Exception):
                    raise
            else:
                for each in now:
                    each.end(gone.get(id(each)))
                self._end_intents(now)

    def _end_intents(self, written: Sequence[_Waiting]) -> None:
        """Delete finished intents. Nothing waits for this: a leftover intent only costs a later check."""
        by_storage = defaultdict[int, list[_Waiting]](list)
        for each in written:
            if each.intent:
                by_storage[id(each.opened.storage)].append(each)
        for some in by_storage.values():
            storage, intents = some[0].opened.storage, [each.intent for each in some if each.intent]
            task = asyncio.create_task(_ended(storage, intents))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def _commit(self, waiting: Sequence[_Waiting]) -> dict[int, BaseException]:
        """Commit the batch; the identities of entries whose folder has moved, which are not written."""
        changed = {each.opened.folder.id for each in waiting if each.in_place}

        async def write(tx: AsyncSession) -> dict[int, BaseException]:
            gone: dict[int, BaseException] = {}
            now = await places(tx, changed)
            for each in waiting:
                error = left(each.opened.folder, now) if each.in_place else None
                if error is not None:
                    gone[id(each)] = error
                else:
                    note(tx, each.opened, each.action, each.paths, **each.details)
            return gone

        return await self._database.run(write)


async def _ended(storage: HostStorage, intents: Sequence[Intent]) -> None:
    with suppress(CarrelError, OSError):
        await storage.call(end_all, intents)
