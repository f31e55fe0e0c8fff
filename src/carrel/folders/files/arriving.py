"""Which uploads are arriving, and ending one whose connection broke."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from prometheus_client import Gauge

from carrel.http.body import LineBroke

STALLED_S = 2.0
_PATIENCE_S = 5.0
_UPLOADS = Gauge("carrel_uploads_in_progress", "Requests that are sending the content of a file.")


@dataclass
class Arrival:
    """A request that is sending. last: when bytes came, by the monotonic clock."""

    patience: asyncio.Timeout
    last: float = field(default_factory=time.monotonic)
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Arrivals:
    """Which uploads arrive in this process.

    A line that broke is noticed late, or never. Who goes on with an upload over another line must not wait for that.
    """

    def __init__(self) -> None:
        self._known: dict[str, Arrival] = {}

    @asynccontextmanager
    async def arriving(self, upload: str) -> AsyncIterator[Arrival]:
        """While the block lasts, bytes come, unless somebody cuts it. Raises: LineBroke."""
        arrival = None
        try:
            async with asyncio.timeout(None) as patience:
                arrival = self._known[upload] = Arrival(patience)
                with _UPLOADS.track_inprogress():
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
        """Whether a request is sending this."""
        return upload in self._known

    async def cut(self, upload: str, *, unless_busy: bool) -> None:
        """End the request that is sending this; unless_busy: only when nothing came from it for a while."""
        arrival = self._known.get(upload)
        if arrival is None or (unless_busy and time.monotonic() - arrival.last < STALLED_S):
            return
        if not arrival.patience.expired():
            arrival.patience.reschedule(asyncio.get_running_loop().time())
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                await arrival.over.wait()
