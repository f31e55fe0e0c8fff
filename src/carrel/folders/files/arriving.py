"""Active uploads of this process, and ending one whose connection broke, in this or in another copy of the API."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from prometheus_client import Gauge

from carrel.core.errors import Locked
from carrel.db.database import Database, notify
from carrel.db.listener import Listener
from carrel.http.body import LineBroke

STALLED_S = 2.0
_PATIENCE_S = 5.0
_ELSEWHERE_S = 1.5
_EVERY_S = 0.05
T = TypeVar("T")
_UPLOADS = Gauge("carrel_uploads_in_progress", "Requests that are sending the content of a file.")


@dataclass
class Arrival:
    """A request that is sending data. last: when data last arrived, by the monotonic clock."""

    patience: asyncio.Timeout
    last: float = field(default_factory=time.monotonic)
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Arrivals:
    """The uploads that this process is receiving.

    A broken connection is detected late or never. A client that resumes over another connection, even through another
    copy, must not wait for it.
    """

    def __init__(self, database: Database, listener: Listener) -> None:
        self._database = database
        self._listener = listener
        self._known: dict[str, Arrival] = {}

    @asynccontextmanager
    async def arriving(self, upload: str) -> AsyncIterator[Arrival]:
        """Register the upload as active for the duration of the block. Raises: LineBroke if it is cut."""
        arrival = None
        try:
            async with asyncio.timeout(None) as patience:
                arrival = self._known[upload] = Arrival(patience)
                stalled, cut = _topic(upload, unless_busy=True), _topic(upload, unless_busy=False)
                with (
                    _UPLOADS.track_inprogress(),
                    self._listener.subscribed(stalled, partial(_cut, arrival, unless_busy=True)),
                    self._listener.subscribed(cut, partial(_cut, arrival, unless_busy=False)),
                ):
                    yield arrival
        except TimeoutError:
            if not patience.expired():
                raise
            raise LineBroke from None
        finally:
            if arrival:
                arrival.over.set()
                if self._known.get(upload) is arrival:
                    del self._known[upload]

    def is_arriving(self, upload: str) -> bool:
        """True if a request is sending this upload."""
        return upload in self._known

    async def cut(self, upload: str, *, unless_busy: bool) -> None:
        """End the request that is sending this upload; unless_busy: only if it has sent nothing for a while."""
        arrival = self._known.get(upload)
        if arrival is None or not _cut(arrival, unless_busy=unless_busy):
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                await arrival.over.wait()

    async def free(self, upload: str, use: Callable[[], Awaitable[T]], *, unless_busy: bool) -> T:
        """The result of `use`, which locks the upload; a request through another copy that sends it is ended as by
        `cut`. Raises: Locked, if it is busy; the errors of `use`.
        """
        try:
            return await use()
        except Locked:
            if upload in self._known:
                raise
        async with self._database.transaction() as tx:
            await notify(tx, _topic(upload, unless_busy=unless_busy))
        deadline = time.monotonic() + _ELSEWHERE_S
        while time.monotonic() < deadline:
            await asyncio.sleep(_EVERY_S)
            with suppress(Locked):
                return await use()
        return await use()


def _cut(arrival: Arrival, *, unless_busy: bool) -> bool:
    """End the request, which takes a moment. False: it is busy."""
    if unless_busy and time.monotonic() - arrival.last < STALLED_S:
        return False
    if not arrival.patience.expired():
        arrival.patience.reschedule(asyncio.get_running_loop().time())
    return True


def _topic(upload: str, *, unless_busy: bool) -> str:
    return f"upload-{'stalled' if unless_busy else 'ended'}:{upload}"
