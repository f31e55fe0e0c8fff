"""Active uploads of this process, and ending one whose connection broke."""

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
    """A request that is sending data. last: when data last arrived, by the monotonic clock."""

    patience: asyncio.Timeout
    last: float = field(default_factory=time.monotonic)
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Arrivals:
    """The uploads that this process is receiving.

    A broken connection is detected late or never. A client that resumes over another connection must not wait for it.
    """

    def __init__(self) -> None:
        self._known: dict[str, Arrival] = {}

    @asynccontextmanager
    async def arriving(self, upload: str) -> AsyncIterator[Arrival]:
        """Register the upload as active for the duration of the block. Raises: LineBroke if it is cut."""
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
        """True if a request is sending this upload."""
        return upload in self._known

    async def cut(self, upload: str, *, unless_busy: bool) -> None:
        """End the request that is sending this upload; unless_busy: only if it has sent nothing for a while."""
        arrival = self._known.get(upload)
        if arrival is None or (unless_busy and time.monotonic() - arrival.last < STALLED_S):
            return
        if not arrival.patience.expired():
            arrival.patience.reschedule(asyncio.get_running_loop().time())
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                await arrival.over.wait()
