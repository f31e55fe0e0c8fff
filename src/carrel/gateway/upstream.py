"""Connections to the containers' apps, and the pool of idle ones."""

import asyncio
import socket
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, cast

from carrel.core.ids import ContainerId
from carrel.gateway import metrics

CONNECT_TIMEOUT_S = 5.0
IDLE_S = 30.0
_MOST_IDLE = 64


Dial = Callable[[ContainerId, int], Awaitable[socket.socket]]
"""Connects to a port of a container without an address. Raises: OSError."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A port of a container. address None: only through its engine."""

    container: ContainerId
    address: str | None
    port: int


class Unreachable(Exception):
    """The container refuses the connection."""


class Receiver(Protocol):
    """Receiver of a connection's data."""

    def feed(self, data: bytes) -> None: ...

    def feed_eof(self) -> None:
        """The connection closed."""
        ...

    def pause(self) -> None:
        """Back pressure: the other end reads too slowly."""
        ...

    def resume(self) -> None: ...


class Upstream(asyncio.Protocol):
    """One connection to an app. Between exchanges it has no receiver and must be idle."""

    def __init__(self, forget: Callable[["Upstream"], None]) -> None:
        self._forget = forget
        self._receiver: Receiver | None = None
        self._drained = asyncio.Event()
        self._drained.set()
        self.transport: asyncio.Transport
        self.used = False
        self.idle_since = 0.0

    @property
    def alive(self) -> bool:
        return not self.transport.is_closing()

    def hand_to(self, receiver: Receiver | None) -> None:
        self._receiver = receiver

    def write(self, data: bytes) -> None:
        self.transport.write(data)
        metrics.TO_APP.inc(len(data))

    async def drain(self) -> None:
        """Wait until the write buffer is mostly drained."""
        await self._drained.wait()

    def abort(self) -> None:
        """Abort it, discarding unsent data."""
        self.transport.abort()

    # Called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        metrics.APP_CONNECTIONS.inc()

    def data_received(self, data: bytes) -> None:
        if self._receiver is None:
            # Unexpected bytes would become part of another response.
            self.abort()
        else:
            self._receiver.feed(data)

    def connection_lost(self, exc: BaseException | None) -> None:
        metrics.APP_CONNECTIONS.dec()
        self._drained.set()
        self._forget(self)
        receiver, self._receiver = self._receiver, None
        if receiver:
            receiver.feed_eof()

    def pause_writing(self) -> None:
        self._drained.clear()
        if self._receiver:
            self._receiver.pause()

    def resume_writing(self) -> None:
        self._drained.set()
        if self._receiver:
            self._receiver.resume()


class ConnectionPool:
    """Idle connections by destination, newest first."""

    def __init__(self, dial: Dial) -> None:
        self._dial = dial
        self._idle: dict[Destination, list[Upstream]] = defaultdict(list)

    async def acquire(self, destination: Destination, *, fresh: bool) -> Upstream:
        """A connection; `used`: it was pooled and may be stale. Raises: Unreachable."""
        idle = self._idle.get(destination)
        while idle and not fresh:
            upstream = idle.pop()
            if upstream.alive and time.monotonic() - upstream.idle_since < IDLE_S:
                return upstream
            upstream.abort()
        try:
            return await self._connect(destination)
        except (OSError, TimeoutError) as error:
            metrics.UPSTREAM_ERRORS.labels("unreachable").inc()
            raise Unreachable(str(destination)) from error

    async def _connect(self, destination: Destination) -> Upstream:
        loop = asyncio.get_running_loop()

        def made() -> Upstream:
            return Upstream(lambda gone: self._drop(destination, gone))

        if destination.address is None:
            end = await self._dial(destination.container, destination.port)
            _, upstream = await loop.create_connection(made, sock=end)
            return upstream
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            _, upstream = await loop.create_connection(made, destination.address, destination.port)
        return upstream

    def release(self, destination: Destination, upstream: Upstream) -> None:
        """Return a connection to the pool after a complete exchange."""
        upstream.hand_to(None)
        idle = self._idle[destination]
        if not upstream.alive or len(idle) >= _MOST_IDLE:
            upstream.abort()
            return
        upstream.used = True
        upstream.idle_since = time.monotonic()
        idle.append(upstream)

    def sweep(self) -> None:
        """Close connections that have been idle for too long."""
        oldest = time.monotonic() - IDLE_S
        for idle in list(self._idle.values()):
            for upstream in [upstream for upstream in idle if upstream.idle_since < oldest]:
                upstream.abort()

    def close(self) -> None:
        for idle in list(self._idle.values()):
            for upstream in list(idle):
                upstream.abort()
        self._idle.clear()

    def _drop(self, destination: Destination, upstream: Upstream) -> None:
        idle = self._idle.get(destination)
        if idle and upstream in idle:
            idle.remove(upstream)
        if not idle:
            self._idle.pop(destination, None)
